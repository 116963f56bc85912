function emptyOf(wanted) {
  const { runs, steps, reading, choice, head } = page;
  let count = 0;
  for (let r = 0; r < runs.arm.length; r++) {
    if (wanted(r) && !choice.hidden.has(head.arms[runs.arm[r]]) && reading.stop[r] === steps.first[r]) count++;
  }
  return count;
}

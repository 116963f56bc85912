// The mean of each arm on each instance, as a worker takes it: sums of the runs one after the other, as Python adds them.
function cellsToJudge(page, choice) {
  const { head, runs, reading } = page;
  const units = head.units.name.length;
  const counts = new Float64Array(head.arms.length * units);
  const means = new Float64Array(counts.length);
  let missing = 0;
  let beaten = 0;
  for (let r = 0; r < runs.arm.length; r++) {
    const cell = runs.arm[r] * units + runs.unit[r];
    counts[cell]++;
    means[cell] += reading.score[r];
    if (Number.isNaN(reading.score[r])) missing++;
    if (head.instanceSet.arms.includes(head.arms[runs.arm[r]])) beaten += reading.below[r];
  }
  if (missing) return { none: noScores(choice, missing) };
  means.forEach((sum, cell) => (means[cell] = counts[cell] ? sum / counts[cell] : 0));
  return { units, panel: head.units.panel, counts, means, weighting: choice.weighting, unranked: whyUnranked(choice, beaten) };
}

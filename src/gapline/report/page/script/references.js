// The reference of each instance under the choice. The analysis reference is the best of what was known before and of
// these runs: at a shorter horizon it is folded again, from what they had by then, as `gapline score --horizon` does.

function isRefolded(choice) {
  return choice.horizon !== null && Boolean(page.head.snapshots[choice.snapshot].prior);
}

function referencesOf(page, choice) {
  const { head, runs, steps } = page;
  const { prior, references } = head.snapshots[choice.snapshot];
  if (!isRefolded(choice)) return references;
  // By name: an instance that stands in two panels has one reference.
  const best = new Map(head.units.name.map((name, unit) => [name, prior[unit] ?? NaN]));
  for (let r = 0; r < runs.arm.length; r++) {
    const stop = stepsInside(steps, r, Math.min(choice.horizon, runs.horizon[r]));
    if (stop === steps.first[r]) continue;
    const name = head.units.name[runs.unit[r]];
    const value = steps.objective[stop - 1];
    if (!(value >= best.get(name))) best.set(name, value);
  }
  return head.units.name.map((name) => best.get(name));
}

// First the means that Python wrote, then the runs; every choice runs through `render`.

const page = { head: null, printing: false, lit: null };

function prepare(decoded) {
  const { head } = page;
  Object.assign(page, decoded);
  const { runs } = page;
  page.runsOfArm = head.arms.map(() => []);
  page.runsOfUnit = head.units.name.map(() => []);
  for (let r = 0; r < runs.arm.length; r++) {
    page.runsOfArm[runs.arm[r]].push(r);
    page.runsOfUnit[runs.unit[r]].push(r);
  }
  page.runCells = cellSums(page, () => 0);
  page.shortest = runs.horizon.reduce((least, horizon) => Math.min(least, horizon), Infinity);
  const longest = runs.horizon.reduce((most, horizon) => Math.max(most, horizon), 0);
  head.horizonWords = longest === page.shortest ? `horizon ${formatValue(longest)} s` : `horizons ${formatValue(page.shortest)} to ${formatValue(longest)} s`;
}

// Means over seeds, then instances, then panels; ranks and differences: the rules of gapline.statistics.

// Sums and counts of a value in each cell (arm × unit); runs for which `value` is null are left out.
function cellSums(page, value) {
  const { head, runs } = page;
  const units = head.units.name.length;
  const sum = new Float64Array(head.arms.length * units);
  const lost = new Float64Array(sum.length);
  const count = new Float64Array(sum.length);
  for (let r = 0; r < runs.arm.length; r++) {
    const x = value(r);
    if (x === null) continue;
    const cell = runs.arm[r] * units + runs.unit[r];
    const next = sum[cell] + x;
    lost[cell] += lostIn(sum[cell], x, next);
    sum[cell] = next;
    count[cell]++;
  }
  // An infinite sum has no correction.
  for (let c = 0; c < sum.length; c++) if (Number.isFinite(sum[c])) sum[c] += lost[c];
  return { sum, count, units, value, whole: new Map() };
}

// How much one run on each unit counts for an arm, over the units that `chosen` accepts; 0 where there is no run.
function unitWeights(page, cells, arm, weighting, chosen = () => true) {
  const panels = new Float64Array(page.head.panels.length);
  let instances = 0;
  let runs = 0;
  const present = [];
  for (let u = 0; u < cells.units; u++) {
    const count = cells.count[arm * cells.units + u];
    if (!count || !chosen(u)) continue;
    present.push(u);
    panels[page.head.units.panel[u]]++;
    instances++;
    runs += count;
  }
  const filled = panels.filter((number) => number > 0).length;
  const weights = new Float64Array(cells.units);
  for (const u of present) {
    const count = cells.count[arm * cells.units + u];
    if (weighting === "run") weights[u] = 1 / runs;
    else if (weighting === "instance") weights[u] = 1 / (instances * count);
    else weights[u] = 1 / (filled * panels[page.head.units.panel[u]] * count);
  }
  return weights;
}

// The mean of an arm over the units that `chosen` accepts; NaN where there is none, or where a run has no value. Every
// run counts with its own weight, and sums are rounded once: this is the mean that Python prints, to its last bit.
function cellMean(page, cells, arm, weighting, chosen) {
  const key = `${arm} ${weighting}`;
  if (!chosen && cells.whole.has(key)) return cells.whole.get(key);
  const weights = unitWeights(page, cells, arm, weighting, chosen);
  const own = [];
  const products = [];
  for (const r of page.runsOfArm[arm]) {
    const weight = weights[page.runs.unit[r]];
    const x = weight ? cells.value(r) : null;
    if (x === null) continue;
    own.push(weight);
    products.push(x * weight);
  }
  // Of equal weights the sum is a product, which is rounded once too.
  const total = own.every((weight) => weight === own[0]) ? own.length * own[0] : exactSum(own);
  const mean = own.length ? exactSum(products) / total : NaN;
  if (!chosen) cells.whole.set(key, mean);
  return mean;
}

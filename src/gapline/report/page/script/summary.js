// Means over seeds, then instances, then panels; ranks and differences: the rules of gapline.summary.

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
  return { sum, count, units };
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

// The mean of an arm over the units that `chosen` accepts; NaN where there is none, or where a run has no value.
function cellMean(page, cells, arm, weighting, chosen) {
  const weights = unitWeights(page, cells, arm, weighting, chosen);
  const total = compensated();
  let any = false;
  for (let u = 0; u < cells.units; u++) {
    if (!weights[u]) continue;
    const x = cells.sum[arm * cells.units + u];
    if (Number.isNaN(x)) return NaN;
    total.add(weights[u] * x);
    any = true;
  }
  return any ? total.total : NaN;
}

// 1 + how many are better by more than a tie.
function ranksOf(means, tie) {
  return means.map((mean) => (Number.isNaN(mean) ? null : 1 + means.filter((other) => other < mean - tie).length));
}

// Why no rank can be given under this choice, or null.
function unrankable(choice, below) {
  if (choice.kernel.kind !== "berthold" || !below) return null;
  return `berthold is out of its envelope: ${formatCount(below)} runs end below their reference; shown, not ranked`;
}

// Everything the tables show, for every arm, hidden or not; ranks are among the visible ones.
function summariseAll(page, choice, reading) {
  const { head, runs, steps } = page;
  const score = cellSums(page, (r) => reading.score[r]);
  const attained = cellSums(page, (r) => (Number.isFinite(reading.hit[r]) ? 1 : 0));
  const finalGap = cellSums(page, (r) => (reading.stop[r] === steps.first[r] ? null : reading.finalGap[r]));
  const arms = head.arms.map((name, arm) => ({
    arm, name, descriptive: head.tierTwo.includes(name), runs: 0, empty: 0, rejected: 0, late: 0, unchecked: 0, below: 0,
    // No prototype: a status may have any name.
    statuses: Object.create(null),
    score: cellMean(page, score, arm, choice.weighting),
    attained: cellMean(page, attained, arm, choice.weighting),
    finalGap: cellMean(page, finalGap, arm, choice.weighting),
  }));
  for (let r = 0; r < runs.arm.length; r++) {
    const row = arms[runs.arm[r]];
    row.runs++;
    row.empty += reading.stop[r] === steps.first[r] ? 1 : 0;
    row.rejected += runs.rejected[r];
    row.unchecked += runs.unchecked[r];
    row.late += reading.late[r];
    row.below += reading.below[r];
    row.statuses[runs.status[r]] = (row.statuses[runs.status[r]] || 0) + 1;
  }
  const shown = arms.filter((row) => !choice.hidden.has(row.name));
  const below = shown.reduce((sum, row) => sum + row.below, 0);
  const reason = unrankable(choice, below);
  // Descriptive arms (tier 2) have no rank and stand below the compared ones, by name.
  const compared = shown.filter((row) => !row.descriptive);
  const ranks = ranksOf(compared.map((row) => row.score), head.tie);
  shown.forEach((row) => (row.rank = null));
  compared.forEach((row, k) => (row.rank = reason ? null : ranks[k]));
  const best = [...compared].sort((a, b) => orderOf(a.score, b.score) || (a.name < b.name ? -1 : 1));
  const ranked = [...best, ...shown.filter((row) => row.descriptive)];
  const leaders = new Map(ranked.slice(0, head.colours.length).map((row, place) => [row.arm, place]));
  return { arms, visible: shown, compared: best, ranked, leaders, score, attained, finalGap, below, notRanked: reason };
}

// Smaller first, what does not exist last.
function orderOf(a, b) {
  if (Number.isNaN(a) || Number.isNaN(b)) return Number.isNaN(a) - Number.isNaN(b);
  return a < b ? -1 : a > b ? 1 : 0;
}

// Mean of a minus mean of b over the instances that both have, and on how many instances a is better.
function difference(page, choice, cells, a, b) {
  const has = (u) => cells.count[a * cells.units + u] > 0 && cells.count[b * cells.units + u] > 0;
  const value = cellMean(page, cells, a, choice.weighting, has) - cellMean(page, cells, b, choice.weighting, has);
  let wins = 0;
  let losses = 0;
  let instances = 0;
  for (let u = 0; u < cells.units; u++) {
    if (!has(u)) continue;
    instances++;
    const one = cells.sum[a * cells.units + u] / cells.count[a * cells.units + u];
    const other = cells.sum[b * cells.units + u] / cells.count[b * cells.units + u];
    if (one - other < -page.head.tie) wins++;
    else if (one - other > page.head.tie) losses++;
  }
  return { value, wins, losses, ties: instances - wins - losses, instances };
}

// Mean convergence and attainment as step curves: the rules of gapline.scoring.curve and .attainment.

// Up to this many breakpoints a curve is drawn exactly; beyond, its exact value is taken at each place of a grid
// that is finer than the pixels of the figure.
const MOST_BREAKPOINTS = 2000;
const GRID_POINTS = 800;

// Curves are on seconds where all horizons agree, on t/Γ where they do not.
function isRelative(reading) {
  return reading.horizon.some((horizon) => horizon !== reading.horizon[0]);
}

function runWeights(page, choice, arm) {
  const weights = unitWeights(page, page.runCells, arm, choice.weighting);
  return (run) => weights[page.runs.unit[run]];
}

// From time 0 on, then finely where the curve is shown: what comes before that is all at its beginning.
function gridOf({ x0, x1, log }) {
  const grid = new Float64Array(GRID_POINTS + 1);
  const share = (k) => (k - 1) / (GRID_POINTS - 1);
  const first = log || x0 > 0 ? x0 : x1 / GRID_POINTS;
  for (let k = 1; k <= GRID_POINTS; k++) grid[k] = log ? first * (x1 / first) ** share(k) : first + (x1 - first) * share(k);
  grid[GRID_POINTS] = x1;
  return grid;
}

// {time, value} of one arm; null where the curve does not exist (raw before a first incumbent).
function meanCurve(page, choice, reading, arm, clock) {
  const { runs, steps } = page;
  const { relative, log, x1 } = clock;
  const weightOf = runWeights(page, choice, arm);
  const { references } = reading;
  const raw = choice.kernel.kind === "raw";
  let start = 0;
  let size = 0;
  for (const r of page.runsOfArm[arm]) {
    if ((raw || choice.kernel.kind === "custom") && Number.isNaN(reading.score[r])) return null;
    start += raw ? 0 : weightOf(r) * choice.kernel.before;
    size += reading.stop[r] - steps.first[r];
  }
  const exact = size <= MOST_BREAKPOINTS;
  const grid = exact ? null : gridOf(clock);
  const events = [];
  const added = exact ? null : new Float64Array(grid.length);
  const first = exact ? 0 : grid[1];
  const span = exact ? 0 : log ? Math.log(x1 / first) : x1 - first;
  for (const r of page.runsOfArm[arm]) {
    const weight = weightOf(r);
    const reference = references[runs.unit[r]];
    const scale = relative ? reading.horizon[r] : 1;
    let before = raw ? 0 : choice.kernel.before;
    for (let k = steps.first[r]; k < reading.stop[r]; k++) {
      const gap = gapAt(steps, k, choice.kernel, reference, choice.snapshot);
      const t = steps.time[k] / scale;
      if (exact) events.push([t, weight * (gap - before)]);
      else {
        // The first place of the grid at or after the step; rounding is put right by one comparison each way.
        if (t > x1) break;
        let place = t <= 0 ? 0 : Math.ceil(1 + ((log ? Math.log(t / first) : t - first) / span) * (GRID_POINTS - 1));
        place = Math.min(Math.max(place, t > 0 ? 1 : 0), GRID_POINTS);
        if (place < GRID_POINTS && grid[place] < t) place++;
        else if (place > 1 && grid[place - 1] >= t) place--;
        added[place] += weight * (gap - before);
      }
      before = gap;
    }
  }
  if (exact) return cumulate(events, start);
  const value = new Float64Array(grid.length);
  for (let k = 0, total = start; k < grid.length; k++) value[k] = total += added[k];
  return { time: grid, value, exact: false };
}

// Sort by time, then size; equal times become one breakpoint, and the curve begins at 0.
function cumulate(events, start) {
  events.sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const time = [0];
  const value = [start];
  const total = compensated();
  total.add(start);
  for (const [t, change] of events) {
    total.add(change);
    if (t > time[time.length - 1]) {
      time.push(t);
      value.push(0);
    }
    value[value.length - 1] = total.total;
  }
  return { time, value, exact: true };
}

function attainmentCurve(page, choice, reading, arm, { relative }) {
  const weightOf = runWeights(page, choice, arm);
  const events = [];
  for (const r of page.runsOfArm[arm]) {
    if (Number.isFinite(reading.hit[r])) events.push([reading.hit[r] / (relative ? reading.horizon[r] : 1), weightOf(r)]);
  }
  const curve = cumulate(events, 0);
  curve.value = curve.value.map((share) => Math.min(share, 1));
  return curve;
}

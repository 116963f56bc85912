// The score of every run under one choice: the twin of gapline.scoring, step by step.

const KERNEL = { SQUEEZED: 0, MAXFORM: 1, BERTHOLD: 2, DIMACS: 3, RAW: 4 };
const TOLERANCE = 1e-9;

function gapOf(kernel, z, reference) {
  switch (kernel.code) {
    case KERNEL.SQUEEZED:
      return Number.isFinite(z + reference)
        ? (z - reference) / (z + reference)
        : (0.5 * z - 0.5 * reference) / (0.5 * z + 0.5 * reference);
    case KERNEL.MAXFORM:
      return (z - reference) / Math.max(z, reference);
    case KERNEL.BERTHOLD:
      return Math.abs(z - reference) / Math.max(z, reference);
    case KERNEL.DIMACS:
      return z < kernel.parameter * reference ? (z - reference) / reference : kernel.parameter - 1;
    default:
      return (z - reference) / reference;
  }
}

// The integral of the time weight over [start, end].
function widthOf(weight, start, end, horizon) {
  if (weight.code === 0) return end - start;
  if (weight.code === 1) {
    const a = Math.max(start, weight.cutoff);
    return Math.log1p((Math.max(end, weight.cutoff) - a) / a);
  }
  if (weight.code === 2) {
    const b = Math.min(end, horizon - weight.cutoff);
    const a = Math.min(start, horizon - weight.cutoff);
    return Math.log1p((b - a) / Math.max(horizon - b, weight.cutoff));
  }
  let total = 0;
  for (let k = 0; k < weight.edges.length; k++) {
    const upper = k + 1 < weight.edges.length ? weight.edges[k + 1] : Infinity;
    const a = Math.max(start, weight.edges[k]);
    const b = Math.min(end, upper);
    if (b > a) total += weight.values[k] * (b - a);
  }
  return total;
}

// Neumaier's compensated sum.
function compensated() {
  let sum = 0;
  let lost = 0;
  return {
    add(x) {
      const next = sum + x;
      lost += Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum;
      sum = next;
    },
    get total() {
      return sum + lost;
    },
  };
}

// How many steps of a run lie inside the horizon; their times rise.
function stepsInside(steps, run, horizon) {
  let low = steps.first[run];
  let high = steps.first[run + 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps.time[middle] <= horizon) low = middle + 1;
    else high = middle;
  }
  return low;
}

// One run; null where the score does not exist (raw before a first incumbent, a weight that leaves no time).
function scoreRun(steps, run, stop, { kernel, weight, reference, horizon }) {
  const { time, objective } = steps;
  const first = steps.first[run];
  const whole = widthOf(weight, 0, horizon, horizon);
  if (!(whole > 0) || (weight.code !== 0 && weight.code !== 3 && horizon <= weight.cutoff)) return NaN;
  if (kernel.code === KERNEL.RAW && !(stop > first && time[first] === 0)) return NaN;
  let sum = kernel.code === KERNEL.RAW ? 0 : kernel.before * widthOf(weight, 0, stop > first ? time[first] : horizon, horizon);
  let lost = 0;
  for (let k = first; k < stop; k++) {
    const width = widthOf(weight, time[k], k + 1 < stop ? time[k + 1] : horizon, horizon);
    if (width === 0) continue;
    const x = gapOf(kernel, objective[k], reference) * width;
    const next = sum + x;
    if (!Number.isFinite(next)) return Infinity;
    lost += Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum;
    sum = next;
  }
  const mean = (sum + lost) / whole;
  return kernel.code <= KERNEL.BERTHOLD ? Math.min(Math.max(mean, -1), 1) : mean;
}

// The first time at which (z - z*) <= goal · z*; infinite where the goal was never attained.
function hittingTime(steps, run, stop, reference, goal) {
  let low = steps.first[run];
  let high = stop;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps.objective[middle] - reference <= goal * reference) high = middle;
    else low = middle + 1;
  }
  return low < stop ? steps.time[low] : Infinity;
}

// How many candidates came after the horizon; `atLeast` where the page does not hold them all.
function lateCount(page, run, horizon) {
  const { runs, steps, others } = page;
  if (horizon >= runs.horizon[run]) return { count: runs.late[run], atLeast: false };
  let count = runs.late[run] + steps.first[run + 1] - stepsInside(steps, run, horizon);
  for (let k = others.first[run]; k < others.first[run + 1]; k++) {
    if (!(others.flags[k] & OTHER.LATE) && others.time[k] > horizon) count++;
  }
  return { count, atLeast: runs.omitted[run] > 0 };
}

// Every run under one choice: columns score, finalGap, hit, stop, late, horizon, below (the reference).
function scoreAll(page, choice) {
  const { head, runs, steps } = page;
  const size = runs.arm.length;
  const references = head.snapshots[choice.snapshot].references;
  const reading = {
    score: new Float64Array(size), finalGap: new Float64Array(size), hit: new Float64Array(size), stop: new Uint32Array(size),
    late: new Float64Array(size), horizon: new Float64Array(size), lateAtLeast: false, below: new Uint8Array(size),
  };
  for (let r = 0; r < size; r++) {
    const horizon = choice.horizon === null ? runs.horizon[r] : Math.min(choice.horizon, runs.horizon[r]);
    const reference = references[runs.unit[r]];
    const stop = stepsInside(steps, r, horizon);
    const empty = stop === steps.first[r];
    reading.horizon[r] = horizon;
    reading.stop[r] = stop;
    reading.score[r] = scoreRun(steps, r, stop, { kernel: choice.kernel, weight: head.weight, reference, horizon });
    reading.finalGap[r] = empty ? NaN : (steps.objective[stop - 1] - reference) / reference;
    reading.hit[r] = hittingTime(steps, r, stop, reference, choice.goal);
    const late = lateCount(page, r, horizon);
    reading.late[r] = late.count;
    if (late.atLeast) reading.lateAtLeast = true;
    if (!empty && steps.objective[stop - 1] < reference * (1 - TOLERANCE)) reading.below[r] = 1;
  }
  return reading;
}

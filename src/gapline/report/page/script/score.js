function gapOf(kernel, z, reference) {
  switch (kernel.kind) {
    case "squeezed":
      return Number.isFinite(z + reference)
        ? (z - reference) / (z + reference)
        : (0.5 * z - 0.5 * reference) / (0.5 * z + 0.5 * reference);
    case "maxform":
      return (z - reference) / Math.max(z, reference);
    case "berthold":
      // The one that is defined for any sign: 1 at a change of sign, 0 at two zeros.
      return z === reference ? 0 : Math.min(Math.abs(z - reference) / Math.max(Math.abs(z), Math.abs(reference)), 1);
    case "dimacs":
      return isBeaten(z, kernel.parameter * reference, kernel.tolerance) ? (z - reference) / reference : kernel.before;
    case "raw":
      return (z - reference) / reference;
    default:
      throw new Error(`kernel ${kernel.name}: expected a kind that this page can compute, got ${kernel.kind}`);
  }
}

// The gap at a step; of a kernel that exists in Python alone it is among the data.
function gapAt(steps, k, kernel, reference, snapshot) {
  return kernel.kind === "custom" ? steps[kernel.gaps[snapshot].column][k] : gapOf(kernel, steps.objective[k], reference);
}

// The relative distance to the reference; against 0 nothing but 0 has one.
function finalGapOf(best, reference) {
  if (best === reference) return 0;
  return reference === 0 ? NaN : (best - reference) / Math.abs(reference);
}

// ln((low + width) / low), from the relative width: close stamps keep all their digits.
function logGrowth(low, width) {
  const growth = width / low;
  return Number.isFinite(growth) ? Math.log1p(growth) : Math.log(width) - Math.log(low);
}

// The integral of a weight that is a function, from 0 to a moment: Clenshaw's recurrence on the panel it lies in.
function integralUpto({ edges, values }, time) {
  const count = edges.length - 1;
  const size = values.length / count;
  let low = 0;
  let high = count - 1;
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (edges[middle] <= time) low = middle;
    else high = middle - 1;
  }
  const x = Math.min(Math.max((2 * (time - edges[low])) / (edges[low + 1] - edges[low]) - 1, -1), 1);
  let first = 0;
  let second = 0;
  for (let j = size - 1; j > 0; j--) [first, second] = [values[low * size + j] + 2 * x * first - second, first];
  return values[low * size] + x * first - second;
}

// The integral of the time weight over [start, end].
function widthOf(weight, start, end, horizon) {
  switch (weight.kind) {
    case "function":
      return integralUpto(weight, end) - integralUpto(weight, start);
    case "uniform":
      return end - start;
    case "early_log": {
      const a = Math.max(start, weight.cutoff);
      return logGrowth(a, Math.max(end, weight.cutoff) - a);
    }
    case "end_log": {
      // In remaining time, where the cutoff is exact: horizon - cutoff is not.
      const rest = Math.max(horizon - end, weight.cutoff);
      const more = Math.max(horizon - start, weight.cutoff);
      return logGrowth(rest, rest === weight.cutoff ? more - rest : end - start);
    }
    case "steps": {
      let total = 0;
      for (let k = 0; k < weight.edges.length; k++) {
        const upper = k + 1 < weight.edges.length ? weight.edges[k + 1] : Infinity;
        const a = Math.max(start, weight.edges[k]);
        const b = Math.min(end, upper);
        if (b > a) total += weight.values[k] * (b - a);
      }
      return total;
    }
    default:
      throw new Error(`weight ${weight.name}: expected a kind that this page can compute, got ${weight.kind}`);
  }
}

// What rounding took from sum + x = next (Neumaier).
function lostIn(sum, x, next) {
  return Math.abs(sum) >= Math.abs(x) ? sum - next + x : x - next + sum;
}

function compensated(sum = 0) {
  let lost = 0;
  return {
    add(x) {
      const next = sum + x;
      lost += lostIn(sum, x, next);
      sum = next;
    },
    // An infinite sum has no correction.
    get total() {
      return Number.isFinite(sum) ? sum + lost : sum;
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
function scoreRun(steps, run, stop, { kernel, weight, reference, snapshot, horizon }) {
  const { time, objective } = steps;
  const first = steps.first[run];
  const whole = widthOf(weight, 0, horizon, horizon);
  if (!(whole > 0) || (weight.cutoff > 0 && horizon <= weight.cutoff)) return NaN;
  const raw = kernel.kind === "raw";
  if (raw && !(stop > first && time[first] === 0)) return NaN;
  const early = widthOf(weight, 0, stop > first ? time[first] : horizon, horizon);
  // Exactly the value before the first incumbent, where nothing else has any weight, or nothing was ever accepted.
  if (!raw && early === whole) return kernel.before;
  if (kernel.kind === "dimacs" && gapOf(kernel, objective[stop - 1], reference) === kernel.before) return kernel.before;
  const sum = compensated(raw ? 0 : kernel.before * early);
  for (let k = first; k < stop; k++) {
    const width = widthOf(weight, time[k], k + 1 < stop ? time[k + 1] : horizon, horizon);
    if (width > 0) sum.add(gapAt(steps, k, kernel, reference, snapshot) * width);
  }
  const mean = sum.total / whole;
  // A function of the user's own has no bounds that we know of.
  return raw || kernel.kind === "custom" ? mean : Math.min(Math.max(mean, -1), kernel.before);
}

// The first time at which (z - z*) <= (goal + tolerance) · z*; infinite where the goal was never attained.
function hittingTime(steps, run, stop, reference, goal, tolerance) {
  let low = steps.first[run];
  let high = stop;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (steps.objective[middle] - reference <= (goal + tolerance) * Math.abs(reference)) high = middle;
    else low = middle + 1;
  }
  return low < stop ? steps.time[low] : Infinity;
}

// How many candidates came after the horizon; `atLeast` where the page does not hold them all.
function lateCount(page, run, horizon) {
  const { runs, steps, others } = page;
  // Of the late ones, those that were rejected or never looked at.
  const found = { count: runs.late[run], rejected: runs.late_rejected[run], unchecked: runs.late_unchecked[run], atLeast: false };
  if (horizon >= runs.horizon[run]) return found;
  found.count += steps.first[run + 1] - stepsInside(steps, run, horizon);
  for (let k = others.first[run]; k < others.first[run + 1]; k++) {
    if (others.flags[k] & OTHER.LATE || !(others.time[k] > horizon)) continue;
    found.count++;
    if (others.flags[k] & OTHER.REJECTED) found.rejected++;
    if (others.flags[k] & OTHER.UNCHECKED) found.unchecked++;
  }
  found.atLeast = runs.omitted[run] > 0;
  return found;
}

// Every run under one choice: the references of its units, and columns score, finalGap, hit, stop, late, horizon, below (the reference).
function scoreAll(page, choice) {
  const { head, runs, steps } = page;
  const size = runs.arm.length;
  const references = referencesOf(page, choice);
  // What a function of the user's own says of a step was computed against the reference of the whole horizon.
  const unknown = choice.kernel.kind === "custom" && isRefolded(choice);
  const reading = {
    references,
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
    reading.score[r] = unknown ? NaN : scoreRun(steps, r, stop, { kernel: choice.kernel, weight: head.weight, reference, snapshot: choice.snapshot, horizon });
    reading.finalGap[r] = empty ? NaN : finalGapOf(steps.objective[stop - 1], reference);
    reading.hit[r] = hittingTime(steps, r, stop, reference, choice.goal, head.tolerance);
    const late = lateCount(page, r, horizon);
    reading.late[r] = late.count;
    if (late.atLeast) reading.lateAtLeast = true;
    // The print of a value may flatter it: what lies within its last digit is no discovery.
    const worst = steps.objective[stop - 1] + (runs.slack ? runs.slack[r] : 0);
    if (!empty && isBeaten(worst, reference, head.tolerance)) reading.below[r] = 1;
  }
  return reading;
}

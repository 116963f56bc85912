// Intervals and p-values from draws: the rules of gapline.statistics.intervals.

const ROUNDING = 1e-12;

function ascending(values) {
  return Float64Array.from(values).sort();
}

// NumPy's quantile, linearly interpolated.
function quantile(sorted, share) {
  const place = share * (sorted.length - 1);
  const below = Math.floor(place);
  const part = place - below;
  const low = sorted[below];
  const high = sorted[Math.min(below + 1, sorted.length - 1)];
  return part >= 0.5 ? high - (high - low) * (1 - part) : low + (high - low) * part;
}

function percentileJudged(draws, value, level) {
  const sorted = ascending(draws);
  const extreme = draws.filter((x) => Math.abs(x - value) >= Math.abs(value) - ROUNDING).length;
  return [quantile(sorted, (1 - level) / 2), quantile(sorted, (1 + level) / 2), (extreme + 1) / (draws.length + 1)];
}

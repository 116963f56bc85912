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

function shareBelow(draws, point, value) {
  const slack = ROUNDING * Math.max(1, Math.abs(value));
  const below = draws.filter((x) => x < point - slack).length / draws.length;
  return (below + draws.filter((x) => x <= point + slack).length / draws.length) / 2;
}

function normalPlace(draws, point, value) {
  const end = 1 / (draws.length + 1);
  return normalQuantile(Math.min(Math.max(shareBelow(draws, point, value), end), 1 - end));
}

function bcaJudged(draws, value, pull, level) {
  const spread = pull.reduce((sum, x) => sum + x * x, 0);
  const pace = spread > 0 ? pull.reduce((sum, x) => sum + x * x * x, 0) / (6 * spread * Math.sqrt(spread)) : 0;
  const sorted = ascending(draws);
  const share = shareBelow(draws, value, value);
  let ends = [(1 - level) / 2, (1 + level) / 2];
  if (share > 0 && share < 1) {
    const bias = normalQuantile(share);
    ends = ends.map((tail) => {
      const shifted = bias + normalQuantile(tail);
      return normalCdf(bias + shifted / (1 - pace * shifted));
    });
  }
  const bias = normalPlace(draws, value, value);
  const place = normalPlace(draws, 0, value) - bias;
  const p = 2 * normalCdf(-Math.abs(place / (1 + pace * place) - bias));
  return [...ends.map((end) => quantile(sorted, end)), Math.max(2 / (draws.length + 1), Math.min(1, p))];
}

function calibratedJudged(draws, value, pull, { error, df }, level) {
  const sorted = ascending(draws);
  const widening = error / Math.sqrt(pull.reduce((sum, x) => sum + x * x, 0));
  const tail = normalCdf(-widening * tQuantile((1 + level) / 2, df));
  const ends = [quantile(sorted, tail), quantile(sorted, 1 - tail)];
  if (sorted[0] > 0 || sorted[sorted.length - 1] < 0) return [...ends, 2 / (draws.length + 1)];
  return [...ends, Math.min(1, 2 * tTail(Math.abs(normalPlace(draws, 0, value)) / widening, df))];
}

function studentizedJudged(deviations, errors, value, error, level) {
  const ratios = deviations.map((deviation, k) => {
    const ratio = deviation / errors[k];
    // A draw without spread says nothing where it does not deviate, and everything where it does.
    return Number.isNaN(ratio) ? 0 : ratio;
  });
  const sorted = ascending(ratios);
  const at = (share) => sorted[Math.max(0, Math.ceil(sorted.length * share - 1))];
  const seen = value / error;
  const below = ratios.filter((x) => x <= seen).length + 1;
  const above = ratios.filter((x) => x >= seen).length + 1;
  const p = Math.min(1, (2 * Math.min(below, above)) / (ratios.length + 1));
  return [value - error * at((1 + level) / 2), value - error * at((1 - level) / 2), p];
}

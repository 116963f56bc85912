// Student's t over instances within panels, guarded against skewness: the rules of gapline.statistics.student.

const SYMMETRIC = 1e-6;

// The sum of each stratum of values, one unit after the other, in the order of membersOf.
function panelSums(values, members) {
  return members.map((places) => places.reduce((sum, place) => sum + values[place], 0));
}

// Values less the mean of their stratum.
function panelCentred(values, members) {
  const out = new Float64Array(values.length);
  const sums = panelSums(values, members);
  members.forEach((places, k) => places.forEach((place) => (out[place] = values[place] - sums[k] / places.length)));
  return out;
}

// Standard error, degrees of freedom and skewness of a pooled mean, from the pull of each instance.
function momentsOf(pull, members) {
  const square = panelSums(pull.map((x) => x * x), members);
  const cube = panelSums(pull.map((x) => x * x * x), members);
  let variance = 0;
  let doubt = 0;
  let third = 0;
  members.forEach(({ length: n }, k) => {
    const part = (n / (n - 1)) * square[k];
    variance += part;
    doubt += (part * part) / (n - 1);
    third += (n > 2 ? (n * n) / ((n - 1) * (n - 2)) : 0) * cube[k];
  });
  const flat = variance <= 0;
  const df = flat ? 1 : (variance * variance) / doubt;
  const skewness = flat ? 0 : third / (variance * Math.sqrt(variance));
  const good = Number.isFinite(df) && Number.isFinite(skewness);
  return { error: Math.sqrt(variance), df: good ? df : 1, skewness: good ? skewness : 0 };
}

function studentP(value, { error, df, skewness }, guarded) {
  const t = error > 0 ? value / error : value === 0 ? 0 : Math.sign(value) * Infinity;
  let p = 2 * tTail(Math.abs(t), df);
  if (guarded) p = Math.max(p, 2 * tTail(Math.abs(withoutSkewness(t, skewness)), df));
  return Math.min(p, 1);
}

function studentInterval(value, { error, df, skewness }, level, guarded) {
  const q = tQuantile((1 + level) / 2, df);
  let low = value - q * error;
  let high = value + q * error;
  if (guarded) {
    low = Math.min(low, value - error * withSkewness(q, skewness));
    high = Math.max(high, value - error * withSkewness(-q, skewness));
  }
  return [low, high];
}

// Hall's transformation of t, and what it is of y.
function withoutSkewness(t, k) {
  return Math.abs(t) === Infinity ? t : t + (k * t * t) / 3 + (k * k * t * t * t) / 27 + k / 6;
}

function withSkewness(y, k) {
  if (Math.abs(k) < SYMMETRIC) return y - k / 6 - (k * y * y) / 3;
  return (3 * (Math.cbrt(1 + k * (y - k / 6)) - 1)) / k;
}

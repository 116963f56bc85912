// Tails and quantiles of Student's t and of the normal distribution: the rules of gapline.statistics.tails. What a browser
// calls log, exp and cbrt may differ from Python's in the last bit, and so may these.

const EPSILON = 1e-16;
const TINY = 1e-300;

// log Γ(a) - ((a - 1/2) log a - a + log √2π), for a of 10 and more.
function stirling(a) {
  const square = 1 / (a * a);
  const series = 1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * (691 / 360360 - square / 156)));
  return (1 / 12 - square * (1 / 360 - square * series)) / a;
}

// log Γ(a): moved up to where the series holds.
function logGamma(a) {
  let product = 1;
  let x = a;
  for (; x < 10; x++) product *= x;
  return (x - 0.5) * Math.log(x) - x + Math.log(2 * Math.PI) / 2 + stirling(x) - Math.log(product);
}

function logBeta(a, b) {
  const small = Math.min(a, b);
  const large = Math.max(a, b);
  if (large < 10) return logGamma(small) + logGamma(large) - logGamma(small + large);
  if (small < 10) {
    const correction = stirling(large) - stirling(small + large);
    const shrunk = (large - 0.5) * Math.log1p(small / large) + small * (Math.log(small + large) - 1);
    return logGamma(small) - shrunk + correction;
  }
  const ratio = small / large;
  const main = (small - 0.5) * Math.log(ratio / (1 + ratio)) - large * Math.log1p(ratio);
  return Math.log(2 * Math.PI) / 2 - Math.log(large) / 2 + main + stirling(small) + stirling(large) - stirling(small + large);
}

// The regularised incomplete beta function I_x(a, b), with y = 1 - x given to its own last digit.
function betaShare(a, b, x, y) {
  const flip = x > (a + 1) / (a + b + 2);
  const [p, q, u, v] = flip ? [b, a, y, x] : [a, b, x, y];
  let share = 0;
  if (u > 0) {
    const logU = u < 0.5 ? Math.log(u) : Math.log1p(-v);
    const logV = v < 0.5 ? (v > 0 ? Math.log(v) : -Infinity) : Math.log1p(-u);
    let d = 1;
    let c = 1 / TINY;
    let value = 1;
    for (let n = 1; n < 20000; n++) {
      const m = Math.floor(n / 2);
      const above = ((n % 2 ? -(p + m) * (p + q + m) : m * (q - m)) * u) / ((p + n - 1) * (p + n));
      d = 1 + above * d;
      d = 1 / (Math.abs(d) >= TINY ? d : TINY);
      c = 1 + above / c;
      c = Math.abs(c) >= TINY ? c : TINY;
      value *= c * d;
      if (Math.abs(c * d - 1) <= 1e-15) break;
    }
    share = (Math.exp(p * logU + q * logV - logBeta(p, q)) / p) * value;
  }
  return flip ? 1 - share : share;
}

// P(T > x).
function tTail(x, df) {
  const square = x * x;
  const near = square === Infinity ? 1 : square / (df + square);
  const tail = betaShare(df / 2, 0.5, df / (df + square), near) / 2;
  return x < 0 ? 1 - tail : tail;
}

// The t with P(T ≤ t) = p, by Newton's rule for log P(T > t) over log t.
function tQuantile(p, df) {
  const tail = Math.min(p, 1 - p);
  if (tail >= 0.5) return 0;
  const wanted = Math.log(tail);
  const front = -Math.log(df) / 2 - logBeta(df / 2, 0.5);
  let place = Math.log(normalQuantile(1 - tail));
  for (let k = 0; k < 60; k++) {
    const x = Math.exp(place);
    const there = tTail(x, df);
    const density = Math.exp(front - ((df + 1) / 2) * Math.log1p((x * x) / df));
    const step = (Math.log(there) - wanted) / ((-x * density) / there);
    place -= step;
    if (Math.abs(step) < 4e-16 * Math.max(1, Math.abs(place))) break;
  }
  return p < 0.5 ? -Math.exp(place) : Math.exp(place);
}

// P(Z > x): a series near 0, a continued fraction beyond.
function normalTail(x) {
  if (x < 0) return 1 - normalTail(-x);
  const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
  if (x < 2.5) {
    let term = x;
    let sum = x;
    for (let k = 3; Math.abs(term) > EPSILON * sum; k += 2) sum += term = (term * x * x) / k;
    return 0.5 - density * sum;
  }
  let fraction = 0;
  for (let k = 200; k > 0; k--) fraction = k / (x + fraction);
  return density / (x + fraction);
}

// The x below which a standard normal lies with probability p, which is at least one half.
function normalQuantile(p) {
  const tail = 1 - p;
  // A start that is never far off, then Newton's rule on the logarithm of the tail.
  const rough = Math.sqrt(-2 * Math.log(tail));
  let x = tail > 0.1 ? (0.5 - tail) * Math.sqrt(2 * Math.PI) : rough - Math.log(rough * Math.sqrt(2 * Math.PI)) / rough;
  for (let k = 0; k < 60; k++) {
    const there = normalTail(x);
    const density = Math.exp((-x * x) / 2) / Math.sqrt(2 * Math.PI);
    const step = (Math.log(there / tail) * there) / density;
    x += step;
    if (Math.abs(step) < 4e-16 * Math.max(1, Math.abs(x))) break;
  }
  return x;
}

// The exact sum of many numbers, rounded once, whatever their order: what Python's math.fsum returns.
function exactSum(values) {
  const parts = [];
  for (const value of values) {
    let x = value;
    let kept = 0;
    for (let k = 0; k < parts.length; k++) {
      let y = parts[k];
      if (Math.abs(x) < Math.abs(y)) [x, y] = [y, x];
      const high = x + y;
      const low = y - (high - x);
      if (low) parts[kept++] = low;
      x = high;
    }
    // Infinities and what does not exist have no parts.
    if (!Number.isFinite(x)) return values.reduce((sum, one) => sum + one, 0);
    parts.length = kept;
    parts.push(x);
  }
  let n = parts.length - 1;
  let high = parts[n] ?? 0;
  let low = 0;
  while (n > 0 && !low) {
    const x = high;
    const y = parts[--n];
    high = x + y;
    low = y - (high - x);
  }
  // Halfway between two doubles, the parts below decide.
  if (n > 0 && low * parts[n - 1] > 0) {
    const x = high + low * 2;
    if (low * 2 === x - high) high = x;
  }
  return high;
}

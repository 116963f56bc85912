// The value of a right-continuous step curve at a time.
function valueAt(curve, t) {
  let low = 0;
  let high = curve.time.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (curve.time[middle] <= t) low = middle + 1;
    else high = middle;
  }
  return low ? curve.value[low - 1] : NaN;
}

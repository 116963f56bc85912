// Holm's adjustment of p-values: the k-th smallest of m times m - k + 1, kept in order, at most 1.
function holm(values) {
  const order = [...values.keys()].sort((a, b) => values[a] - values[b]);
  const adjusted = Array(values.length);
  order.reduce((most, place, k) => {
    const stepped = Math.max(most, values[place] * (values.length - k));
    adjusted[place] = Math.min(stepped, 1);
    return stepped;
  }, 0);
  return adjusted;
}

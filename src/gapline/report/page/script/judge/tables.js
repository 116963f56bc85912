// Intervals of the arms and contrasts of pairs: the tables of gapline.summary.bootstrap and .contrasts.

function judgeAll(given) {
  const cells = { ...given, known: new Map() };
  const intervals = given.names.map((arm, k) => {
    const estimate = estimateOf(cells, [[1, k]]);
    const { low, high, reason } = judge(estimate, cells);
    return { arm, instances: estimate.instances, mean: estimate.value, low, high, reason };
  });
  const contrasts = given.pairs.map(({ a, b, declared }) => {
    const estimate = estimateOf(cells, [[1, given.names.indexOf(a)], [-1, given.names.indexOf(b)]]);
    const { low, high, p, smallest, reason } = judge(estimate, cells);
    return { a, b, declared, instances: estimate.instances, difference: estimate.value, low, high, p, p_smallest: smallest, p_holm: null, reason };
  });
  const family = contrasts.filter((row) => row.declared && row.p !== null);
  holm(family.map(({ p }) => p)).forEach((p, k) => (family[k].p_holm = p));
  return { intervals, contrasts };
}

// The k-th smallest of m times m - k + 1, kept in order, at most 1.
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

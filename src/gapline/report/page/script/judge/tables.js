// Intervals of the arms and contrasts of pairs: the tables of gapline.statistics.bootstrap and .contrasts.

function judgeAll(given) {
  const cells = { ...given, known: new Map() };
  const intervals = given.names.map((arm, k) => {
    const estimate = estimateOf(cells, [[1, k]]);
    const { low, high, reason } = judge(estimate, cells);
    // A mean lies within the range of its kernel, and so does its interval; an end without a bound is null.
    const [least, most] = given.range;
    const inside = (end) => (end === null ? null : Math.max(least ?? end, Math.min(most ?? end, end)));
    return { arm, instances: estimate.instances, mean: estimate.value, low: inside(low), high: inside(high), reason };
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

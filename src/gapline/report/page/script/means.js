function meansCells(means) {
  const compared = means.map((mean, k) => !Number.isNaN(mean) && page.summary.visible[k].compared);
  const best = page.summary.notRanked ? NaN : Math.min(...means.filter((_, k) => compared[k]));
  return means.map((mean, k) => [formatScore(mean), compared[k] && mean - best < page.head.tie ? "best" : null, mean]);
}

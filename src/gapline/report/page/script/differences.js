// Mean of a minus mean of b over the instances that both have, and on how many instances a is better.
function difference(page, choice, cells, a, b) {
  const has = (u) => cells.count[a * cells.units + u] > 0 && cells.count[b * cells.units + u] > 0;
  // An arm all of whose instances the other one has, too, keeps its mean.
  const meanOf = (arm) => cellMean(page, cells, arm, choice.weighting, cells.count.subarray(arm * cells.units, (arm + 1) * cells.units).every((count, u) => !count || has(u)) ? undefined : has);
  const value = meanOf(a) - meanOf(b);
  let wins = 0;
  let losses = 0;
  let instances = 0;
  for (let u = 0; u < cells.units; u++) {
    if (!has(u)) continue;
    instances++;
    const one = cells.sum[a * cells.units + u] / cells.count[a * cells.units + u];
    const other = cells.sum[b * cells.units + u] / cells.count[b * cells.units + u];
    if (one - other < -page.head.tie) wins++;
    else if (one - other > page.head.tie) losses++;
  }
  return { value, wins, losses, ties: instances - wins - losses, instances };
}

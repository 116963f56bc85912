// A pooled mean or difference and what can be said of it: the rules of gapline.statistics.bootstrap and .estimate.

// How much each unit counts in the mean of an arm that has so many runs on it; 0 where it has none.
function weightsOf(panel, counts, weighting) {
  const instances = new Map();
  counts.forEach((count, unit) => count && instances.set(panel[unit], (instances.get(panel[unit]) ?? 0) + 1));
  const raw = counts.map((count, unit) => (!count ? 0 : weighting === "run" ? count : weighting === "instance" ? 1 : 1 / instances.get(panel[unit])));
  const total = exactSum(raw);
  return raw.map((weight) => (total > 0 ? weight / total : 0));
}

// The arms of `parts` ([factor, arm] each) over the units that all of them have.
function estimateOf(cells, parts) {
  const { units, panel, counts, means, weighting } = cells;
  const chosen = Array.from({ length: units }, (_, u) => parts.every(([, arm]) => counts[arm * units + u] > 0));
  const places = [...chosen.keys()].filter((u) => chosen[u]);
  const members = membersOf(places.map((u) => panel[u]));
  const found = { value: NaN, parts: parts.map(() => NaN), instances: places.length, chosen, members, reason: "no instance that all of these arms ran" };
  if (!places.length) return found;
  const rows = parts.map(([factor, arm]) => {
    const own = Array.from(chosen, (here, u) => (here ? counts[arm * units + u] : 0));
    const weights = weightsOf(panel, own, weighting).filter((_, u) => chosen[u]);
    const values = places.map((u) => means[arm * units + u]);
    const pooled = exactSum(values.map((value, k) => weights[k] * value));
    // A mean of runs is a ratio: an instance pulls numerator and denominator, so it is centred on the mean first.
    const centred = weighting === "run" ? values.map((value) => value - pooled) : Array.from(panelCentred(values, members));
    const pull = panelCentred(centred.map((value, k) => weights[k] * value), members);
    return { factor, arm, weights, pooled, pull, shares: values.map((value, k) => weights[k] * value) };
  });
  const total = (of) => rows.reduce((sum, row) => sum + row.factor * of(row), 0);
  return {
    ...found,
    value: total((row) => row.pooled),
    parts: rows.map((row) => row.pooled),
    shares: places.map((_, k) => total((row) => row.shares[k])),
    weights: places.map((_, k) => rows.reduce((sum, row) => sum + row.weights[k], 0) / rows.length),
    pull: places.map((_, k) => total((row) => row.pull[k])),
    drawn: () => {
      const draws = drawsOn(cells, chosen);
      return Array.from({ length: cells.draws }, (_, draw) => total((row) => draws[draw * cells.arms + row.arm]));
    },
    reason: (parts.length > 1 && cells.unranked) || whyNoSpread(cells.panels, members, places, panel),
  };
}

function whyNoSpread(names, members, places, panel) {
  const alone = members.filter(({ length }) => length === 1).map(([place]) => names[panel[places[place]]]);
  if (!alone.length) return null;
  if (alone.length === members.length) return alone.length > 1 ? "every panel has one instance" : "one instance alone";
  const listed = alone.slice(0, 3).join(", ") + (alone.length > 3 ? ` and ${alone.length - 3} more` : "");
  return `${listed} ${alone.length === 1 ? "has" : "have"} one instance: the spread of such a panel cannot be seen`;
}

// Draws × arms: the pooled mean over draws of the chosen instances, made once for each choice of them.
function drawsOn(cells, chosen) {
  const { units, arms, panel, counts, means, weighting, draws, known } = cells;
  const key = chosen.map(Number).join("");
  if (known.has(key)) return known.get(key);
  const byRun = weighting === "run";
  const columns = byRun ? 2 * arms : arms;
  const values = new Float64Array(units * columns);
  for (let arm = 0; arm < arms; arm++) {
    for (let u = 0; u < units; u++) {
      const count = counts[arm * units + u];
      const mean = count > 0 ? means[arm * units + u] : 0;
      values[u * columns + arm] = byRun ? count * mean : mean;
      if (byRun) values[u * columns + arms + arm] = count;
    }
  }
  const sums = drawnSums(panel, values, columns, cells, chosen);
  const sizes = membersOf(panel).map((places) => places.filter((u) => chosen[u]).length);
  const filled = sizes.filter(Boolean).length;
  const all = sizes.reduce((sum, size) => sum + size, 0);
  const found = new Float64Array(draws * arms);
  for (let draw = 0; draw < draws; draw++) {
    for (let arm = 0; arm < arms; arm++) {
      const at = draw * columns + arm;
      if (byRun) {
        const total = (place) => sums.reduce((sum, part) => sum + part[place], 0);
        const runs = total(at + arms);
        found[draw * arms + arm] = runs > 0 ? total(at) / runs : 0;
      } else {
        sums.forEach((part, k) => {
          if (sizes[k]) found[draw * arms + arm] += part[at] / (weighting === "panel" ? sizes[k] * filled : all);
        });
      }
    }
  }
  known.set(key, found);
  return found;
}

// Interval and p-value by the method of the study; `reason` says why there is no interval.
function judge(estimate, cells) {
  const { method, level, draws } = cells;
  const none = (reason, p = null, smallest = null) => ({ low: null, high: null, p, smallest, reason });
  if (estimate.reason !== null) return none(estimate.reason);
  const { value, instances } = estimate;
  const moments = momentsOf(estimate.pull, estimate.members);
  if (moments.error <= ROUNDING * Math.max(1, Math.abs(value))) {
    const why = `the ${instances} instances are all alike: no spread to judge by`;
    if (Math.abs(value) <= ROUNDING) return none(why, 1);
    return none(why, 2 ** (1 - instances), 2 ** (1 - instances));
  }
  if (method === "sign-flip") {
    const found = flipJudged(estimate.shares, estimate.weights, cells);
    const percent = `${(100 * level).toFixed(0)}%`;
    if (!found.known) return none(`${instances} instances are too few for a ${percent} interval by sign flips`, found.p, found.smallest);
    return { low: found.low, high: found.high, p: found.p, smallest: found.smallest, reason: null };
  }
  let [low, high, p, smallest] = [NaN, NaN, null, null];
  if (method === "percentile") {
    [low, high, p] = percentileJudged(estimate.drawn(), value, level);
    smallest = 1 / (draws + 1);
  } else {
    const guarded = method === "skew-t";
    p = studentP(value, moments, guarded);
    [low, high] = studentInterval(value, moments, level, guarded);
  }
  if (!Number.isFinite(low) || !Number.isFinite(high)) return none("the spread of the instances is too large for an interval", p, smallest);
  return { low, high, p, smallest, reason: null };
}

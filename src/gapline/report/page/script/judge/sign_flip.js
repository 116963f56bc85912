// Sign flips of instances: the rules of gapline.statistics.estimate.

const MOST_EXACT = 14;

function flipJudged(shares, weights, { draws, generator, level }) {
  const moving = [...shares.keys()].filter((k) => shares[k] !== 0 || weights[k] !== 0);
  const exact = moving.length <= MOST_EXACT;
  const next = exact ? null : generatorOf(generator);
  const count = exact ? 2 ** Math.max(0, moving.length - 1) : draws + 1;
  const flips = Array.from({ length: count }, (_, flip) => {
    let difference = 0;
    let weight = 0;
    moving.forEach((unit, k) => {
      // Drawn for the first too, which flips nothing.
      const turned = exact ? (flip >> k) & 1 : next(2);
      const sign = turned && (exact || flip) ? -1 : 1;
      difference += sign * shares[unit];
      weight += sign * weights[unit];
    });
    return { difference, weight };
  });
  const { difference: seen, weight: whole } = flips[0];
  const size = Math.abs(seen);
  const p = flips.filter(({ difference }) => Math.abs(difference) >= size - ROUNDING * Math.max(1, size)).length / count;
  const moved = shares.filter((share) => share !== 0).length;
  const smallest = moved <= MOST_EXACT ? 2 ** (1 - Math.max(1, moved)) : 1 / (draws + 1);
  const ends = flips.map(({ difference, weight }) => {
    const one = (seen - difference) / (whole - weight);
    const other = (seen + difference) / (whole + weight);
    // Flips of instances that weigh nothing, and the one that flips nothing, reject no shift at all.
    const free = Math.abs(weight) >= Math.abs(whole) - ROUNDING || Number.isNaN(one) || Number.isNaN(other);
    return free ? [-Infinity, Infinity] : [Math.min(one, other), Math.max(one, other)];
  });
  const place = Math.floor((1 - level) * count + ROUNDING);
  const low = ascending(ends.map(([end]) => end))[place];
  const high = ascending(ends.map(([, end]) => end))[count - 1 - place];
  return { low, high, p, smallest, known: Number.isFinite(low) && Number.isFinite(high) };
}

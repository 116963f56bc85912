// The draws of gapline.statistics.intervals: PCG64 from a state that Python gives, and whole numbers from it as NumPy takes them.

const PCG_FACTOR = 0x2360ed051fc65da44385df649fccf645n;
const WORD = 4294967296;

// Whole numbers below a bound, each from 32 bits: the lower half of a 64-bit output first, then the upper one.
function generatorOf({ state, step }) {
  let here = BigInt(state);
  const increment = BigInt(step);
  let spare = -1;
  const bits = () => {
    if (spare >= 0) {
      const kept = spare;
      spare = -1;
      return kept;
    }
    here = BigInt.asUintN(128, here * PCG_FACTOR + increment);
    const mixed = (here >> 64n) ^ BigInt.asUintN(64, here);
    const turn = here >> 122n;
    const out = BigInt.asUintN(64, (mixed >> turn) | (mixed << (64n - turn)));
    spare = Number(out >> 32n);
    return Number(out & 0xffffffffn);
  };
  return (bound) => {
    // One value takes no bits.
    if (bound === 1) return 0;
    // Lemire's rule: the upper half of bits × bound, drawn again where the lower half is not fair.
    let product = bits() * bound;
    if (product % WORD < bound) {
      const unfair = (WORD - bound) % bound;
      while (product % WORD < unfair) product = bits() * bound;
    }
    return Math.floor(product / WORD);
  };
}

// The places of the units of each stratum, strata in the order of their numbers.
function membersOf(strata) {
  const members = new Map();
  strata.forEach((stratum, place) => (members.get(stratum) ?? members.set(stratum, []).get(stratum)).push(place));
  return [...members].sort(([a], [b]) => a - b).map(([, places]) => places);
}

// Sums of the rows of values (units × columns) over drawn units, by stratum: a list of draws × columns. Without the
// units that are not present the same draws are taken as far as they go, and spare ones from a generator of their own.
function drawnSums(strata, values, columns, { draws, generator, spares }, present) {
  const next = generatorOf(generator);
  const whole = present.every(Boolean);
  const other = whole ? null : generatorOf(spares);
  return membersOf(strata).map((units) => {
    const size = units.length;
    const picked = Uint32Array.from({ length: draws * size }, () => next(size));
    const sums = new Float64Array(draws * columns);
    const add = (draw, unit, sign) => {
      const [from, to] = [units[unit] * columns, draw * columns];
      for (let c = 0; c < columns; c++) sums[to + c] += sign * values[from + c];
    };
    for (let draw = 0; draw < draws; draw++) for (let k = 0; k < size; k++) add(draw, picked[draw * size + k], 1);
    const kept = whole ? units : units.flatMap((unit, place) => (present[unit] ? [place] : []));
    if (kept.length === size) return sums;
    for (let draw = 0; draw < draws; draw++) {
      for (let k = 0; k < size; k++) {
        const unit = picked[draw * size + k];
        if (k < kept.length && present[units[unit]]) continue;
        add(draw, unit, -1);
        if (k < kept.length) add(draw, kept[other(kept.length)], 1);
      }
    }
    return sums;
  });
}

// Each column lies as all its low bytes, then all its next bytes, and so on.
function readColumns(bytes, columns) {
  const found = {};
  let place = 0;
  for (const { name, length, width } of columns) {
    const values = new Float64Array(length);
    for (let plane = 0, factor = 1; plane < width; plane++, factor *= 256) {
      for (let k = 0; k < length; k++) values[k] += bytes[place + k] * factor;
      place += length;
    }
    found[name] = values;
  }
  return found;
}

// Dividing by a power of ten gives the double that the decimal number reads as; multiplying by 0.1 would not.
function fromUnits(units, decimals) {
  return decimals >= 0 ? units / Number("1e" + decimals) : units * Number("1e" + -decimals);
}

function unzigzag(value) {
  return value % 2 ? -(value + 1) / 2 : value / 2;
}

// Steps of all runs in one pair of columns; run r owns first[r] … first[r + 1].
function decodeSteps(bytes, head, runs) {
  const { time, objective, ...own } = readColumns(bytes, head.blocks.steps);
  for (const { column, decimals } of head.kernels.flatMap((kernel) => kernel.gaps || [])) {
    own[column] = own[column].map((units) => fromUnits(unzigzag(units), decimals));
  }
  const first = new Uint32Array(runs.arm.length + 1);
  for (let r = 0; r < runs.arm.length; r++) {
    const stop = first[r] + runs.steps[r];
    const decimals = head.units.decimals[runs.unit[r]];
    for (let k = first[r], t = 0, z = 0; k < stop; k++) {
      t += time[k];
      if (k > first[r]) z -= objective[k];
      else z = head.signed ? unzigzag(objective[k]) : objective[k];
      time[k] = fromUnits(t, head.clock.decimals);
      objective[k] = fromUnits(z, decimals);
    }
    first[r + 1] = stop;
  }
  return { ...own, time, objective, first };
}

const OTHER = { REJECTED: 1, UNCHECKED: 2, LATE: 4, NO_STAMP: 8, NO_OBJECTIVE: 16 };

// Candidates that are no steps, in the same layout.
function decodeOthers(bytes, head, runs) {
  const { count, time, objective, flags, reason } = readColumns(bytes, head.blocks.others);
  const first = new Uint32Array(runs.arm.length + 1);
  for (let r = 0; r < runs.arm.length; r++) {
    const stop = first[r] + count[r];
    const decimals = head.units.decimals[runs.unit[r]];
    for (let k = first[r], t = 0, z = 0; k < stop; k++) {
      t += unzigzag(time[k]);
      z += unzigzag(objective[k]);
      time[k] = flags[k] & OTHER.NO_STAMP ? NaN : fromUnits(t, head.clock.decimals);
      objective[k] = flags[k] & OTHER.NO_OBJECTIVE ? NaN : fromUnits(z, decimals);
    }
    first[r + 1] = stop;
  }
  return { time, objective, flags, reason, first };
}

async function decodePage(head) {
  // An instance that nobody solved may have no reference: NaN, which no comparison takes for a number.
  for (const snapshot of head.snapshots) snapshot.references = snapshot.references.map((value) => value ?? NaN);
  const runs = JSON.parse(new TextDecoder().decode(await inflate("runs")));
  const steps = decodeSteps(await inflate("steps"), head, runs);
  const others = decodeOthers(await inflate("others"), head, runs);
  return { runs, steps, others };
}

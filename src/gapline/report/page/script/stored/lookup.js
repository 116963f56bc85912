// A page without steps: every number that a choice asks for was computed by Python, and is looked up here.

const page = { head: null, printing: false, lit: null };

// Null is what does not exist; JSON has no infinity.
function revived(value) {
  if (Array.isArray(value)) return value.map(revived);
  if (value === null) return NaN;
  if (value === "overflow") return Infinity;
  if (typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, part]) => [name, revived(part)]));
}

async function decodePage(head) {
  for (const snapshot of head.snapshots) snapshot.references = snapshot.references.map((value) => value ?? NaN);
  const text = new TextDecoder().decode(await inflate("stored"));
  return { stored: revived(JSON.parse(text)), runs: { unit: [] } };
}

function prepare(decoded) {
  Object.assign(page, decoded);
  const [shortest, longest] = page.stored.horizons;
  page.shortest = shortest;
  page.head.horizonWords = longest === shortest ? `horizon ${formatValue(longest)} s` : `horizons ${formatValue(shortest)} to ${formatValue(longest)} s`;
}

function kernelPlace(choice) {
  return page.head.kernels.indexOf(choice.kernel);
}

// Nothing is scored here: what holds for all runs alike, in the form that the rest of the page reads.
function scoreAll(page, choice) {
  // A link may ask for a shorter horizon, which would need the steps.
  choice.horizon = null;
  const [shortest, longest] = page.stored.horizons;
  return { horizon: [longest, shortest], lateAtLeast: false };
}

// Everything the tables show, for every arm, hidden or not; ranks are among the visible ones.
function summariseAll(page, choice) {
  const { head, stored } = page;
  const { arms: numbers } = stored;
  const kernel = kernelPlace(choice);
  const goal = head.goals.indexOf(choice.goal);
  const at = choice.snapshot;
  const arms = head.arms.map((name, arm) => ({
    arm, name, descriptive: head.tierTwo.includes(name), runs: numbers.runs[arm], empty: numbers.empty[arm], rejected: numbers.rejected[arm],
    late: numbers.late[arm], unchecked: numbers.unchecked[arm], below: numbers.below[at][arm], statuses: numbers.statuses[arm],
    score: numbers.score[choice.weighting][at][kernel][arm],
    attained: numbers.attained[choice.weighting][at][goal][arm],
    finalGap: numbers.finalGap[choice.weighting][at][arm],
  }));
  return rankArms(head, choice, arms);
}

// Curves are on seconds where all horizons agree, on t/Γ where they do not.
function isRelative(reading) {
  return reading.horizon[0] !== reading.horizon[1];
}

// {time, value} of one arm; null where the curve does not exist (raw before a first incumbent).
function meanCurve(page, choice, reading, arm) {
  const { time, mean } = page.stored.curves;
  const value = mean[choice.weighting][choice.snapshot][kernelPlace(choice)][arm];
  return value.length ? { time, value, exact: false } : null;
}

function attainmentCurve(page, choice, reading, arm) {
  const { time, attainment } = page.stored.curves;
  return { time, value: attainment[choice.weighting][choice.snapshot][page.head.goals.indexOf(choice.goal)][arm], exact: false };
}

// Mean of a minus mean of b over the instances that both have, and on how many instances a is better.
function difference(page, choice, cells, a, b) {
  const { of, value, wins } = page.stored.pairs;
  const pair = of.findIndex(([one, other]) => one === a && other === b);
  const [won, tied, lost] = pair < 0 ? [NaN, NaN, NaN] : wins[choice.snapshot][kernelPlace(choice)][pair];
  return { value: pair < 0 ? NaN : value[choice.weighting][choice.snapshot][kernelPlace(choice)][pair], wins: won, ties: tied, losses: lost, instances: won + tied + lost };
}

// The means of all instances where the page has them; a part of them would judge other instances than the means are of.
function cellsToJudge(page, choice) {
  const { head, stored } = page;
  const { name, panel } = head.units;
  if (name.length < head.stored.instances) return { none: `this page carries ${formatCount(name.length)} of ${formatCount(head.stored.instances)} instances; gapline score SOURCE --kernel ${choice.kernel.name} --intervals has them` };
  const means = stored.units.score[choice.snapshot][kernelPlace(choice)].flat();
  const counts = stored.units.runs.flat();
  if (means.some((mean, cell) => counts[cell] > 0 && Number.isNaN(mean))) return { none: noScores(choice, stored.missing[choice.snapshot][kernelPlace(choice)]) };
  const beaten = head.arms.reduce((sum, arm, k) => sum + (head.instanceSet.arms.includes(arm) ? stored.arms.below[choice.snapshot][k] : 0), 0);
  const known = means.map((mean, cell) => (counts[cell] ? mean : 0));
  return { units: name.length, panel, counts, means: known, weighting: choice.weighting, unranked: whyUnranked(choice, beaten) };
}

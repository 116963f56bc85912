// Who is ahead under the choice, or that nothing tells them apart: the rules of gapline.report.headline.

const NO_SCORE = "Some run has no score: the raw kernel needs it to be feasible at time 0, a logarithmic weight needs a horizon beyond its cutoff.";

// The headline and what stands below it. Of the declared choice and all arms it is Python's own.
function headlineOf(summary, judged) {
  const { head, choice } = page;
  const all = !choice.hidden.size;
  if (head.short || (judged?.python && all)) return head.headline;
  const [text, detail] = headlineWords(summary, judged);
  if (all) return [text, detail];
  return [text, `Of the arms shown. ${detail}${judged?.python ? ` Of all compared arms: ${head.headline[0]}.` : ""}`];
}

function headlineWords({ compared, notRanked }, judged) {
  const { head, choice } = page;
  const kernel = choice.kernel.name;
  const [first, second] = compared.filter(({ score }) => !Number.isNaN(score));
  if (!first && compared.length && choice.kernel.kind === "custom") return [`No mean ${kernel} score exists here`, "This kernel is a function in Python, which was asked about the reference of the whole horizon alone."];
  if (!first) return compared.length ? [`No mean ${kernel} score exists here`, NO_SCORE] : ["No arm is compared here", "All arms are descriptive (tier 2)."];
  if (notRanked) return [`No ranking under ${kernel}`, notRanked];
  if (!second) return [`${first.name}: mean ${kernel} score ${formatScore(first.score)}`, "One arm is compared."];
  const both = `Mean ${kernel} scores ${formatScore(first.score)} and ${formatScore(second.score)}.`;
  if (judged === null) return [`${first.name} has the smaller mean, ${second.name} the next one`, `${both} The interval of their difference is being computed.`];
  const found = pairOf(judged, first.name, second.name);
  const apart = second.score - first.score;
  const { difference: value, low, high } = found;
  const known = (number) => number !== null && number !== undefined;
  const tied = apart < head.tie && (!known(value) || Math.abs(value) < head.tie);
  const unsettled = `${first.name} and ${second.name} are ${tied ? "level" : "not told apart"}`;
  if (!known(value) || !known(low) || !known(high)) {
    const between = tied ? "" : `: ${formatScore(apart)} between their means, no interval`;
    return [unsettled + between, `${both} No interval: ${found.reason ?? judged.none ?? "none was computed"}.`];
  }
  const span = `${formatValue(100 * head.level, 4)} % interval ${formatSigned(-high)} to ${formatSigned(-low)}`;
  const turned = `of the difference ${second.name} − ${first.name}`;
  if (tied) return [`${unsettled}: ${formatScore(Math.abs(value))} between them, ${span}`, `${both} The interval is ${turned}.`];
  if (value > head.tie) {
    return [`${unsettled}: their means and their paired difference disagree`, `${both} ${first.name} has the smaller mean over the instances that it ran, ${second.name} over the ${formatCount(found.instances)} that both ran; ${span} ${turned}.`];
  }
  if (value < -head.tie && high < 0) return [`${first.name} is ahead of ${second.name} by ${formatScore(-value)}, ${span}`, `${both} The interval ${turned} excludes 0.`];
  const zero = low <= 0 && high >= 0 ? "includes 0" : "does not hold the difference itself";
  return [`${unsettled}: ${formatScore(Math.abs(value))} between them, ${span}`, `${both} The interval ${turned} ${zero}.`];
}

// The pair, whichever way round it is stored, turned to first minus second; empty where there is none.
function pairOf({ contrasts = [] }, first, second) {
  const row = contrasts.find(({ a, b }) => (a === first && b === second) || (a === second && b === first));
  if (!row || row.a === first) return row ?? {};
  const turn = (number) => (number === null || number === undefined ? number : -number);
  return { ...row, difference: turn(row.difference), low: turn(row.high), high: turn(row.low) };
}

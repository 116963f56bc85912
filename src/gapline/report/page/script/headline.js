// What the ranked arms' differences show under the choice: the rule of gapline.report.statements.headline.

const NO_SCORE = "Some run has no score: the raw kernel needs it to be feasible at time 0, a logarithmic weight needs a horizon beyond its cutoff.";
const FEW_INSTANCES = 2;

// The headline and what stands below it. Of the declared choice and all arms it is Python's own.
function headlineOf(summary, judged) {
  const { head, choice } = page;
  const all = !choice.hidden.size;
  if (head.withheld || (judged?.python && all)) return head.headline;
  const [text, detail] = headlineWords(summary, judged);
  if (all) return [text, detail];
  return [text, `Of the arms shown. ${detail}${judged?.python ? ` Of all ranked arms: ${head.headline[0]}.` : ""}`];
}

function headlineWords(summary, judged) {
  const { choice } = page;
  const kernel = choice.kernel.name;
  const compared = [...summary.compared, ...summary.others];
  const known = compared.filter(({ score }) => !Number.isNaN(score));
  if (summary.arms.every(({ runs, empty }) => runs === empty)) return ["No run found a solution", "Every run scores the worst value of its kernel."];
  if (!compared.length) return ["No arm is compared here", "All arms are descriptive (tier 2)."];
  if (!known.length && choice.kernel.kind === "custom") return [`No mean ${kernel} score exists here`, "This kernel is a function in Python, which was asked about the reference of the whole horizon alone."];
  if (!known.length) return [`No mean ${kernel} score exists here`, NO_SCORE];
  if (summary.notRanked) return [`No ranking under ${kernel}`, summary.notRanked];
  if (compared.length === 1) return [`${known[0].name}: mean ${kernel} score ${formatScore(known[0].score)}`, "One arm alone: no comparison."];
  if (summary.reason) return ["No arm is ranked", `${summary.reason[0].toUpperCase()}${summary.reason.slice(1)}.`];
  const ranked = summary.compared.filter(({ score }) => !Number.isNaN(score));
  if (ranked.length < 2) return [`Fewer than two of the ranked arms have a mean ${kernel} score`, NO_SCORE];
  return comparedWords(summary, ranked, judged);
}

function comparedWords(summary, ranked, judged) {
  const { choice } = page;
  const means = `Mean ${choice.kernel.name} scores: ${listing(ranked.map(({ name, score }) => `${name} ${formatScore(score)}`), 6)}`;
  const same = ({ arm }) => {
    const { wins, losses } = difference(page, choice, summary.score, Math.min(arm, ranked[0].arm), Math.max(arm, ranked[0].arm));
    return wins + losses === 0;
  };
  if (ranked.slice(1).every(same)) return [`${formatCount(ranked.length)} arms: no difference in any cell`, `${means}.`];
  if (summary.instances <= FEW_INSTANCES) return [`${means}; ${countOf(summary.instances, "instance")} only`, "On so few instances no arm is called better than another."];
  if (judged === null) return [`${ranked[0].name} has the lowest mean`, `${means}. The intervals are being computed.`];
  if (judged.none) return [`${means}; no intervals`, `No intervals: ${judged.none}.`];
  const names = new Set(ranked.map(({ name }) => name));
  const pairs = judged.contrasts.filter(({ a, b }) => names.has(a) && names.has(b));
  const declared = pairs.filter((row) => row.declared).map(contrastWords);
  const [text, detail] = groupWords(ranked, judged, pairs);
  if (!declared.length) return [text, `${means}. ${detail} Exploratory: no contrast was declared.`];
  if (ranked.length === 2) return [text, `${means}. ${detail}`];
  const more = declared.length > 3 ? [`${declared.length - 3} more contrasts`] : [];
  return [[...declared.slice(0, 3), ...more].join("; "), `Exploratory: ${text}. ${means}. ${detail}`];
}

// Which arm has the lowest mean, and how many arms cannot be distinguished from it.
function groupWords(ranked, judged, pairs) {
  const { head } = page;
  const size = ranked.length;
  const leaders = ranked.filter(({ rank }) => rank === ranked[0].rank).map(({ name }) => name);
  const first = ranked[0].name;
  const second = ranked[leaders.length === size ? 1 : leaders.length].name;
  const worst = worstPlace(judged, first, ranked);
  const level = worst - leaders.length;
  const pair = pairOf(pairs, first, second);
  const { difference: value = 0, low = null, high = null, p = null, reason } = pair;
  const apart = Math.abs(value);
  let [span, detail] = ["no interval", `No interval of the difference ${second} − ${first}: ${reason ?? "none was computed"}.`];
  if (low !== null && high !== null) {
    span = `${formatValue(100 * head.level, 4)} % interval ${formatSigned(-high)} to ${formatSigned(-low)}`;
    detail = `The interval of the difference ${second} − ${first} ${low <= 0 && high >= 0 ? "includes" : "excludes"} 0 (p ${wordsOfP(p)}).`;
  }
  const sure = worst === 1 && high !== null && high < 0 && isShown(pair, true);
  if (size === 2) {
    if (sure) return [`${first} is ahead of ${second} by ${formatScore(apart)}, ${span}`, detail];
    if (worst === 1) return [`${first} has the lowest mean, by ${formatScore(apart)}; ${span}`, detail];
    return [`No significant difference between ${first} and ${second}: ${formatScore(apart)}, ${span}`, detail];
  }
  const adjusted = `Arms are distinguished at ${formatValue(100 * (1 - head.level), 6)} %, Holm-adjusted.`;
  if (sure) return [`${first} is ahead of the ${formatCount(size - 1)} other ranked arms; of the next, ${second}, by ${formatScore(apart)}, ${span}`, `${detail} ${adjusted}`];
  const lowest = leaders.length > 1 ? `${listing(leaders, 4)} share the lowest mean` : `${first} has the lowest mean`;
  const open = level > 0 ? `; ${formatCount(level)} of ${formatCount(size)} arms cannot be distinguished from ${leaders.length > 1 ? "them" : "it"}` : "";
  return [lowest + open, `${second} is next, ${formatScore(apart)} behind, ${span}. ${detail} ${adjusted}`];
}

// The worst place that the comparisons of the first arm leave open to it. Arms that are hidden stay in the adjustment.
function worstPlace({ contrasts }, first, ranked) {
  const { head } = page;
  const family = head.instanceSet.arms.filter((name) => name !== first).map((name) => ({ name, p: pairOf(contrasts, first, name).p ?? null }));
  if (!head.instanceSet.arms.includes(first) || family.some(({ p }) => p === null)) return ranked.length;
  const shown = holm(family.map(({ p }) => p)).map((p) => p <= 1 - head.level);
  const open = new Set(family.filter((_, k) => !shown[k]).map(({ name }) => name));
  return 1 + ranked.filter(({ name }) => open.has(name)).length;
}

function contrastWords({ a, b, difference: value, low, high, p_holm: p }) {
  const { head } = page;
  const text = `Contrast ${a} against ${b}: ${formatSigned(value)}`;
  if (low === null || high === null) return `${text}, no interval`;
  const span = `${text}, ${formatValue(100 * head.level, 4)} % interval ${formatSigned(low)} to ${formatSigned(high)}, Holm p ${wordsOfP(p)}`;
  return isShown({ low, high, p_holm: p }, false) ? `${span}; ${value < 0 ? a : b} is better` : `${span}; no significant difference`;
}

// Whether a difference is shown: Holm's p decides of a declared contrast, the ranking of any other pair.
function isShown({ low, high, p_holm: p = null }, distinguished) {
  const { head } = page;
  return (p === null ? distinguished : p <= 1 - head.level) && low !== null && high !== null && (low > head.tie || high < -head.tie);
}

function wordsOfP(p) {
  return p === null ? DASH : p < 0.001 ? "< 0.001" : `= ${fixed(p, 3)}`;
}

function listing(items, most) {
  return items.slice(0, most).join(", ") + (items.length > most ? ` and ${items.length - most} more` : "");
}

// The pair, whichever way round it is stored, turned to first minus second; empty where there is none.
function pairOf(contrasts, first, second) {
  const row = contrasts.find(({ a, b }) => (a === first && b === second) || (a === second && b === first));
  if (!row || row.a === first) return row ?? {};
  const turn = (number) => (number === null || number === undefined ? number : -number);
  return { ...row, difference: turn(row.difference), low: turn(row.high), high: turn(row.low) };
}

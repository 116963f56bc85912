// The tables of the page, each with its reference badge and its CSV.

const FAILED = ["crashed", "killed", "memory-limit", "lost"];

function badge() {
  const entry = page.head.snapshots[page.choice.snapshot];
  const [title, mark] = referenceMark();
  return element("span", { class: "badge", title: `${entry.name}, ${entry.policy}, ${title}` }, `vs ${entry.name} · ${entry.policy} · `, mark);
}

// By what the reference of the choice is known: its digest, or that it was folded here and has none.
function referenceMark() {
  const { digest } = page.head.snapshots[page.choice.snapshot];
  const folded = `folded here at ${formatValue(page.choice.horizon)} s`;
  return page.reading.references && isRefolded(page.choice) ? [folded, folded] : [digest, element("code", {}, digest.slice(0, 19) + "…")];
}

// The badge and the button that saves the numbers behind a figure or a table.
function setTools(id, name, numbers) {
  const save = element("button", { type: "button", title: "Save the numbers behind this as CSV", "data-csv": name, on: {
    click: () => saveText(`${name}.csv`, csvWithChoice(numbers())),
  } }, "CSV");
  byId(id).replaceChildren(badge(), save);
}

function csvWithChoice({ header, rows }) {
  const { head, choice } = page;
  const entry = head.snapshots[choice.snapshot];
  const words = ["kernel", "weight", "weighting", "horizon", "reference", "policy", "digest", ...(head.timeScale ? ["time_scale"] : [])];
  const horizon = choice.horizon === null ? "own" : choice.horizon;
  const values = [choice.kernel.name, head.weight.name, choice.weighting, horizon, entry.name, entry.policy, page.reading.references && isRefolded(choice) ? null : entry.digest, ...(head.timeScale ? [head.timeScale] : [])];
  return csvText([...header, ...words], rows.map((row) => [...row, ...values]));
}

// Columns are [label, class]; rows are lists of cells: text, a node, or [content, class, number to sort by].
function fillTable(id, columns, rows, chosen = () => false) {
  const table = byId(id);
  const header = columns.map(([label, kind]) => element("th", { scope: "col", class: kind || null }, label));
  table.tHead.replaceChildren(element("tr", {}, ...header));
  // Drawn anew: what was sorted and filtered before is no longer there.
  table.asDrawn = null;
  table.tBodies[0].replaceChildren(
    ...rows.map((row, k) =>
      element("tr", { class: chosen(k) ? "chosen" : null }, ...row.map((cell, c) => {
        const [content, kind, key] = Array.isArray(cell) ? cell : [cell, null];
        return element("td", { class: [columns[c][1], kind].filter(Boolean).join(" ") || null, "data-key": key }, content);
      })),
    ),
  );
}

function armCell(arm, mark = "") {
  return element("span", { class: "arm-cell" }, swatch(arm), page.head.arms[arm] + mark);
}

function intervalOf(judged, name) {
  return judged?.intervals?.find((row) => row.arm === name) || null;
}

function spanText(row) {
  return row && row.low !== null ? `${formatScore(row.low)} to ${formatScore(row.high)}` : DASH;
}

// Mean and interval on a common axis.
function forest(row, span, low, high) {
  const at = (value) => 4 + (142 * (value - low)) / (high - low || 1);
  const parts = [element("svg:line", { class: "axis", x1: 4, x2: 146, y1: 10, y2: 10 })];
  const colour = colourOf(row.arm);
  if (span && span.low !== null) parts.push(element("svg:line", { class: "span", x1: at(span.low), x2: at(span.high), y1: 10, y2: 10, stroke: colour }));
  if (Number.isFinite(row.score)) parts.push(element("svg:path", { d: shapeOf(row.arm), fill: colour, transform: `translate(${at(row.score)} 10) scale(4.8)` }));
  return element("svg:svg", { class: "forest", viewBox: "0 0 150 20", role: "img", "aria-label": `mean ${formatScore(row.score)}` }, ...parts);
}

function failures(row) {
  return FAILED.reduce((sum, status) => sum + (row.statuses[status] || 0), 0);
}

function renderRanking(summary, reading, judged) {
  const { choice, head } = page;
  const level = formatValue(100 * head.level, 4);
  const shown = summary.ranked.flatMap((row) => {
    const span = intervalOf(judged, row.name);
    return [row.score, ...(span && span.low !== null ? [span.low, span.high] : [])].filter(Number.isFinite);
  });
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const tiers = head.tierTwo.length > 0;
  const columns = [
    ["rank"], ["arm", "text name"], [`mean ${choice.kernel.name}`], [element("span", { class: "hidden" }, "drawn"), "text drawing"], [`${level} % interval`], ["final gap"],
    [`≤ ${formatGoal(choice.goal)}`], ...(tiers ? [["tier"]] : []), ["runs"], ["empty"], ["failed"], ["rejected"], ["late"],
  ];
  const rows = summary.ranked.map((row) => {
    const span = intervalOf(judged, row.name);
    const best = row.rank === 1 ? "best" : null;
    return [
      row.rank === null ? DASH : String(row.rank), armCell(row.arm, (head.alarmed.arms.includes(row.name) ? " (alarm)" : "") + (row.descriptive ? " (descriptive)" : row.compared || !summary.compared.length ? "" : " (other instances)")),
      [formatScore(row.score), best, row.score], forest(row, span, low, high), judgedText(judged, spanText(span)),
      [formatPercent(row.finalGap), null, row.finalGap], formatPercent(row.attained, 1), ...(tiers ? [row.descriptive ? "2" : "1"] : []), formatCount(row.runs),
      [formatCount(row.empty), row.empty ? "failed" : null], [row.statuses.unknown === row.runs ? "–" : formatCount(failures(row)), failures(row) ? "failed" : null],
      formatCount(row.rejected), formatCount(row.late, reading.lateAtLeast),
    ];
  });
  fillTable("ranking", columns, rows);
  byId("ranking").tBodies[0].querySelectorAll("tr").forEach((line, k) => (line.dataset.arm = summary.ranked[k].name));
  const caption = byId("ranking-caption");
  caption.replaceChildren(`${choiceWords()}; smaller is better. The final gap is over non-empty runs; an empty run scores the worst value and stays in. A candidate that is both rejected and late counts in both columns. `);
  caption.append(visible(judgedWords(judged, `Intervals: ${head.intervalCaption}.`)));
  if (tiers) caption.append(" Arms of tier 2 are described, never ranked or tested.");
  const set = rankedWords(head, summary);
  if (set) caption.append(" ", element("strong", {}, `${visible(set[0].toUpperCase() + set.slice(1))}.`));
  if (summary.notRanked) caption.append(" ", element("strong", {}, summary.notRanked + "."));
  setTools("ranking-tools", "arms", () => ({
    header: ["rank", "arm", "tier", "mean", "low", "high", "final_gap", "attainment", "goal", "runs", "empty", "failed", "rejected", "late"],
    rows: summary.ranked.map((row) => {
      const span = intervalOf(judgementOf(choice), row.name);
      return [row.rank, row.name, row.descriptive ? 2 : 1, row.score, span?.low, span?.high, row.finalGap, row.attained, choice.goal, row.runs, row.empty, row.statuses.unknown === row.runs ? null : failures(row), row.rejected, row.late];
    }),
  }));
}

// The choice in words, for captions.
function choiceWords() {
  const { choice, head } = page;
  const horizon = choice.horizon === null ? head.horizonWords : `horizon ${formatValue(choice.horizon)} s`;
  return visible(`Kernel ${choice.kernel.name}, weight ${head.weight.name}, ${choice.weighting}-equal, ${horizon}, ${head.validation}`);
}

function renderContrasts(summary, judged) {
  const { head, choice } = page;
  const pairs = judged?.contrasts?.length ? judged.contrasts : head.contrasts.length ? head.contrasts.map(({ a, b, declared }) => ({ a, b, declared })) : pairsOf(head.arms);
  // A descriptive arm is never tested; of the others those that are ranked together, and what was declared.
  const left = (name) => choice.hidden.has(name) || head.tierTwo.includes(name);
  const together = new Set(summary.compared.map(({ name }) => name));
  const rows = pairs.filter((row) => !left(row.a) && !left(row.b) && (row.declared || (together.has(row.a) && together.has(row.b)))).map((row) => {
    const now = difference(page, choice, summary.score, head.arms.indexOf(row.a), head.arms.indexOf(row.b));
    return { low: null, high: null, p: null, p_holm: null, reason: null, ...row, now };
  });
  const level = formatValue(100 * head.level, 4);
  // The interval alone decides here, as in Python's table; Holm's p stands next to it.
  const apart = ({ low, high }) => low !== null && (low > 0 || high < 0);
  fillTable("contrast-table", [["arm a", "text name"], ["arm b", "text name"], ["a − b"], [`${level} % interval`], ["excludes 0", "text"], ["p (Holm)"], ["wins · ties · losses"], ["kind", "text"]],
    rows.map((row) => [
      armCell(head.arms.indexOf(row.a)), armCell(head.arms.indexOf(row.b)), [formatSigned(row.now.value), apart(row) ? "best" : null, row.now.value],
      judgedText(judged, row.low === null ? DASH : `${formatSigned(row.low)} to ${formatSigned(row.high)}`),
      judgedText(judged, row.low === null ? DASH : apart(row) ? "yes" : "no"),
      judgedText(judged, row.p_holm !== null ? formatP(row.p_holm) : row.p !== null ? `(${formatP(row.p)})` : DASH),
      [row.now.wins, row.now.ties, row.now.losses].map((n) => formatCount(n)).join(" · "), row.reason || (row.declared ? "declared" : "exploratory"),
    ]));
  const caption = byId("contrasts-caption");
  const named = rows.filter((row) => row.declared).length;
  caption.replaceChildren("Negative: a is better. Excludes 0: whether the interval does, unadjusted. Wins count instances on which a has the smaller mean. p-values in brackets are exploratory and not adjusted. ");
  caption.append(visible(judgedWords(judged, `${head.contrastCaption}.`)));
  if (judged && !judged.python && !judged.none) caption.append(` Holm over ${named} declared contrasts, ${rows.length - named} exploratory.`);
  setTools("contrasts-tools", "contrasts", () => ({
    header: ["a", "b", "difference", "low", "high", "p", "p_holm", "wins", "ties", "losses", "declared"],
    rows: rows.map(({ a, b, now, low, high, p, p_holm: holm, declared: named }) =>
      [a, b, now.value, low, high, p, holm, now.wins, now.ties, now.losses, String(Boolean(named))]),
  }));
}

// Python computed these for the declared choice and all compared arms; under another choice they are not shown.
function renderDeclared() {
  const { choice, head } = page;
  const stale = staleReason(page, choice);
  // Counts and ratios are there under every kernel and reference: only what else is chosen outdates them.
  const others = staleReason(page, { ...choice, kernel: head.kernels[0], snapshot: 0 });
  for (const [id, why] of [["classical", stale], ["evidence", stale], ["kernel-tables", others], ["varied", stale]]) hideSection(id, why);
}

function hideSection(id, why) {
  const section = byId(id);
  if (!section) return;
  section.classList.toggle("outdated", Boolean(why));
  const note = byId(`${id}-stale`);
  note.hidden = !why;
  note.textContent = why ? `Not shown: ${why}. Reset brings it back.` : "";
}

function pairsOf(arms) {
  return arms.flatMap((a, k) => arms.slice(k + 1).map((b) => ({ a, b, low: null, high: null, p: null, p_holm: null, declared: false, reason: null })));
}

function formatP(p) {
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

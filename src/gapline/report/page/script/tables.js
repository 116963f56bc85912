// The tables of the page, each with its reference badge and its CSV.

const FAILED = ["crashed", "killed", "memory-limit", "lost"];

function badge() {
  const entry = page.head.snapshots[page.choice.snapshot];
  return element(
    "span", { class: "badge", title: `${entry.name}, ${entry.policy}, ${entry.digest}` },
    `vs ${entry.name} · ${entry.policy} · `, element("code", {}, entry.digest.slice(0, 19) + "…"),
  );
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
  const values = [choice.kernel.name, head.weight.name, choice.weighting, horizon, entry.name, entry.policy, entry.digest, ...(head.timeScale ? [head.timeScale] : [])];
  return csvText([...header, ...words], rows.map((row) => [...row, ...values]));
}

// Columns are [label, class]; rows are lists of cells: text, a node, or [content, class].
function fillTable(id, columns, rows, chosen = () => false) {
  const table = byId(id);
  const header = columns.map(([label, kind]) => element("th", { scope: "col", class: kind || null }, label));
  table.tHead.replaceChildren(element("tr", {}, ...header));
  table.tBodies[0].replaceChildren(
    ...rows.map((row, k) =>
      element("tr", { class: chosen(k) ? "chosen" : null }, ...row.map((cell, c) => {
        const [content, kind] = Array.isArray(cell) ? cell : [cell, null];
        return element("td", { class: [columns[c][1], kind].filter(Boolean).join(" ") || null }, content);
      })),
    ),
  );
}

function armCell(arm, mark = "") {
  return element("span", { class: "arm-cell" }, swatch(arm), page.head.arms[arm] + mark);
}

function intervalOf(name) {
  return page.head.intervals.find((row) => row.arm === name) || null;
}

function spanText(row, level) {
  return row && row.low !== null ? `${formatScore(row.low)} to ${formatScore(row.high)}` : DASH;
}

// Mean and interval on a common axis.
function forest(row, span, stale, low, high) {
  const at = (value) => 4 + (142 * (value - low)) / (high - low || 1);
  const parts = [element("svg:line", { class: "axis", x1: 4, x2: 146, y1: 10, y2: 10 })];
  const colour = colourOf(row.arm);
  if (span && span.low !== null && !stale) parts.push(element("svg:line", { class: "span", x1: at(span.low), x2: at(span.high), y1: 10, y2: 10, stroke: colour }));
  if (Number.isFinite(row.score)) parts.push(element("svg:circle", { cx: at(row.score), cy: 10, r: 4, fill: colour }));
  return element("svg:svg", { class: "forest", viewBox: "0 0 150 20", role: "img", "aria-label": `mean ${formatScore(row.score)}` }, ...parts);
}

function failures(row) {
  return FAILED.reduce((sum, status) => sum + (row.statuses[status] || 0), 0);
}

function renderRanking(summary, reading, stale) {
  const { choice, head } = page;
  const level = formatValue(100 * head.level, 4);
  const shown = summary.ranked.flatMap((row) => {
    const span = stale ? null : intervalOf(row.name);
    return [row.score, ...(span && span.low !== null ? [span.low, span.high] : [])].filter(Number.isFinite);
  });
  const [low, high] = [Math.min(...shown), Math.max(...shown)];
  const columns = [
    ["rank"], ["arm", "text name"], [`mean ${choice.kernel.name}`], [element("span", { class: "hidden" }, "drawn"), "text"], [`${level} % interval`], ["final gap"],
    [`≤ ${formatGoal(choice.goal)}`], ["runs"], ["empty"], ["failed"], ["rejected"], ["late"],
  ];
  const rows = summary.ranked.map((row) => {
    const span = intervalOf(row.name);
    const best = row.rank === 1 ? "best" : null;
    return [
      row.rank === null ? DASH : String(row.rank), armCell(row.arm, row.descriptive ? " (descriptive)" : ""), [formatScore(row.score), best], forest(row, span, stale, low, high),
      stale ? [element("span", { class: "stale", title: stale }, spanText(span)), "stale"] : spanText(span),
      formatPercent(row.finalGap), formatPercent(row.attained, 1), formatCount(row.runs),
      [formatCount(row.empty), row.empty ? "failed" : null], [row.statuses.unknown === row.runs ? "–" : formatCount(failures(row)), failures(row) ? "failed" : null],
      formatCount(row.rejected), formatCount(row.late, reading.lateAtLeast),
    ];
  });
  fillTable("ranking", columns, rows);
  byId("ranking").tBodies[0].querySelectorAll("tr").forEach((line, k) => (line.dataset.arm = summary.ranked[k].name));
  const caption = byId("ranking-caption");
  caption.replaceChildren(`${choiceWords()}; smaller is better. The final gap is over non-empty runs; an empty run scores the worst value and stays in.`);
  if (head.intervalCaption) caption.append(" ", stale ? element("span", { class: "stale" }, `Intervals greyed: ${stale}.`) : `Intervals: ${head.intervalCaption}.`);
  if (summary.notRanked) caption.append(" ", element("strong", {}, summary.notRanked + "."));
  setTools("ranking-tools", "arms", () => ({
    header: ["rank", "arm", "mean", "low", "high", "final_gap", "attainment", "goal", "runs", "empty", "failed", "rejected", "late"],
    rows: summary.ranked.map((row) => {
      const span = stale ? null : intervalOf(row.name);
      return [row.rank, row.name, row.score, span?.low, span?.high, row.finalGap, row.attained, choice.goal, row.runs, row.empty, row.statuses.unknown === row.runs ? null : failures(row), row.rejected, row.late];
    }),
  }));
}

// The choice in words, for captions.
function choiceWords() {
  const { choice, head } = page;
  const horizon = choice.horizon === null ? head.horizonWords : `horizon ${formatValue(choice.horizon)} s`;
  return visible(`Kernel ${choice.kernel.name}, weight ${head.weight.name}, ${choice.weighting}-equal, ${horizon}, ${head.validation}`);
}

function renderContrasts(summary, stale) {
  const { head, choice } = page;
  const declared = head.contrasts.length ? head.contrasts : pairsOf(head.arms);
  // A descriptive arm is never tested.
  const left = (name) => choice.hidden.has(name) || head.tierTwo.includes(name);
  const rows = declared.filter((row) => !left(row.a) && !left(row.b)).map((row) => {
    const now = difference(page, choice, summary.score, head.arms.indexOf(row.a), head.arms.indexOf(row.b));
    return { ...row, now };
  });
  const level = formatValue(100 * head.level, 4);
  const grey = (text) => (stale ? [element("span", { class: "stale", title: stale }, text), "stale"] : text);
  fillTable("contrast-table", [["arm a", "text name"], ["arm b", "text name"], ["a − b"], [`${level} % interval`], ["p (Holm)"], ["wins · ties · losses"], ["kind", "text"]],
    rows.map(({ a, b, now, low, high, p, p_holm: holm, declared: named, reason }) => [
      armCell(head.arms.indexOf(a)), armCell(head.arms.indexOf(b)), formatSigned(now.value),
      grey(low === null || low === undefined ? DASH : `${formatSigned(low)} to ${formatSigned(high)}`),
      grey(holm !== null && holm !== undefined ? formatP(holm) : p !== null && p !== undefined ? `(${formatP(p)})` : DASH),
      [now.wins, now.ties, now.losses].map((n) => formatCount(n)).join(" · "), reason || (named ? "declared" : "exploratory"),
    ]));
  const caption = byId("contrasts-caption");
  caption.replaceChildren("Negative: a is better. Wins count instances on which a has the smaller mean. p-values in brackets are exploratory and not adjusted.");
  if (head.contrastCaption) caption.append(" ", stale ? element("span", { class: "stale" }, `Intervals and p-values greyed: ${stale}.`) : head.contrastCaption + ".");
  setTools("contrasts-tools", "contrasts", () => ({
    header: ["a", "b", "difference", "low", "high", "p", "p_holm", "wins", "ties", "losses", "declared"],
    rows: rows.map(({ a, b, now, low, high, p, p_holm: holm, declared: named }) =>
      [a, b, now.value, ...(stale ? [null, null, null, null] : [low, high, p, holm]), now.wins, now.ties, now.losses, String(Boolean(named))]),
  }));
}

// Python computed these for the declared choice and all compared arms; under another choice they are greyed.
function renderDeclared(stale) {
  const { choice, head } = page;
  // Counts and ratios are there under every kernel and reference: only what else is chosen outdates them.
  const others = staleReason(page, { ...choice, kernel: head.kernels[0], snapshot: 0 });
  for (const [id, why] of [["classical", stale], ["evidence", stale], ["kernel-tables", others], ["varied", stale]]) {
    const section = byId(id);
    if (!section) continue;
    section.classList.toggle("outdated", Boolean(why));
    const note = byId(`${id}-stale`);
    note.hidden = !why;
    note.classList.toggle("stale", Boolean(why));
    note.textContent = why ? `Greyed: ${why}.` : "";
  }
}

function pairsOf(arms) {
  return arms.flatMap((a, k) => arms.slice(k + 1).map((b) => ({ a, b, low: null, high: null, p: null, p_holm: null, declared: false, reason: null })));
}

function formatP(p) {
  return p < 0.001 ? "< 0.001" : p.toFixed(3);
}

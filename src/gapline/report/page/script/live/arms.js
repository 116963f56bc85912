// The arms over their whole runs, beside the interval in which each mean ends whatever the open runs find. Ranks are
// those of the cells that all ranked arms have finished; they come with the state.

function readingWords() {
  const { reference, weight, weighting, horizons, validation, checker } = live.state;
  if (weight === undefined) return "";
  const against = reference ? `against ${reference.name} (${reference.policy}), ` : "";
  const span = horizons?.length ? `, horizon ${horizons.length > 1 ? `${formatValue(Math.min(...horizons))} to ${formatValue(Math.max(...horizons))}` : formatValue(horizons[0])} s` : "";
  return visible(`Kernel ${liveKernel()}, ${against}weight ${weight}, ${weighting}-equal${span}, validated by ${validation}${typeof checker === "string" ? ` ${checker}` : ""}. `);
}

// The ends of a mean, and the mean so far, on a common axis.
function boundDrawing({ mean, low, high }, least, most) {
  const at = (value) => 4 + (142 * (value - least)) / (most - least || 1);
  const parts = [element("svg:line", { class: "axis", x1: 4, x2: 146, y1: 10, y2: 10 })];
  if (low !== null) parts.push(element("svg:rect", { class: "bounds", x: at(low), width: Math.max(3, at(high) - at(low)), y: 4, height: 12, rx: 2 }));
  if (Number.isFinite(mean)) parts.push(element("svg:circle", { class: "mean", cx: at(mean), cy: 10, r: 3 }));
  return element("svg:svg", { class: "forest", viewBox: "0 0 150 20", role: "img", "aria-label": `mean so far ${formatScore(mean)}, in the end ${spanWords(low, high)}` }, ...parts);
}

function armRows(kernel) {
  const { arms, bounds, ranking } = live.state;
  const placed = new Map(Object.entries(ranking?.arms[kernel] ?? {}));
  const ends = new Map((bounds?.[kernel]?.arms ?? []).map((row) => [row.arm, row]));
  const whole = new Map(arms.map((row) => [row.arm, row]));
  const names = [...new Set([...whole.keys(), ...ends.keys()])].filter((name) => !isHidden(name));
  const rows = names.map((name) => {
    const row = whole.get(name) ?? null;
    const mean = row?.scores[kernel] ?? null;
    const { rank = null, mean: common = null } = placed.get(name) ?? {};
    return { name, row, mean, rank, common, number: typeof mean === "number" ? mean : NaN, low: null, high: null, open: 0, ...ends.get(name) };
  });
  return rows.sort((a, b) => orderOf(a.rank ?? NaN, b.rank ?? NaN) || (a.name < b.name ? -1 : 1));
}

function renderLiveArms() {
  const { refused, progress, phase } = live.state;
  const kernel = liveKernel();
  // Before the first run is whole there is nothing to refuse, and before the first is under way nothing to tell.
  const waits = Boolean(refused && !progress?.done && phase !== "unreadable");
  const told = kernel !== null && (waits ? progress?.running > 0 : !refused);
  const rows = told ? armRows(kernel) : [];
  show("live-arms", rows.length > 0 || Boolean(refused && !waits));
  patchText("live-arms-title", phase === "finished" ? "Arms" : "Arms so far");
  show("refused", Boolean(refused && !waits));
  if (refused && !waits) {
    patchChildren(byId("refused"), [element("h3", {}, phase === "unreadable" ? "This study cannot be read" : "Scoring is refused"), element("p", {}, refused.message), ...(refused.hint ? [element("p", { class: "caption" }, `Hint: ${refused.hint}`)] : [])]);
  }
  show("arms-block", rows.length > 0);
  if (rows.length) renderArmTable(rows, kernel, waits);
  renderPairs(kernel, rows.some((row) => row.open > 0));
}

function renderArmTable(rows, kernel, waits) {
  const open = rows.some((row) => row.open > 0);
  const goal = Object.keys(rows.find(({ row }) => row)?.row.attainment ?? {}).find((text) => Number(text) === page.choice?.goal);
  const level = page.head ? `${formatValue(100 * page.head.level, 4)} % interval` : null;
  // Those of the report below, as long as it is of the same runs: never an older one beside a newer mean.
  const judged = level && page.summary ? judgementOf(page.choice) : null;
  const spans = judged?.intervals?.length && isPartNew() && !staleReason(page, { ...page.choice, kernel: page.head.kernels[0] }) ? new Map(judged.intervals.map((row) => [row.arm, row])) : null;
  const ends = rows.flatMap((row) => [row.number, row.low, row.high]).filter(Number.isFinite);
  const [least, most] = [Math.min(...ends), Math.max(...ends)];
  const ranked = rows.some((row) => row.rank !== null || row.common !== null);
  // A mean over other cells than those of the whole runs is shown beside theirs.
  const common = rows.some((row) => row.common !== null && row.common !== row.mean);
  const columns = [
    ...(ranked ? [["rank"]] : []), ["arm", "text name"], [`mean ${kernel}`], ...(common ? [["on common cells"]] : []), ...(open ? [["in the end between"], [element("span", { class: "hidden" }, "drawn"), "text"]] : []),
    ...(spans ? [[level]] : []), ["whole runs"], ["final gap"], ...(goal === undefined ? [] : [[`≤ ${formatGoal(Number(goal))}`]]), ["empty"], ["rejected"], ["late"],
  ];
  patchTable("live-arm-table", columns, rows.map((one) => {
    const { row } = one;
    const span = spans?.get(one.name);
    return [
      ...(ranked ? [one.rank === null ? DASH : formatCount(one.rank)] : []), liveArm(one.name), liveScore(one.mean), ...(common ? [liveScore(one.common)] : []),
      ...(open ? [spanWords(one.low, one.high), boundDrawing({ mean: one.number, low: one.low, high: one.high }, least, most)] : []),
      ...(spans ? [spanText(span ?? null)] : []),
      open ? `${formatCount(row?.runs ?? 0)} of ${formatCount((row?.runs ?? 0) + one.open)}` : formatCount(row?.runs ?? 0),
      row?.final_gap === "overflow" ? "overflow" : formatPercent(row?.final_gap ?? null), ...(goal === undefined ? [] : [formatPercent(row?.attainment[goal] ?? null, 1)]),
      row ? [formatCount(row.empty), row.empty ? "failed" : null] : DASH, row ? formatCount(row.rejected) : DASH, row ? formatCount(row.late) : DASH,
    ];
  }));
  const placing = live.state.ranking?.words ?? "";
  const words = [
    placing && !waits ? `${visible(placing[0].toUpperCase() + placing.slice(1))}.` : "",
    waits ? (live.state.progress?.unchecked ? "No run has its verdict yet." : "No run is whole yet.") : "Means are over whole runs, as gapline score prints them; smaller is better.",
    open ? "“In the end between” is no statistical interval: between these two values the mean ends for certain, whatever the open runs find (they hold what they have, or jump to the best value that is possible)." : "",
    spans ? `The ${level} is the statistical one, of whole runs alone.` : "",
  ];
  patchText("live-arms-caption", readingWords() + words.filter(Boolean).join(" "));
}

// All digits of the table, with the number of the event that they are of.
function saveArms() {
  const kernel = liveKernel();
  const { id, weight, weighting, reference } = live.state;
  const header = ["arm", "mean", "rank", "common_mean", "low", "high", "runs", "open", "final_gap", "empty", "rejected", "late", "event", "kernel", "weight", "weighting", "reference", "policy", "digest"];
  saveText("arms-so-far.csv", csvText(header, armRows(kernel).map(({ name, row, mean, rank, common, low, high, open }) => [
    name, mean, rank, common, low, high, row?.runs ?? 0, open, row?.final_gap, row?.empty, row?.rejected, row?.late, id, kernel, weight, weighting, reference?.name, reference?.policy, reference?.digest,
  ])));
}

const MOST_PAIRS = 60;

function renderPairs(kernel, open) {
  const known = (live.state.bounds?.[kernel]?.pairs ?? []).filter(({ a, b }) => !isHidden(a) && !isHidden(b));
  const decided = known.filter((pair) => pair.decided);
  show("pairs-block", decided.length > 0 && open);
  if (!decided.length || !open) return;
  const shown = decided.slice(0, MOST_PAIRS);
  patchTable("live-pair-table", [["better in the end", "text name"], ["than", "text name"]], shown.map(({ a, b, better }) => [liveArm(better), liveArm(better === a ? b : a)]));
  const cut = decided.length > shown.length ? ` The first ${formatCount(shown.length)} are listed.` : "";
  patchText("live-pairs-caption", `${formatCount(decided.length)} of ${countWords(known.length, "pair")} ${decided.length === 1 ? "is" : "are"} decided under ${visible(kernel)}${decided.length < known.length ? "; the others are open" : ""}. Decided: no open run can change any more which of the two means is smaller. That is arithmetic, and says nothing of other instances.${cut}`);
}

// One card for each run under way; a card whose run did not move is not touched.

const MOST_RUNS = 24;
const cards = { all: false };

function runFacts(run) {
  const kernel = liveKernel();
  const bounds = run.bounds?.[kernel] ?? null;
  const rejected = run.rejected ? `, ${formatCount(run.rejected)} rejected` : "";
  const incumbent = ["incumbent", run.incumbent === null ? "none yet" : formatValue(run.incumbent)];
  const candidates = ["candidates", `${formatCount(run.captured)}${rejected}${run.late ? `, ${formatCount(run.late)} late` : ""}`];
  // Nothing can be said of how good it is: a row of dashes would look as if that came later.
  if (run.reference === null) return [incumbent, candidates];
  const facts = [
    incumbent,
    ["gap", formatScore(run.gap?.[kernel] ?? null)],
    ["score so far", formatScore(run.scores?.[kernel] ?? null)],
    ["final score between", bounds ? spanWords(bounds.low, bounds.high) : DASH],
    ["to the reference", bounds ? formatScore(bounds.to_reference) : DASH],
    candidates,
  ];
  if (bounds?.claimed) facts.splice(4, 0, ["if its claims hold", spanWords(bounds.claimed.low, bounds.claimed.high)]);
  return facts;
}

function runCard(key, run) {
  const { arm, instance, seed, elapsed, horizon, attempt, host, problem, checked } = run;
  const where = [attempt > 1 ? `attempt ${attempt}` : "", host ?? ""].filter(Boolean).join(", ");
  const reasons = Object.entries(run.reasons).map(([reason, number]) => `${reason} (${formatCount(number)})`).join(", ");
  return element("article", { class: "block run-card", "data-run": key, "aria-label": visible(key) },
    element("h3", {}, liveArm(arm), element("span", { class: "where" }, `${instance} · seed ${seed}`)),
    traceDrawing(run),
    element("p", { class: "caption" }, `${elapsed === null ? "" : elapsed > horizon ? `its ${formatValue(horizon)} s are over` : `${formatValue(elapsed, 4)} of ${formatValue(horizon)} s`}${where ? ` · ${where}` : ""}`),
    element("dl", {}, ...runFacts(run).flatMap(([name, value]) => [element("dt", {}, name), element("dd", { "data-fact": name }, value)])),
    run.reference === null && !problem ? element("p", { class: "caption" }, "Its instance has no reference, so it has no gap and no score.") : null,
    problem ? element("p", { class: "failed" }, problem) : null,
    reasons ? element("p", { class: "failed" }, `rejected: ${reasons}`) : null,
    checked ? null : element("p", { class: "caption" }, "No checker has looked at its candidates yet: its bounds allow that none of them holds."));
}

function renderRunning() {
  const runs = Object.entries(live.state.running ?? {}).filter(([, run]) => !isHidden(run.arm));
  const shown = cards.all ? runs : runs.slice(0, MOST_RUNS);
  const box = byId("running-runs");
  const known = new Map([...box.children].map((card) => [card.dataset.run, card]));
  shown.forEach(([key, run], k) => {
    let card = known.get(key);
    known.delete(key);
    if (!card || live.runs.has(key) || live.runs.has(null)) {
      const fresh = runCard(key, run);
      if (!card) box.insertBefore(fresh, box.children[k] ?? null);
      else patchChildren(card, [...fresh.children]);
      card ??= fresh;
    }
    if (box.children[k] !== card) box.insertBefore(card, box.children[k] ?? null);
  });
  for (const card of known.values()) card.remove();
  show("live-running", runs.length > 0);
  const more = byId("running-all");
  more.hidden = runs.length <= MOST_RUNS;
  more.textContent = cards.all ? `Show ${MOST_RUNS} runs` : `Show all ${formatCount(runs.length)} runs`;
  patchText("running-caption", "The line is the best objective so far, dotted where it would be held to the horizon; dashed: the reference. “Final score between” is certain: it holds what it has, or jumps now to the best value that is possible. “To the reference” is its score if it reached the reference now; a reference can be beaten.");
  live.runs.clear();
}

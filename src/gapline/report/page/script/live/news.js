// The newest events, and what failed with the last lines that it wrote.

const MOST_EVENTS = 60;
const LOUD_EVENTS = ["failed", "alarm", "interrupted", "rejected"];

function renderEvents() {
  const { events = [] } = live.state;
  const lines = events.slice(0, MOST_EVENTS).map(({ number, at, kind, run, text }) =>
    element("li", { "data-number": number, class: LOUD_EVENTS.includes(kind) ? "loud" : null },
      element("time", { datetime: at }, clockWords(at)), " ", element("b", {}, kind), " ", run ? element("span", { class: "run" }, run) : null, run ? " " : null, element("span", {}, text)));
  const box = byId("events");
  const known = new Map([...box.children].map((line) => [line.dataset.number, line]));
  // Those that are there stay: only new ones are put before them.
  patchEvents(box, lines, known);
  // Before the first run there is nothing that happened, failed or was measured.
  show("live-news", live.state.phase !== "unreadable" && Boolean(live.state.progress) && (live.state.phase !== "not begun" || events.length > 0));
  if (!events.length && !box.children.length) box.append(element("li", { class: "none" }, "Nothing yet since this server began to look."));
}

function patchEvents(box, lines, known) {
  box.querySelector(".none")?.remove();
  lines.forEach((line, k) => {
    const old = known.get(line.dataset.number);
    known.delete(line.dataset.number);
    const node = old?.isEqualNode(line) ? old : line;
    if (old && node !== old) old.remove();
    if (box.children[k] !== node) box.insertBefore(node, box.children[k] ?? null);
  });
  for (const line of known.values()) line.remove();
}

function renderFailures() {
  const { failures: failed = [], progress } = live.state;
  const count = progress?.failed ?? failed.length;
  patchText("failures-title", count ? `What failed: ${countWords(count, "run")}` : "What failed");
  const boxes = failed.map(({ arm, instance, seed, status, cause, elapsed, stderr }) => {
    const last = stderr.length ? element("pre", { tabindex: 0, "aria-label": `last lines of standard error of ${visible(arm)}` }) : element("p", { class: "caption" }, "It wrote nothing on standard error.");
    // Lines stay lines: what else does not print is shown by its number.
    if (stderr.length) last.textContent = stderr.map(visible).join("\n");
    return element("div", { class: "failure" }, element("p", {}, element("b", { class: "failed" }, status), ` ${arm} · ${instance} · seed ${seed}: ${cause} after ${formatValue(elapsed, 4)} s`), last);
  });
  if (!boxes.length) boxes.push(element("p", { class: "caption" }, progress?.done ? "No run that is whole has failed." : "No run is whole yet."));
  patchChildren(byId("failures"), boxes);
}

// The page of a chain: events over time, and the steps of each value; one instance is chosen at a time.

const page = { head: JSON.parse(byId("head").textContent), printing: false, chosen: null };

// Of more rows or lines than this nobody reads one; the search finds the others, and the CSV has all.
const MOST_ROWS = 200;
const MOST_LINES = 8;

async function decodeChain() {
  const data = JSON.parse(new TextDecoder().decode(await inflate("steps")));
  let place = 0;
  page.instances = data.instances.map((name, k) => {
    const first = place;
    place += data.counts[k];
    const steps = [];
    for (let s = first; s < place; s++) {
      steps.push({
        event: data.event[s], value: data.value[s], certified: data.certified[s] === 1,
        change: data.changes[data.change[s]], who: data.whos[data.who[s]], source: data.sources[data.source[s]],
      });
    }
    return describe(name, steps);
  });
  page.instances.sort((a, b) => b.gain - a.gain || (a.name < b.name ? -1 : 1));
}

// The newest value is that of the snapshot; commits come before all snapshots.
function describe(name, steps) {
  const known = steps.filter((step) => step.value !== null);
  const last = steps[steps.length - 1];
  const newest = last && last.value !== null ? last.value : null;
  const oldest = known.length ? known[0].value : null;
  const moved = steps.filter((step) => step.change.split(", ").includes("improved"));
  // Values of another instance of the same name are no part of its gain.
  const regenerated = steps.some((step) => step.change.includes("instance changed"));
  const gain = newest === null || oldest === null || regenerated ? 0 : Math.abs(relative(oldest, newest));
  return { name, steps, newest, oldest, gain, improved: moved.length, latest: moved[moved.length - 1] || null, certified: Boolean(last?.certified) };
}

function relative(value, newest) {
  return newest === 0 ? value : (value - newest) / Math.abs(newest);
}

function timeOf(event) {
  return page.head.dated ? page.head.events[event].time : event + 1;
}

// There is room for half a bar beyond the ends.
function timeAxisOf() {
  return page.head.dated
    ? { field: "time", type: "temporal", scale: { type: "utc", padding: 16, nice: false }, title: null, axis: { grid: false, tickCount: 5, labelOverlap: true } }
    : { field: "time", type: "quantitative", scale: { padding: 16, nice: false, zero: false }, title: "snapshot, in order", axis: { grid: false, tickMinStep: 1, format: "d" } };
}

function nearestEvent(time) {
  const { events } = page.head;
  let best = 0;
  for (let k = 1; k < events.length; k++) if (Math.abs(timeOf(k) - time) <= Math.abs(timeOf(best) - time)) best = k;
  return best;
}

function eventLabel(event) {
  const { name, commit } = page.head.events[event];
  return commit ? `${commit.slice(0, 12)} ${name}` : name;
}

function eventDate(event) {
  const { asOf, when } = page.head.events[event];
  return asOf || when || "undated";
}

function drawEvents() {
  const { events, leftOut } = page.head;
  const colours = { improved: look.colours.below, added: look.colours.pale };
  const rows = events.flatMap((event, k) => Object.keys(colours).map((kind) => ({ time: timeOf(k), kind, number: event[kind] })));
  byId("event-caption").textContent =
    "Green: values improved in each snapshot or commit; grey: instances added." +
    (page.head.dated ? " Dates are those at which the values were known, or else written." : " Some snapshot has no date: they stand in their order.") +
    (leftOut ? ` ${formatCount(leftOut)} older commits are not in this page.` : "");
  setSave("event-tools", "improvements", () => [["event", "as_of", "improved", "added", "worsened", "certified", "withdrawn"], events.map((event, k) => [eventLabel(k), eventDate(k), event.improved, event.added, event.worsened, event.certified, event.withdrawn])]);
  if (!rows.some((row) => row.number)) return clearChart("event-chart", "Nothing was improved in this chain.");
  const most = Math.max(...events.map((event) => event.improved + event.added));
  const spec = {
    height: 260, description: "Number of instances improved in each snapshot", data: { name: "rows" },
    mark: { type: "bar", width: Math.max(4, Math.min(26, 320 / events.length)) },
    encoding: {
      x: timeAxisOf(), y: { field: "number", type: "quantitative", title: "instances", stack: "zero", scale: { domain: [0, END("y1")], nice: false }, axis: { tickCount: Math.min(5, most) } },
      color: { field: "kind", type: "nominal", legend: null, scale: { domain: Object.keys(colours), range: Object.values(colours) } },
    },
  };
  const tip = (time) => {
    const k = nearestEvent(Number(time));
    return [[null, eventLabel(k), eventDate(k)], ...["improved", "added", "worsened", "certified", "withdrawn"].filter((kind) => events[k][kind]).map((kind) => [null, kind, formatCount(events[k][kind])])];
  };
  drawChart("event-chart", () => ({ spec, rows: { rows }, ends: { y1: 1.04 * most } }), { tip });
}

// The chosen instance, and those that gained most.
function linesShown() {
  const leading = page.instances.filter((one) => one.gain > 0).slice(0, MOST_LINES);
  return page.chosen && !leading.includes(page.chosen) ? [...leading, page.chosen] : leading;
}

function drawValues() {
  const { events, colours } = page.head;
  const shown = linesShown();
  const end = timeOf(events.length - 1);
  const colourAt = (k) => (colours[k % colours.length] === "#000000" && look.colours.dark ? "#ffffff" : colours[k % colours.length]);
  const rows = shown.flatMap((one, k) => {
    // From the last time that its instance changed: values before belong to another one.
    const from = one.steps.findLastIndex((step) => step.change.includes("instance changed"));
    const line = one.steps.slice(Math.max(0, from)).filter((step) => step.value !== null && one.newest !== null).map((step) => ({ line: k, time: timeOf(step.event), value: relative(step.value, one.newest) }));
    return line.length ? [...line, { ...line[line.length - 1], time: end }] : [];
  });
  byId("value-caption").textContent = `How far each value was from the newest one: the ${formatCount(Math.min(MOST_LINES, shown.length))} that moved most${page.chosen ? ", and the one chosen below, thick" : ""}.`;
  setSave("value-tools", "values", () => [["instance", "event", "as_of", "value", "relative"], shown.flatMap((one) => one.steps.map((step) => [one.name, eventLabel(step.event), eventDate(step.event), step.value, step.value === null || one.newest === null ? null : relative(step.value, one.newest)]))]);
  if (!rows.length) return clearChart("value-chart", "No value moved in this chain.");
  const domain = shown.map((_, k) => k);
  const encoding = {
    x: timeAxisOf(), y: { field: "value", type: "quantitative", title: "against the newest", scale: { domain: [END("y0"), END("y1")] }, axis: { tickCount: 5, format: "~%" } },
    color: { field: "line", type: "nominal", legend: null, scale: { domain, range: domain.map(colourAt) } },
  };
  const thick = rows.filter((row) => shown[row.line] === page.chosen);
  const line = (strokeWidth) => ({ type: "line", interpolate: "step-after", strokeWidth, clip: true });
  const spec = {
    height: 260, description: "Value of instances relative to the newest, over time",
    layer: [
      { data: { name: "rows" }, mark: line(1.6), encoding },
      { data: { name: "rows" }, mark: { type: "point", filled: true, size: 24 }, encoding },
      ...(thick.length ? [{ data: { name: "thick" }, mark: line(4), encoding }] : []),
    ],
  };
  const [y0, y1] = rangeOf(rows, ["value"], 0, 0);
  const tip = (time) => {
    const k = nearestEvent(Number(time));
    return [[null, eventLabel(k), eventDate(k)], ...shown.map((one, line) => [mark(colourAt(line)), one.name, atEvent(one, k)])];
  };
  const ends = { y0: 1.04 * y0, y1: 1.04 * y1 };
  drawChart("value-chart", () => ({ spec, rows: thick.length ? { rows, thick } : { rows }, ends }), { tip });
}

function mark(colour) {
  const line = element("svg:line", { x1: 1, x2: 25, y1: 5, y2: 5, stroke: colour, "stroke-width": 3 });
  return element("svg:svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" }, line);
}

function atEvent(one, event) {
  const step = one.steps.findLast((found) => found.event <= event);
  return step ? formatValue(step.value, 12) : DASH;
}

function renderInstances() {
  const words = byId("instance-filter").value.trim().toLowerCase();
  const found = page.instances.filter((one) => one.name.toLowerCase().includes(words));
  const columns = [["instance", "text name"], ["best known"], ["certified", "text"], ["first known"], ["moved by"], ["improvements"], ["last improved in", "text name"], ["by", "text name"]];
  fillTable("instance-table", columns, found.slice(0, MOST_ROWS).map((one) => [
    element("button", { type: "button", class: "link", on: { click: () => choose(one, true) } }, one.name),
    formatValue(one.newest, 12), one.certified ? "certified" : "", formatValue(one.oldest, 12), one.gain ? formatPercent(one.gain, 3) : DASH, formatCount(one.improved),
    one.latest ? eventLabel(one.latest.event) : DASH, one.latest ? one.latest.who : DASH,
  ]), (k) => found[k] === page.chosen);
  const more = found.length > MOST_ROWS ? ` The first ${MOST_ROWS} are shown: search for others, or save all as CSV.` : "";
  byId("instance-caption").textContent = `${formatCount(found.length)} of ${formatCount(page.instances.length)} instances, those that moved most first.${more}`;
}

function renderSteps() {
  const { chosen } = page;
  byId("step-name").textContent = chosen ? visible(chosen.name) : "Choose an instance above";
  const columns = [["best known"], ["change", "text"], ["as of", "text"], ["in", "text name"], ["who", "text name"], ["source", "text name"]];
  const steps = chosen ? [...chosen.steps].reverse() : [];
  fillTable("step-table", chosen ? columns : [], steps.map((step) => [
    formatValue(step.value, 12) + (step.certified ? " certified" : ""), step.change, eventDate(step.event), eventLabel(step.event), step.who, step.source,
  ]));
  byId("step-caption").textContent = chosen ? "Newest first." : "";
}

function setSave(id, name, table) {
  byId(id).replaceChildren(element("button", { type: "button", "data-csv": name, title: "Save the numbers behind this as CSV", on: { click: () => saveText(`${name}.csv`, csvText(...table())) } }, "CSV"));
}

function choose(one, goTo) {
  page.chosen = one;
  const hash = one ? "#" + new URLSearchParams({ instance: one.name }) : "";
  if (location.hash !== hash) history.replaceState(null, "", location.href.split("#")[0] + hash);
  render();
  if (goTo) byId("step-block").scrollIntoView({ behavior: "auto", block: "nearest" });
}

function readChoice() {
  const name = new URLSearchParams(location.hash.slice(1)).get("instance");
  page.chosen = page.instances.find((one) => one.name === name) || null;
}

async function render() {
  readLook();
  drawEvents();
  drawValues();
  renderInstances();
  renderSteps();
  const number = String((page.renders = (page.renders || 0) + 1));
  await chartsDrawn();
  document.documentElement.dataset.renders = number;
  if (!idle) drawLater();
}

async function start() {
  try {
    await decodeChain();
  } catch (error) {
    byId("event-caption").textContent = `This browser could not decode the steps (${error}). The tables above were written by Python.`;
    throw error;
  }
  readChoice();
  setSave("instance-tools", "best-known", () => [["instance", "value", "certified", "first_value", "moved", "improvements", "last_improved_in", "by"], page.instances.map((one) => [one.name, one.newest, String(one.certified), one.oldest, one.gain, one.improved, one.latest ? eventLabel(one.latest.event) : null, one.latest ? one.latest.who : null])]);
  byId("instance-filter").addEventListener("input", renderInstances);
  addEventListener("hashchange", () => (readChoice(), render()));
  let width = innerWidth;
  addEventListener("resize", () => innerWidth !== width && ((width = innerWidth), render()));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  addEventListener("beforeprint", () => ((page.printing = true), render()));
  addEventListener("afterprint", () => ((page.printing = false), render()));
  render();
}

// The tables are painted before the steps are decoded.
requestAnimationFrame(() => setTimeout(start, 0));

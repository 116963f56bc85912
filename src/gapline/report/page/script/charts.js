// Vega drawings. Specifications are parsed to syntax trees (ast), so that nothing is ever evaluated as code.

const drawn = new Map();
// Drawings that are out of sight wait until the browser has nothing better to do.
const later = new Map();
let now = [];
let idle = false;

// Colours, and which charts are in sight, are read once before a drawing changes the page: reading them in between
// would make the browser lay the page out again and again.
let look = null;

function readLook() {
  look = { colours: theme(), boxes: {} };
  for (const box of document.querySelectorAll(".chart")) {
    const { top, bottom, width } = box.getBoundingClientRect();
    look.boxes[box.id] = { width: Math.floor(width), near: page.printing || (bottom > -200 && top < innerHeight + 200) };
  }
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && !page.printing;
  return {
    ink: read("--ink"), soft: read("--soft"), grid: read("--grid"), above: read("--area-above"), below: read("--area-below"),
    warn: read("--warn"), dark,
  };
}

function colourOf(arm) {
  const colour = page.head.colours[arm % page.head.colours.length];
  return colour === "#000000" && look.colours.dark ? "#ffffff" : colour;
}

function dashOf(arm) {
  return page.head.dashes[arm % page.head.dashes.length];
}

// A short piece of the arm's line, for legends and tables.
function swatch(arm) {
  const line = element("svg:line", {
    x1: 1, x2: 25, y1: 5, y2: 5, stroke: colourOf(arm), "stroke-width": 3, "stroke-dasharray": dashOf(arm).join(" "),
  });
  return element("svg:svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" }, line);
}

function armScales() {
  const domain = page.head.arms.map((_, arm) => arm);
  return {
    color: { field: "arm", type: "nominal", legend: null, scale: { domain, range: domain.map(colourOf) } },
    strokeDash: { field: "arm", type: "nominal", legend: null, scale: { domain, range: domain.map(dashOf) } },
  };
}

function drawChart(id, spec, onMove = null) {
  later.delete(id);
  if (look.boxes[id].near) now.push(embedChart(id, spec, onMove));
  else later.set(id, () => embedChart(id, spec, onMove));
}

// Resolves when everything in sight is drawn.
async function chartsDrawn() {
  const waited = now;
  now = [];
  await Promise.all(waited);
}

// Draw the rest; the page says when it is settled.
function drawLater() {
  const [id] = later.keys();
  idle = id !== undefined;
  if (!idle) {
    document.documentElement.dataset.settled = document.documentElement.dataset.renders;
    return;
  }
  (window.requestIdleCallback || setTimeout)(async () => {
    const draw = later.get(id);
    later.delete(id);
    await draw?.();
    drawLater();
  });
}

// A drawing that was overtaken by a newer one is thrown away.
async function embedChart(id, spec, onMove) {
  const box = byId(id);
  const { colours } = look;
  const ticket = (drawn.get(id)?.ticket || 0) + 1;
  drawn.set(id, { ...drawn.get(id), ticket });
  const full = {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: Math.max(200, look.boxes[id].width), background: null, autosize: { type: "fit", contains: "padding" }, padding: 4,
    config: {
      view: { stroke: null }, font: "system-ui, sans-serif",
      axis: {
        gridColor: colours.grid, domainColor: colours.soft, tickColor: colours.soft, labelColor: colours.soft,
        titleColor: colours.soft, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 170,
      },
      header: { labelColor: colours.ink },
    },
    ...spec,
  };
  const plot = element("div");
  const result = await vegaEmbed(plot, full, {
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, hover: false,
  });
  const current = drawn.get(id);
  if (current.ticket !== ticket) return result.finalize();
  current.finalize?.();
  box.replaceChildren(plot);
  drawn.set(id, { ticket, finalize: () => result.finalize() });
  if (onMove) followPointer(box, result.view, onMove);
}

function clearChart(id, words) {
  later.delete(id);
  const current = drawn.get(id);
  current?.finalize?.();
  drawn.set(id, { ticket: (current?.ticket || 0) + 1 });
  byId(id).replaceChildren(element("p", { class: "caption stale" }, words));
}

// A cursor on the time axis with exact values beside it, for pointer and arrow keys alike.
function followPointer(box, view, onMove) {
  const scale = view.scale("x");
  const [left, right] = scale.range();
  const origin = view.origin()[0] + view.padding().left;
  const cursor = element("div", { class: "cursor", hidden: true });
  box.append(cursor);
  let place = left;
  const show = (x, clientX, clientY) => {
    place = Math.min(Math.max(x, left), right);
    const lines = onMove(scale.invert(place));
    cursor.hidden = false;
    cursor.style.left = `${origin + place}px`;
    cursor.style.top = `${view.origin()[1] + view.padding().top}px`;
    cursor.style.height = `${Math.abs(view.scale("y").range()[0] - view.scale("y").range()[1])}px`;
    showTip(lines, clientX, clientY);
  };
  const hide = () => {
    cursor.hidden = true;
    byId("tip").hidden = true;
  };
  box.onpointermove = (event) => show(event.clientX - box.getBoundingClientRect().left - origin, event.clientX, event.clientY);
  box.onpointerleave = hide;
  box.onblur = hide;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.onkeydown = (event) => {
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20 }[event.key];
    if (event.key === "Escape") hide();
    if (!step && event.key !== "Home" && event.key !== "End") return;
    event.preventDefault();
    const x = event.key === "Home" ? left : event.key === "End" ? right : place + (step * (right - left)) / 100;
    const frame = box.getBoundingClientRect();
    show(x, frame.left + origin + Math.min(Math.max(x, left), right), frame.top + 40);
  };
}

// Lines are [swatch or null, label, value].
function showTip(lines, x, y) {
  const tip = byId("tip");
  tip.replaceChildren(
    ...lines.map(([mark, label, value]) => element("div", {}, element("span", {}, mark || "", mark ? " " : "", label), element("b", {}, value))),
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, x + 14 + width > innerWidth ? x - width - 14 : x + 14)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - height - 4))}px`;
}

function timeAxis({ end, relative, log, low }) {
  const scale = log ? { type: "log", domain: [low, end], nice: false, clamp: true } : { domain: [0, end], nice: false };
  return { field: "time", type: "quantitative", scale, title: relative ? "time t/Γ" : "time (s)", axis: { grid: false, tickCount: 6 } };
}

// More breakpoints than pixels do not show: of those in one place the last is drawn.
const MOST_PLACES = 600;

// Breakpoints as rows; the last value is held to the end.
function curveRows(curve, arm, { end, log, low }) {
  const rows = [];
  const many = curve.time.length > MOST_PLACES;
  let last = -1;
  for (let k = 0; k < curve.time.length; k++) {
    const time = log ? Math.max(curve.time[k], low) : curve.time[k];
    const share = log ? Math.log(time / low) / Math.log(end / low) : time / end;
    const place = many ? Math.floor(share * MOST_PLACES) : time;
    if (place === last) rows.pop();
    rows.push({ arm, time, value: curve.value[k] });
    last = place;
  }
  rows.push({ arm, time: end, value: curve.value[curve.value.length - 1] });
  return rows;
}

function bandRows(bands, clock) {
  const rows = [];
  for (const [name, band] of Object.entries(bands)) {
    const arm = page.head.arms.indexOf(name);
    if (page.choice.hidden.has(name)) continue;
    band.time.forEach((time, k) => {
      if (!clock.log || time >= clock.low) rows.push({ arm, time, low: band.low[k], high: band.high[k] });
    });
  }
  return rows;
}

// Step curves by arm, with their bands where these apply.
function drawCurves(id, curves, { clock, title, domain, format, bands, description }) {
  const y = { type: "quantitative", title, axis: { tickCount: 5, format: domain ? "%" : undefined }, scale: domain ? { domain } : { zero: false } };
  const x = timeAxis(clock);
  const { color, strokeDash } = armScales();
  const layer = [];
  if (bands) {
    layer.push({
      data: { values: bandRows(bands, clock) }, mark: { type: "area", interpolate: "step-after", opacity: 0.16, clip: true },
      encoding: { x, y: { ...y, field: "low" }, y2: { field: "high" }, color },
    });
  }
  layer.push({
    data: { values: curves.flatMap(({ arm, curve }) => curveRows(curve, arm, clock)) },
    mark: { type: "line", interpolate: "step-after", strokeWidth: 2, clip: true }, encoding: { x, y: { ...y, field: "value" }, color, strokeDash },
  });
  drawChart(id, { height: 300, description, layer }, (time) => [
    [null, clock.relative ? "t/Γ" : "time", clock.relative ? formatValue(time, 4) : `${formatValue(time, 5)} s`],
    ...curves.map(({ arm, curve }) => [swatch(arm), page.head.arms[arm], format(valueAt(curve, time))]),
  ]);
}

function drawPanels(rows) {
  const { color } = armScales();
  const shape = { field: "arm", type: "nominal", legend: null, scale: { domain: page.head.arms.map((_, arm) => arm) } };
  const names = [...new Set(rows.map((row) => row.panel))];
  drawChart("panel-chart", {
    height: 26 * names.length + 50, description: "Mean score of each arm in each panel",
    data: { values: rows }, mark: { type: "point", filled: true, size: 90, opacity: 0.9 },
    encoding: {
      y: { field: "panel", type: "nominal", title: null, sort: names, axis: { grid: true, domain: false, ticks: false } },
      x: { field: "value", type: "quantitative", title: `mean ${page.choice.kernel.name} score`, scale: { zero: false }, axis: { tickCount: 6 } },
      color, shape,
    },
  });
}

// The gap of several runs over time, one thin line each.
function drawRuns(rows, clock) {
  const { color, strokeDash } = armScales();
  drawChart("instance-chart", {
    height: 240, description: "Gap of every run on this instance over time", data: { values: rows },
    mark: { type: "line", interpolate: "step-after", strokeWidth: 1.4, opacity: 0.8, clip: true },
    encoding: {
      x: timeAxis(clock), y: { field: "value", type: "quantitative", title: `${page.choice.kernel.name} gap`, axis: { tickCount: 5 } },
      color, strokeDash, detail: { field: "run" },
    },
  });
}

// One run: its gap with the signed area that the score is the mean of, and its rejected candidates.
function drawRun(steps, marks, clock, onMove) {
  const { colours } = look;
  const x = timeAxis(clock);
  const y = { type: "quantitative", title: `${page.choice.kernel.name} gap`, axis: { tickCount: 5 } };
  const area = (field, colour) => ({
    data: { values: steps.map((row) => ({ time: row.time, [field]: field === "up" ? Math.max(row.value, 0) : Math.min(row.value, 0), zero: 0 })) },
    mark: { type: "area", interpolate: "step-after", opacity: 0.18, color: colour, clip: true },
    encoding: { x, y: { ...y, field }, y2: { field: "zero" } },
  });
  drawChart("run-chart", {
    height: 280, description: "Gap of this run over time; crosses mark rejected candidates",
    layer: [
      area("up", colours.above), area("down", colours.below),
      { data: { values: [{ zero: 0 }] }, mark: { type: "rule", color: colours.soft }, encoding: { y: { ...y, field: "zero" } } },
      { data: { values: steps }, mark: { type: "line", interpolate: "step-after", strokeWidth: 2, color: colours.ink, clip: true }, encoding: { x, y: { ...y, field: "value" } } },
      ...(marks.length ? [{ data: { values: marks }, mark: { type: "point", shape: "cross", angle: 45, size: 70, filled: true, color: colours.warn, clip: true }, encoding: { x, y: { ...y, field: "value" } } }] : []),
    ],
  }, onMove);
}

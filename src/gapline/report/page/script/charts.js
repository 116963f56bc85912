// Vega drawings. Specifications are parsed to syntax trees (ast), so that nothing is ever evaluated as code.

const drawn = new Map();
// Drawings that are out of sight wait until the browser has nothing better to do.
const later = new Map();
let now = [];
let idle = false;

// `spec` is the look of a chart, `rows` its datasets by name, `ends` the ends of its axes by name. A chart whose look
// stays the same is not made again: it gets the new rows and ends, which is many times faster.
function drawChart(id, spec, rows, ends, onMove) {
  later.delete(id);
  const draw = () => updateChart(id, spec, rows, ends, onMove);
  if (look.boxes[id].near) now.push(draw());
  else later.set(id, draw);
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

async function updateChart(id, spec, rows, ends, onMove) {
  const key = JSON.stringify([spec, Object.keys(rows), look.boxes[id].width, look.colours]);
  const current = drawn.get(id);
  if (current?.key !== key || !current.view) return embedChart(id, key, spec, rows, ends, onMove);
  current.onMove = onMove;
  for (const [name, values] of Object.entries(rows)) current.view.data(name, values);
  for (const [name, value] of Object.entries(ends)) current.view.signal(name, value);
  await current.view.runAsync();
}

// A drawing that was overtaken by a newer one is thrown away.
async function embedChart(id, key, spec, rows, ends, onMove) {
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
    },
    ...spec,
    params: Object.entries(ends).map(([name, value]) => ({ name, value })),
    datasets: rows,
  };
  const plot = element("div");
  const result = await vegaEmbed(plot, full, {
    mode: "vega-lite", ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, hover: false,
  });
  const current = drawn.get(id);
  if (current.ticket !== ticket) return result.finalize();
  current.finalize?.();
  box.replaceChildren(plot);
  drawn.set(id, { ticket, key, view: result.view, onMove, finalize: () => result.finalize() });
  if (spec.encoding?.shape) pointAt(box, result.view, (row) => drawn.get(id).onMove(row));
  else followPointer(box, result.view, (time) => drawn.get(id).onMove(time));
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
  const [left, right] = view.scale("x").range();
  const origin = view.origin()[0] + view.padding().left;
  const cursor = element("div", { class: "cursor", hidden: true });
  box.append(cursor);
  let place = left;
  const show = (x, clientX, clientY) => {
    place = Math.min(Math.max(x, left), right);
    const lines = onMove(view.scale("x").invert(place));
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

// Exact values of the mark under the pointer.
function pointAt(box, view, onMove) {
  view.addEventListener("pointermove", (event, item) => {
    if (item?.mark?.marktype === "symbol") showTip(onMove(item.datum), event.clientX, event.clientY);
    else byId("tip").hidden = true;
  });
  box.onpointerleave = () => (byId("tip").hidden = true);
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

// More lines than this do not fit a screen.
const MOST_TIPS = 16;

// Entries are [arm, label, value]; where there are too many, the best values at that place are listed.
function tipLines(entries, format, larger, noun) {
  const many = entries.length > MOST_TIPS;
  const order = (a, b) => (larger ? orderOf(b[2], a[2]) : orderOf(a[2], b[2]));
  const shown = many ? [...entries].sort(order).slice(0, MOST_TIPS) : entries;
  const lines = shown.map(([arm, label, value]) => [swatch(arm), label, format(value)]);
  return many ? [...lines, [null, `and ${entries.length - MOST_TIPS} ${larger ? "lower" : "higher"} ${noun}`, ""]] : lines;
}

// Ends of axes are parameters, so that another horizon or kernel needs no new chart.
const END = (name) => ({ expr: name });

function timeAxis({ relative, log }) {
  const scale = { type: log ? "log" : "linear", domain: [END("x0"), END("x1")], nice: false, clamp: log };
  return { field: "time", type: "quantitative", scale, title: relative ? "time t/Γ" : "time (s)", axis: { grid: false, tickCount: 6 } };
}

function gapAxis(title) {
  return { type: "quantitative", title, axis: { tickCount: 5 }, scale: { domain: [END("y0"), END("y1")], nice: true, zero: false } };
}

function timeEnds({ end, log, low }) {
  return { x0: log ? low : 0, x1: end };
}

// The range of some fields of some rows; never empty, so that an axis always has ends.
function rangeOf(rows, fields, least = Infinity, most = -Infinity) {
  for (const row of rows) {
    for (const field of fields) {
      if (!Number.isFinite(row[field])) continue;
      least = Math.min(least, row[field]);
      most = Math.max(most, row[field]);
    }
  }
  if (!(least <= most)) return [0, 1];
  return least < most ? [least, most] : [least - 0.05, most + 0.05];
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
      if (!clock.log || time >= clock.low) {
        const joint = band.joint_low ? { joint_low: band.joint_low[k], joint_high: band.joint_high[k] } : {};
        rows.push({ arm, time, low: band.low[k], high: band.high[k], ...joint });
      }
    });
  }
  return rows;
}

// On a linear clock the first moments, when nothing is found yet, would press everything else to the floor: they may
// leave the figure at its top. A logarithmic clock shows them.
const FIRST_MOMENTS = 0.01;

// The ends of the gap axis for some step curves, and whether something was cut off.
function gapEnds(curves, spans, { end, log }, least = Infinity, most = -Infinity) {
  const from = log ? 0 : FIRST_MOMENTS * end;
  const seen = [];
  let top = most;
  for (const curve of curves) {
    if (!curve.time.length) continue;
    seen.push({ low: valueAt(curve, Math.max(from, curve.time[0])) });
    for (let k = 0; k < curve.time.length; k++) {
      if (curve.time[k] >= from) seen.push({ low: curve.value[k] });
      if (curve.value[k] > top) top = curve.value[k];
    }
  }
  const [low, high] = rangeOf(seen, ["low"], least, most);
  // Few instances make wide bands: a quarter of the curves' own range is enough of them.
  const room = 0.25 * (high - low);
  const [down, up] = rangeOf(spans.filter((row) => row.time >= from), ["low", "high", "joint_low", "joint_high"], low, high);
  const [y0, y1] = [Math.max(down, low - room), Math.min(up, high + room)];
  return { y0, y1, cut: top > y1 + 0.05 * (y1 - y0) };
}

// What a logarithmic axis does with the time before it begins.
function logWords({ log, low, relative }) {
  return log ? ` Logarithmic time from ${formatValue(low, 3)} ${relative ? "of the horizon" : "s"} on: what holds there is drawn from there, and areas are no scores.` : "";
}

const CUT_WORDS = " The first moments leave the figure at its top; the logarithmic time axis shows them.";

// Step curves by arm, with their bands where these apply; returns whether something was cut off.
function drawCurves(id, curves, { clock, title, share, format, bands, description }) {
  const y = gapAxis(title);
  if (share) Object.assign(y, { axis: { tickCount: 5, format: "%" }, scale: { ...y.scale, nice: false } });
  const x = timeAxis(clock);
  const { color, strokeDash } = armScales();
  const below = [...curves].sort(greyFirst);
  const lines = below.flatMap(({ arm, curve }) => curveRows(curve, arm, clock));
  const spans = bands ? bandRows(bands, clock) : [];
  const { y0, y1, cut } = share ? { y0: -0.01, y1: 1.02 } : gapEnds(curves.map(({ curve }) => curve), spans, clock);
  const span = (low, high, opacity) => ({
    data: { name: "spans" }, mark: { type: "area", interpolate: "step-after", opacity, clip: true },
    encoding: { x, y: { ...y, field: low }, y2: { field: high }, color },
  });
  const joint = spans.length > 0 && "joint_low" in spans[0];
  const layer = [
    ...(joint ? [span("joint_low", "joint_high", 0.08)] : []),
    span("low", "high", 0.16),
    {
      data: { name: "lines" }, mark: { type: "line", interpolate: "step-after", strokeWidth: 2, clip: true },
      encoding: { x, y: { ...y, field: "value" }, color, strokeDash },
    },
  ];
  drawChart(id, { height: 300, description, layer }, { spans, lines }, { ...timeEnds(clock), y0, y1 }, (time) => [
    [null, clock.relative ? "t/Γ" : "time", clock.relative ? formatValue(time, 4) : `${formatValue(time, 5)} s`],
    ...tipLines(curves.map(({ arm, curve }) => [arm, page.head.arms[arm], valueAt(curve, time)]), format, share, "arms"),
  ]);
  return cut;
}

function drawPanels(points) {
  const { color, shape } = armScales();
  // With a no-break space behind it a panel is never named like something that every object has, `__proto__` say.
  points = [...points].sort(greyFirst).map((point) => ({ ...point, panel: visible(point.panel) + "\u00a0" }));
  const names = [...new Set(points.map((point) => point.panel))];
  const [x0, x1] = rangeOf(points, ["value"]);
  drawChart("panel-chart", {
    height: 26 * names.length + 50, description: "Mean score of each arm in each panel", data: { name: "points" },
    mark: { type: "point", filled: true, size: 90, opacity: 0.9 },
    encoding: {
      y: { field: "panel", type: "nominal", title: null, sort: null, scale: { domain: names }, axis: { grid: true, domain: false, ticks: false } },
      x: { field: "value", type: "quantitative", title: "mean score", scale: { domain: [END("x0"), END("x1")], zero: false, nice: true }, axis: { tickCount: 6 } },
      color, shape,
    },
  }, { points }, { x0, x1 }, ({ arm, panel, value }) => [[swatch(arm), `${page.head.arms[arm]} · ${panel}`, formatScore(value, 6)]]);
}

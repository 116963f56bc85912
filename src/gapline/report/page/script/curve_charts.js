// The axes of curves, their rows, and the charts of means over time and by panel.

// Ends of axes are parameters, so that another horizon or kernel needs no new chart.
const END = (name) => ({ expr: name });

function timeAxis({ relative, log }) {
  const scale = { type: log ? "log" : "linear", domain: [END("x0"), END("x1")], nice: false, clamp: log };
  return { field: "time", type: "quantitative", scale, title: relative ? "time t/Γ" : "time (s)", axis: { grid: false, tickCount: 6 } };
}

function gapAxis(title, log = false) {
  const scale = { type: log ? "log" : "linear", domain: [END("y0"), END("y1")], nice: false, clamp: log, ...(log ? {} : { zero: false }) };
  return { type: "quantitative", title, axis: { tickCount: 5, ...(log ? { format: "~g" } : {}) }, scale };
}

function timeEnds({ end, log, low, x0 = log ? low : 0, x1 = end }) {
  return { x0, x1 };
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

// The ends of an axis on round numbers, about `count` steps of 1, 2 or 5 apart.
function roundEnds(low, high, count = 5) {
  const least = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const error = least / power;
  const step = power * (error >= Math.sqrt(50) ? 10 : error >= Math.sqrt(10) ? 5 : error >= Math.sqrt(2) ? 2 : 1);
  return [Math.floor(low / step) * step, Math.ceil(high / step) * step];
}

// More breakpoints than pixels do not show: of those in one place the last is drawn.
const MOST_PLACES = 600;

// The breakpoints in sight as rows; the first holds what was before, the last value is held to the end.
function curveRows(curve, arm, clock) {
  const { x0, x1 } = timeEnds(clock);
  const rows = [];
  const many = curve.time.length > MOST_PLACES;
  let last = -1;
  let place = -1;
  for (let k = 0; k < curve.time.length && curve.time[k] <= x1; k++) {
    const time = Math.max(curve.time[k], x0);
    const share = clock.log ? Math.log(time / x0) / Math.log(x1 / x0) : (time - x0) / (x1 - x0);
    place = many ? Math.floor(share * MOST_PLACES) : time;
    if (place === last) rows.pop();
    rows.push({ arm, time, value: curve.value[k] });
    last = place;
  }
  if (rows.length) rows.push({ arm, time: x1, value: rows[rows.length - 1].value });
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
function gapEnds(curves, spans, clock, least = Infinity, most = -Infinity) {
  const { x0, x1 } = timeEnds(clock);
  const from = clock.log ? 0 : Math.max(x0, FIRST_MOMENTS * clock.end);
  const seen = [];
  let top = most;
  for (const curve of curves) {
    if (!curve.time.length) continue;
    seen.push({ low: valueAt(curve, Math.max(from, x0, curve.time[0])) });
    for (let k = 0; k < curve.time.length && curve.time[k] <= x1; k++) {
      if (curve.time[k] >= Math.max(from, x0)) seen.push({ low: curve.value[k] });
      if (curve.time[k] >= x0 && curve.value[k] > top) top = curve.value[k];
    }
  }
  const [low, high] = rangeOf(seen, ["low"], least, most);
  // Few instances make wide bands: a quarter of the curves' own range is enough of them.
  const room = 0.25 * (high - low);
  const [down, up] = rangeOf(spans.filter((row) => row.time >= from && row.time <= x1), ["low", "high", "joint_low", "joint_high"], low, high);
  const [y0, y1] = [Math.max(down, low - room), Math.min(up, high + room)];
  return { y0, y1, cut: top > y1 + 0.05 * (y1 - y0) };
}

// The smallest value above zero that is in sight: where a logarithmic axis begins, at most six decades below its end.
function leastPositive(curves, { x0, x1 }, high) {
  let least = high / 10;
  for (const curve of curves) {
    for (let k = 0; k < curve.time.length && curve.time[k] <= x1; k++) {
      const until = k + 1 < curve.time.length ? curve.time[k + 1] : Infinity;
      if (until > x0 && curve.value[k] > 0 && curve.value[k] < least) least = curve.value[k];
    }
  }
  return Math.max(0.9 * least, high * 1e-6);
}

// A line along the frame would lose half of its width.
const SHARE_ENDS = [-0.01, 1.02];

// The ends of a value axis as the reader set them, else round ones around the data.
function valueEnds(curves, spans, clock, axis, share) {
  const { y0, y1, cut } = share ? { y0: 0, y1: 1 } : gapEnds(curves, spans, clock);
  let [low, high] = share ? SHARE_ENDS : axis.log ? [y0, y1] : roundEnds(y0, y1);
  if (axis.high !== null && (axis.high > 0 || !axis.log)) high = axis.high;
  if (axis.log) {
    high = high > 0 ? high : 1;
    low = leastPositive(curves, clock, high);
  }
  if (axis.low !== null && (axis.low > 0 || !axis.log)) low = axis.low;
  // Ends the wrong way round show nothing: then they are as if nobody had set them.
  if (!(low < high)) return valueEnds(curves, spans, clock, { ...axis, low: null, high: null }, share);
  return { low, high, cut: cut && axis.high === null };
}

// What a logarithmic axis does with the time before it begins.
function logWords({ log, low, relative }) {
  return log ? ` Logarithmic time from ${formatValue(low, 3)} ${relative ? "of the horizon" : "s"} on: what holds there is drawn from there, and areas are no scores.` : "";
}

const CUT_WORDS = " The first moments leave the figure at its top; the logarithmic time axis shows them.";

// Step curves by arm, with their bands where these apply; returns what the caption says of the axes.
function drawCurves(id, curves, { clock, axis, title, share, format, bands, description }) {
  const spans = bands ? bandRows(bands, clock) : [];
  const { low, high, cut } = valueEnds(curves.map(({ curve }) => curve), spans, clock, axis, share);
  showEnds(axis.name, share ? Math.max(low, 0) : low, share ? Math.min(high, 1) : high);
  const arms = curves.map(({ arm }) => arm);
  const ends = curves.map(({ arm, curve }) => [arm, valueAt(curve, clock.x1)]);
  const height = labelledHeight(arms, 270);
  const share01 = axis.log ? (value) => Math.log(Math.max(value, low) / low) / Math.log(high / low) : (value) => (value - low) / (high - low);
  // A line that leaves the chart has no name at its edge.
  const place = (value) => (Number.isFinite(value) && share01(value) >= -0.001 && share01(value) <= 1.001 ? height * (1 - share01(value)) : null);
  const labels = () => endLabels(ends, place, height, look.boxes[id].width);
  const make = () => {
    const y = gapAxis(title, axis.log);
    if (share) y.axis = { ...y.axis, format: "~%" };
    const x = timeAxis(clock);
    const { color, strokeDash } = armScales();
    const span = (least, most, opacity) => ({
      data: { name: "spans" }, mark: { type: "area", interpolate: "step-after", opacity, clip: true },
      encoding: { x, y: { ...y, field: least }, y2: { field: most }, color, opacity: { condition: { test: "lit < 0 || datum.arm === lit", value: opacity }, value: opacity / 4 } },
    });
    const joint = spans.length > 0 && "joint_low" in spans[0];
    const named = labels();
    const layer = [
      ...(joint ? [span("joint_low", "joint_high", 0.08)] : []),
      span("low", "high", 0.16),
      {
        data: { name: "lines" }, mark: { type: "line", interpolate: "step-after", clip: true },
        encoding: { x, y: { ...y, field: "value" }, color, strokeDash, opacity: FADING, strokeWidth: thicker(2) },
      },
      markLayer(x, y),
      ...named.layers,
    ];
    const lines = [...curves].sort(greyFirst).flatMap(({ arm, curve }) => curveRows(curve, arm, clock));
    const marks = marksOf(curves.filter(({ arm }) => !isGrey(arm)), clock);
    return { spec: { height, description, layer }, rows: { spans, lines, marks, labels: named.labels }, ends: { ...timeEnds(clock), y0: low, y1: high } };
  };
  drawChart(id, make, {
    axis, labels: labels().labels,
    at: (time) => curves.map(({ arm, curve }) => [arm, valueAt(curve, time)]),
    tip: (time) => [
      [null, clock.relative ? "t/Γ" : "time", clock.relative ? formatValue(time, 4) : `${formatValue(time, 5)} s`],
      ...tipLines(curves.map(({ arm, curve }) => [arm, page.head.arms[arm], valueAt(curve, time)]), format, share, "arms"),
    ],
  });
  return (cut ? CUT_WORDS : "") + logWords(clock) + axisWords(clock, axis, low);
}

function drawPanels(points) {
  // With a no-break space behind it a panel is never named like something that every object has, `__proto__` say.
  points = [...points].sort(greyFirst).map((point) => ({ ...point, panel: visible(point.panel) + "\u00a0" }));
  const names = [...new Set(points.map((point) => point.panel))];
  const [x0, x1] = rangeOf(points, ["value"]);
  const make = () => {
    const { color, shape } = armScales();
    return {
      spec: {
        height: 26 * names.length, description: "Mean score of each arm in each panel", data: { name: "points" },
        mark: { type: "point", filled: true, size: 90 },
        encoding: {
          y: { field: "panel", type: "nominal", title: null, sort: null, scale: { domain: names }, axis: { grid: true, domain: false, ticks: false } },
          x: { field: "value", type: "quantitative", title: "mean score", scale: { domain: [END("x0"), END("x1")], zero: false, nice: true }, axis: { tickCount: 6 } },
          color, shape, opacity: { ...FADING, condition: { ...FADING.condition, value: 0.9 } },
        },
      },
      rows: { points }, ends: { x0, x1 },
    };
  };
  drawChart("panel-chart", make, { mark: ({ arm, panel, value }) => [[swatch(arm), `${page.head.arms[arm]} · ${panel}`, formatScore(value, 6)]] });
}

// The trace of a run under way: what it holds so far, the reference, and how far the time is.

const TRACE = { width: 320, height: 112, left: 8, right: 312, top: 18, bottom: 92 };

function traceDrawing({ trace, horizon, known, reference, incumbent }) {
  const { width, height, left, right, top, bottom } = TRACE;
  const { time, objective } = trace;
  // The first moments would press everything else to the floor.
  const settled = objective.filter((_, k) => k === objective.length - 1 || time[k] >= 0.01 * horizon);
  const seen = [...settled, reference].filter((value) => value !== null && Number.isFinite(value));
  const [low, high] = seen.length ? [Math.min(...seen), Math.max(...seen)] : [0, 1];
  const x = (t) => left + ((right - left) * Math.min(Math.max(t, 0), horizon)) / horizon;
  const y = (z) => bottom - ((bottom - top) * (Math.min(Math.max(z, low), high) - low)) / (high - low || 1);
  const round = (value) => Math.round(10 * value) / 10;
  const line = (name, x1, y1, x2, y2) => element("svg:line", { class: name, x1: round(x1), y1: round(y1), x2: round(x2), y2: round(y2) });
  const text = (anchor, at, level, words) => element("svg:text", { "text-anchor": anchor, x: round(at), y: round(level) }, words);
  const parts = [line("axis", left, bottom, right, bottom)];
  if (reference !== null) parts.push(line("reference", left, y(reference), right, y(reference)));
  if (time.length) {
    let path = `M${round(x(time[0]))} ${round(y(objective[0]))}`;
    for (let k = 1; k < time.length; k++) path += `H${round(x(time[k]))}V${round(y(objective[k]))}`;
    const end = Math.max(known ?? 0, time.at(-1));
    parts.push(element("svg:path", { class: "steps", d: `${path}H${round(x(end))}` }), line("held", x(end), y(objective.at(-1)), right, y(objective.at(-1))));
    parts.push(text("start", left, y(objective[0]) - 5, formatValue(objective[0], 7)));
  }
  if (known !== null) parts.push(line("now", x(known), top - 4, x(known), bottom));
  // Below the axis: beside its line it would meet the trace, which comes close to it.
  if (reference !== null) parts.push(text("middle", (left + right) / 2, bottom + 14, `╌ reference ${formatValue(reference, 7)}`));
  parts.push(text("start", left, bottom + 14, "0 s"), text("end", right, bottom + 14, `${formatValue(horizon)} s`));
  const words = time.length ? `${time.length} steps, incumbent ${formatValue(incumbent)}` : "no candidate yet";
  return element("svg:svg", { class: "trace", viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": words }, ...parts);
}

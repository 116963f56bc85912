// The gap of several runs over time, one thin line each.
function drawRuns(curves, lines, clock, onMove) {
  const { color, strokeDash } = armScales();
  const { y0, y1, cut } = gapEnds(curves, [], clock);
  drawChart("instance-chart", {
    height: 240, description: "Gap of every run on this instance over time", data: { name: "lines" },
    mark: { type: "line", interpolate: "step-after", strokeWidth: 1.4, opacity: 0.8, clip: true },
    encoding: { x: timeAxis(clock), y: { ...gapAxis("gap"), field: "value" }, color, strokeDash, detail: { field: "run" } },
  }, { lines }, { ...timeEnds(clock), y0, y1 }, onMove);
  return cut;
}

// One run: its gap with the signed area that the score is the mean of, and its rejected candidates.
function drawRun(curve, steps, marks, clock, onMove) {
  const { colours } = look;
  const x = timeAxis(clock);
  const y = gapAxis("gap");
  const area = (field, color) => ({
    data: { name: "area" }, mark: { type: "area", interpolate: "step-after", opacity: 0.18, color, clip: true },
    encoding: { x, y: { ...y, field }, y2: { field: "zero" } },
  });
  const line = { type: "line", interpolate: "step-after", strokeWidth: 2, color: colours.ink, clip: true };
  const cross = { type: "point", shape: "cross", angle: 45, size: 70, filled: true, color: colours.warn, clip: true };
  const { y0, y1, cut } = gapEnds([curve], marks.map(({ time, value }) => ({ time, low: value })), clock, 0, 0);
  drawChart("run-chart", {
    height: 280, description: "Gap of this run over time; crosses mark rejected candidates",
    layer: [
      area("up", colours.above), area("down", colours.below),
      { data: { name: "axis" }, mark: { type: "rule", color: colours.soft }, encoding: { y: { ...y, field: "zero" } } },
      { data: { name: "steps" }, mark: line, encoding: { x, y: { ...y, field: "value" } } },
      { data: { name: "marks" }, mark: cross, encoding: { x, y: { ...y, field: "value" } } },
    ],
  }, {
    area: steps.map((row) => ({ time: row.time, up: Math.max(row.value, 0), down: Math.min(row.value, 0), zero: 0 })),
    axis: [{ zero: 0 }], steps, marks,
  }, { ...timeEnds(clock), y0, y1 }, onMove);
  return cut;
}

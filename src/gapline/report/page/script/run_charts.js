// The gap of several runs over time, one thin line each; the name of an arm stands at the run of it that ends best.
function drawRuns(runs, clock, tip) {
  const { y0, y1, cut } = gapEnds(runs.map(({ curve }) => curve), [], clock);
  const [low, high] = roundEnds(y0, y1);
  const best = new Map();
  for (const { arm, curve } of runs) {
    const last = curve.value[curve.value.length - 1];
    if (Number.isFinite(last) && !(best.get(arm) <= last)) best.set(arm, last);
  }
  const height = labelledHeight([...best.keys()], 240);
  const place = (value) => (value >= low && value <= high ? (height * (high - value)) / (high - low) : null);
  const labels = () => endLabels([...best], place, height, look.boxes["instance-chart"].width);
  const make = () => {
    const { color, strokeDash } = armScales();
    const named = labels();
    const [x, y] = [timeAxis(clock), gapAxis("gap")];
    const lines = {
      data: { name: "lines" }, mark: { type: "line", interpolate: "step-after", clip: true },
      encoding: { x, y: { ...y, field: "value" }, color, strokeDash, detail: { field: "run" }, opacity: FADING, strokeWidth: thicker(1.4) },
    };
    return {
      spec: { height, description: "Gap of every run on this instance over time", layer: [lines, ...named.layers] },
      rows: { lines: [...runs].sort(greyFirst).flatMap(({ rows }) => rows), labels: named.labels }, ends: { ...timeEnds(clock), y0: low, y1: high },
    };
  };
  drawChart("instance-chart", make, { tip, labels: labels().labels, at: (time) => runs.map(({ arm, curve }) => [arm, valueAt(curve, time)]) });
  return cut;
}

// One run: its gap with the signed area that the score is the mean of, and its rejected candidates.
function drawRun(curve, steps, marks, clock, tip) {
  const { y0, y1, cut } = gapEnds([curve], marks.map(({ time, value }) => ({ time, low: value })), clock, 0, 0);
  const [low, high] = roundEnds(y0, y1);
  const make = () => {
    const { colours } = look;
    const x = timeAxis(clock);
    const y = gapAxis("gap");
    const area = (field, color) => ({
      data: { name: "area" }, mark: { type: "area", interpolate: "step-after", opacity: 0.18, color, clip: true },
      encoding: { x, y: { ...y, field }, y2: { field: "zero" } },
    });
    const line = { type: "line", interpolate: "step-after", strokeWidth: 2, color: colours.ink, clip: true };
    const cross = { type: "point", shape: "cross", angle: 45, size: 70, filled: true, color: colours.warn, clip: true };
    return {
      spec: {
        height: 250, description: "Gap of this run over time; crosses mark rejected candidates",
        layer: [
          area("up", colours.above), area("down", colours.below),
          { data: { name: "axis" }, mark: { type: "rule", color: colours.soft }, encoding: { y: { ...y, field: "zero" } } },
          { data: { name: "steps" }, mark: line, encoding: { x, y: { ...y, field: "value" } } },
          { data: { name: "marks" }, mark: cross, encoding: { x, y: { ...y, field: "value" } } },
        ],
      },
      rows: {
        area: steps.map((row) => ({ time: row.time, up: Math.max(row.value, 0), down: Math.min(row.value, 0), zero: 0 })),
        axis: [{ zero: 0 }], steps, marks,
      },
      ends: { ...timeEnds(clock), y0: low, y1: high },
    };
  };
  drawChart("run-chart", make, { tip });
  return cut;
}

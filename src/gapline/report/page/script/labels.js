// Marks along the lines and names at their ends, which keep clear of each other.

const LABEL_HEIGHT = 13;
// From the plot to the name: the line that leads there, and the arm's mark.
const LEADER = 22;
// Narrower charts have no room for more than a few letters.
const NARROW = 520;

// Places at least `gap` apart between 0 and `room`, as near to the wanted ones, which rise, as a pass each way gets.
function spread(wanted, gap, room) {
  const places = [...wanted];
  for (let k = 1; k < places.length; k++) places[k] = Math.max(places[k], places[k - 1] + gap);
  for (let k = places.length - 1, most = room; k >= 0; k--, most = places[k + 1] - gap) places[k] = Math.min(places[k], most);
  return places;
}

// Of very many arms those in colour have names; a name that would stand far from its line helps nobody.
function labelled(arms) {
  const some = [...new Set(arms)].filter((arm) => !isGrey(arm));
  return some.length > page.head.mostLooks ? [] : some;
}

// As high as the names need.
function labelledHeight(arms, height) {
  return Math.max(height, LABEL_HEIGHT * (labelled(arms).length + 1));
}

// Layers and rows for the names of `ends`, [arm, value] each; `place` gives the pixel of a value, null out of sight.
function endLabels(ends, place, height, width) {
  const wanted = new Set(labelled(ends.map(([arm]) => arm)));
  const found = ends.filter(([arm]) => wanted.has(arm)).map(([arm, value]) => ({ arm, end: place(value) }));
  const shown = found.filter(({ end }) => end !== null).sort((a, b) => a.end - b.end);
  const brief = width < NARROW;
  const places = spread(shown.map(({ end }) => end), LABEL_HEIGHT, height);
  const labels = shown.map((row, k) => ({ ...row, at: places[k], name: page.head.looks[row.arm][brief ? "brief" : "label"] }));
  const { color, shape } = armScales();
  const pixel = (field) => ({ field, type: "quantitative", scale: null, axis: null });
  const base = { data: { name: "labels" } };
  const beside = (dx) => ({ value: { expr: `width + ${dx}` } });
  const layers = [
    { ...base, mark: { type: "rule", aria: false, strokeWidth: 1 }, encoding: { x: beside(0), x2: beside(LEADER - 8), y: pixel("end"), y2: { field: "at" }, color, opacity: FADING } },
    { ...base, mark: { type: "point", aria: false, filled: true, size: 45 }, encoding: { x: beside(LEADER - 4), y: pixel("at"), color, shape, opacity: FADING } },
    { ...base, mark: { type: "text", aria: false, align: "left", baseline: "middle", dx: LEADER + 3, fontSize: 11 }, encoding: { x: beside(0), y: pixel("at"), text: { field: "name", type: "nominal" }, opacity: FADING } },
  ];
  return { labels, layers };
}

// A few marks on each line, at other times for each arm, so that they do not lie on one another.
function marksOf(curves, { x0, x1, log }) {
  const count = curves.length > page.head.leaders ? 4 : 5;
  return curves.flatMap(({ arm, curve }) => {
    const shift = 0.15 + 0.7 * ((arm * 0.618034) % 1);
    return Array.from({ length: count }, (_, k) => (k + shift) / count)
      .map((share) => (log ? x0 * (x1 / x0) ** share : x0 + (x1 - x0) * share))
      .map((time) => ({ arm, time, value: valueAt(curve, time) }))
      // Before a line moves it lies where all others do.
      .filter(({ value }) => Number.isFinite(value) && value !== curve.value[0]);
  });
}

function markLayer(x, y) {
  const { color, shape } = armScales();
  return {
    data: { name: "marks" }, mark: { type: "point", aria: false, filled: true, size: 55, opacity: 1, clip: true, stroke: look.colours.card, strokeWidth: 0.6 },
    encoding: { x, y: { ...y, field: "value" }, color, shape, opacity: FADING },
  };
}

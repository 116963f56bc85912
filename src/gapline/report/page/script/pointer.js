// What the pointer and the keys find in a chart: exact values at a time, the nearest arm, and what is marked.

// A line is meant where it is at most so many pixels away.
const REACH = 14;

// A `reader` has `tip(time)`, the lines of the tip; `at(time)`, [arm, value] of every line; `axis`, where it can be
// zoomed; or, in a chart without time, `mark(row)`. The box stays while drawings in it come and go.
function followPointer(box, id) {
  const { view, reader } = drawn.get(id);
  for (const name of ["onpointermove", "onpointerdown", "onpointerup", "onpointerleave", "onblur", "onkeydown", "ondblclick"]) box[name] = null;
  if (reader.mark) return pointAt(box, view, id);
  // Where the plot is in the box: other numbers at its axes move it.
  const plot = () => ({
    left: view.origin()[0] + view.padding().left, top: view.origin()[1] + view.padding().top,
    width: view.scale("x").range()[1], height: view.scale("y").range()[0],
  });
  const cursor = element("div", { class: "cursor", hidden: true });
  box.append(cursor);
  const zoom = reader.axis ? zoomByDrag(box, plot, view, reader.axis) : null;
  let place = 0;
  const read = () => drawn.get(id).reader;
  const within = (x) => Math.min(Math.max(x, 0), plot().width);
  const timeAt = (x) => view.scale("x").invert(within(x));
  // The arm whose line, or whose name beside the plot, is nearest.
  const nearest = (x, y) => {
    const found = x > plot().width ? (read().labels || []).map(({ arm, at }) => [arm, at]) : (read().at?.(timeAt(x)) || []).map(([arm, value]) => [arm, view.scale("y")(value)]);
    const distance = ([, at]) => Math.abs(at - y);
    const first = found.filter(([, at]) => Number.isFinite(at)).sort((a, b) => distance(a) - distance(b))[0];
    return first && distance(first) <= REACH ? first[0] : null;
  };
  const show = (x, clientX, clientY) => {
    place = within(x);
    const frame = plot();
    cursor.hidden = false;
    Object.assign(cursor.style, { left: `${frame.left + place}px`, top: `${frame.top}px`, height: `${frame.height}px` });
    // Beside the plot a name is pointed at: then its arm alone is told.
    const lines = read().tip(timeAt(place));
    showTip(x > frame.width ? lines.filter(([, , , arm], k) => k === 0 || arm === page.lit) : lines, clientX, clientY);
  };
  const hide = () => {
    cursor.hidden = true;
    byId("tip").hidden = true;
    light(null);
  };
  box.onpointermove = (event) => {
    if (zoom?.dragging()) {
      hide();
      return zoom.move(event);
    }
    const corner = box.getBoundingClientRect();
    const frame = plot();
    const x = event.clientX - corner.left - frame.left;
    light(nearest(x, event.clientY - corner.top - frame.top));
    show(x, event.clientX, event.clientY);
  };
  box.onpointerleave = hide;
  box.onblur = hide;
  box.tabIndex = 0;
  box.setAttribute("role", "group");
  box.onkeydown = (event) => {
    if (event.key === "Escape") hide();
    const steps = { ArrowLeft: -1, ArrowRight: 1, PageUp: -20, PageDown: 20, Home: -Infinity, End: Infinity, ArrowUp: 0, ArrowDown: 0 };
    if (!(event.key in steps) || event.target !== box) return;
    event.preventDefault();
    const frame = plot();
    const x = within(place + (steps[event.key] * frame.width) / 100);
    // Up and down go from line to line, as they lie at this time.
    if (event.key === "ArrowUp" || event.key === "ArrowDown") {
      const order = [...new Set((read().at?.(timeAt(x)) || []).filter(([, value]) => Number.isFinite(value)).sort((a, b) => view.scale("y")(a[1]) - view.scale("y")(b[1])).map(([arm]) => arm))];
      const from = order.indexOf(page.lit);
      const down = event.key === "ArrowDown";
      if (order.length) light(order[from < 0 ? (down ? 0 : order.length - 1) : Math.min(Math.max(from + (down ? 1 : -1), 0), order.length - 1)]);
    }
    const corner = box.getBoundingClientRect();
    show(x, corner.left + frame.left + x, corner.top + 40);
  };
}

// Exact values of the mark under the pointer.
function pointAt(box, view, id) {
  view.addEventListener("pointermove", (event, item) => {
    const marked = item?.mark?.marktype === "symbol" && item.datum?.arm !== undefined;
    light(marked ? item.datum.arm : null);
    if (marked) showTip(drawn.get(id).reader.mark(item.datum), event.clientX, event.clientY);
    else byId("tip").hidden = true;
  });
  box.onpointerleave = () => {
    byId("tip").hidden = true;
    light(null);
  };
}

// Lines are [swatch or null, label, value, arm].
function showTip(lines, x, y) {
  const tip = byId("tip");
  tip.replaceChildren(
    ...lines.map(([mark, label, value, arm]) => element("div", { class: arm !== undefined && arm === page.lit ? "lit" : null }, element("span", {}, mark || "", mark ? " " : "", label), element("b", {}, value))),
  );
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, x + 14 + width > innerWidth ? x - width - 14 : x + 14)}px`;
  tip.style.top = `${Math.max(4, Math.min(y + 14, innerHeight - height - 4))}px`;
}

// More lines than this do not fit a screen.
const MOST_TIPS = 16;

// Entries are [arm, label, value]; where there are too many, the best values at that place are listed, and the lit one.
function tipLines(entries, format, larger, noun) {
  const many = entries.length > MOST_TIPS;
  const order = (a, b) => (larger ? orderOf(b[2], a[2]) : orderOf(a[2], b[2]));
  const sorted = many ? [...entries].sort(order) : entries;
  const shown = sorted.filter(([arm], k) => k < MOST_TIPS || arm === page.lit);
  const lines = shown.map(([arm, label, value]) => [swatch(arm), label, format(value), arm]);
  return many ? [...lines, [null, `and ${entries.length - shown.length} ${larger ? "lower" : "higher"} ${noun}`, ""]] : lines;
}

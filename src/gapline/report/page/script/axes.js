// Which part of the curves is shown, and on which axes: in the address of the page, in fields, and by dragging.

// In seconds or shares of the horizon; null is as far as the data go.
const AXES = { "from": null, "to": null, "gap-low": null, "gap-high": null, "gap-log": false, "share-low": null, "share-high": null, "share-log": false };

function writeAxes(words, axes) {
  for (const [name, whole] of Object.entries(AXES)) if (axes[name] !== whole) words.set(name, String(axes[name]));
}

function readAxes(words) {
  const axes = { ...AXES };
  for (const [name, whole] of Object.entries(AXES)) {
    if (whole === false) axes[name] = words.get(name) === "true";
    else if (words.get(name)?.trim() && Number.isFinite(Number(words.get(name)))) axes[name] = Number(words.get(name));
  }
  return axes;
}

// The part of a clock that is shown; one that would be empty is the whole.
function windowOf(clock, axes) {
  const [least, end] = [clock.log ? clock.low : 0, clock.end];
  const x0 = Math.max(axes.from ?? least, least);
  const x1 = Math.min(axes.to ?? end, end);
  return x0 < x1 ? { ...clock, x0, x1, cut: x0 > least || x1 < end } : { ...clock, x0: least, x1: end, cut: false };
}

// What a reader set of the axis named `gap` or `share`.
function valueAxis(axes, name) {
  return { name, low: axes[`${name}-low`], high: axes[`${name}-high`], log: axes[`${name}-log`] };
}

function axisWords({ x0, x1, cut, relative }, axis, bottom) {
  const unit = relative ? "of the horizon" : "s";
  const part = cut ? ` Shown: ${formatValue(x0, 4)} to ${formatValue(x1, 4)} ${unit}.` : "";
  return part + (axis.log ? ` Logarithmic ${axis.name} from ${formatValue(bottom, 3)} on: what is below, zero too, lies on the lower edge.` : "");
}

// A share is set in percent.
function fieldScale(name) {
  return name.startsWith("share") ? 100 : 1;
}

function showAxes(clock) {
  const { axes } = page.choice;
  for (const [name, whole] of Object.entries(AXES)) {
    const field = byId(`axis-${name}`);
    if (whole === false) field.checked = axes[name];
    else if (document.activeElement !== field) field.value = axes[name] === null ? "" : String(Number((axes[name] * fieldScale(name)).toPrecision(6)));
  }
  byId("axis-from").placeholder = formatValue(clock.log ? clock.low : 0, 3);
  byId("axis-to").placeholder = formatValue(clock.end, 6);
  byId("axis-unit").textContent = clock.relative ? "t/Γ" : "s";
  byId("axes-reset").disabled = Object.entries(AXES).every(([name, whole]) => axes[name] === whole);
}

// What an empty field stands for.
function showEnds(name, low, high) {
  byId(`axis-${name}-low`).placeholder = formatValue(low * fieldScale(name), 3);
  byId(`axis-${name}-high`).placeholder = formatValue(high * fieldScale(name), 3);
}

function chooseAxes(change) {
  choose({ axes: { ...page.choice.axes, ...change } });
}

function listenForAxes() {
  for (const [name, whole] of Object.entries(AXES)) {
    byId(`axis-${name}`).addEventListener("change", ({ target }) => {
      const number = target.value.trim() === "" ? null : Number(target.value) / fieldScale(name);
      chooseAxes({ [name]: whole === false ? target.checked : Number.isFinite(number) ? number : null });
    });
  }
  byId("axes-reset").addEventListener("click", () => chooseAxes(AXES));
}

// Less than this is a click, not a drag.
const LEAST_DRAG = 6;

// A box is drawn over the chart while the pointer is down; what it covers is shown when it is let go. `plot` says
// where it is in pixels of the box: {left, top, width, height}; `view` has its scales.
function zoomByDrag(box, plot, view, axis) {
  const brush = element("div", { class: "brush", hidden: true });
  box.append(brush);
  let start = null;
  const at = (event) => {
    const { left, top } = box.getBoundingClientRect();
    const frame = plot();
    const inside = (value, most) => Math.min(Math.max(value, 0), most);
    return { x: inside(event.clientX - left - frame.left, frame.width), y: inside(event.clientY - top - frame.top, frame.height) };
  };
  // A drag along one axis leaves the other alone.
  const chosen = (a, b) => {
    const wide = Math.abs(a.x - b.x) > LEAST_DRAG;
    const high = Math.abs(a.y - b.y) > (wide ? 4 : 1) * LEAST_DRAG;
    return { x: wide ? [Math.min(a.x, b.x), Math.max(a.x, b.x)] : null, y: high ? [Math.min(a.y, b.y), Math.max(a.y, b.y)] : null };
  };
  box.onpointerdown = (event) => {
    if (event.button !== 0 || event.pointerType === "touch") return;
    start = at(event);
    box.setPointerCapture(event.pointerId);
  };
  const move = (event) => {
    const { x, y } = chosen(start, at(event));
    brush.hidden = !x && !y;
    const frame = plot();
    const [left, right] = x ?? [0, frame.width];
    const [top, bottom] = y ?? [0, frame.height];
    Object.assign(brush.style, { left: `${frame.left + left}px`, width: `${right - left}px`, top: `${frame.top + top}px`, height: `${bottom - top}px` });
  };
  box.onpointerup = (event) => {
    if (!start) return;
    const { x, y } = chosen(start, at(event));
    start = null;
    brush.hidden = true;
    const round = (value) => Number(value.toPrecision(4));
    const change = {};
    if (x) [change.from, change.to] = x.map((place) => round(view.scale("x").invert(place)));
    if (y) [change[`${axis.name}-high`], change[`${axis.name}-low`]] = y.map((place) => round(view.scale("y").invert(place)));
    if (x || y) chooseAxes(change);
  };
  box.onpointercancel = () => ((start = null), (brush.hidden = true));
  box.ondblclick = () => chooseAxes({ from: null, to: null, [`${axis.name}-low`]: null, [`${axis.name}-high`]: null });
  return { move, dragging: () => start !== null };
}

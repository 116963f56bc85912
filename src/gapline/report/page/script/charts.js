// Vega drawings. Specifications are parsed to syntax trees (ast), so that nothing is ever evaluated as code.

const drawn = new Map();
// Drawings that are out of sight wait until the browser has nothing better to do.
const later = new Map();
let now = [];
let idle = false;

// `make` returns a drawing under the colours and widths of `look`: `spec` is the look of a chart, `rows` its datasets by
// name, `ends` the ends of its axes by name. A chart whose look stays the same is not made again: it gets the new rows
// and ends, which is many times faster. `reader` says what the pointer and the keys find in it.
function drawChart(id, make, reader) {
  later.delete(id);
  const draw = () => updateChart(id, make, reader);
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

async function updateChart(id, make, reader) {
  const { spec, rows, ends } = make();
  const key = JSON.stringify([spec, Object.keys(rows), look.boxes[id].width, look.colours]);
  const current = drawn.get(id);
  if (current?.key !== key || !current.view) return embedChart(id, key, make, reader);
  Object.assign(current, { make, reader });
  for (const [name, values] of Object.entries(rows)) current.view.data(name, values);
  for (const [name, value] of Object.entries(ends)) current.view.signal(name, value);
  // Other names and numbers need other room beside the plot.
  await current.view.resize().runAsync();
}

// The whole specification of a drawing, `width` pixels wide.
function fullSpec({ spec, rows, ends }, width, font = "system-ui, sans-serif") {
  const { colours } = look;
  return {
    $schema: "https://vega.github.io/schema/vega-lite/v6.json",
    width: Math.max(200, width), background: null, autosize: { type: "fit-x", contains: "padding" }, padding: 4,
    config: {
      // The chart has a name, and the cursor says its values: marks without any row would be pictures of nothing.
      mark: { aria: false }, view: { stroke: null }, font,
      axis: {
        gridColor: colours.grid, domainColor: colours.soft, tickColor: colours.soft, labelColor: colours.soft,
        titleColor: colours.soft, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal", labelLimit: 170,
      },
      text: { color: colours.ink }, legend: { labelColor: colours.ink, labelFontSize: 12, labelLimit: 300 },
    },
    ...spec,
    params: Object.entries({ ...ends, lit: -1 }).map(([name, value]) => ({ name, value })),
    datasets: rows,
  };
}

const EMBED = { mode: "vega-lite", ast: true, actions: false, renderer: "svg", tooltip: false, defaultStyle: false, hover: false };

// A drawing that was overtaken by a newer one is thrown away.
async function embedChart(id, key, make, reader) {
  const box = byId(id);
  const ticket = (drawn.get(id)?.ticket || 0) + 1;
  drawn.set(id, { ...drawn.get(id), ticket });
  const plot = element("div");
  const result = await vegaEmbed(plot, fullSpec(make(), look.boxes[id].width), EMBED);
  const current = drawn.get(id);
  if (current.ticket !== ticket) return result.finalize();
  current.finalize?.();
  box.replaceChildren(plot);
  drawn.set(id, { ticket, key, view: result.view, make, reader, finalize: () => result.finalize() });
  box.setAttribute("aria-label", result.spec.description);
  followPointer(box, id);
  light(page.lit, true);
}

function clearChart(id, words) {
  later.delete(id);
  const current = drawn.get(id);
  current?.finalize?.();
  drawn.set(id, { ticket: (current?.ticket || 0) + 1 });
  byId(id).replaceChildren(element("p", { class: "caption stale" }, words));
}

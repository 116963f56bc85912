// How an arm looks, wherever it stands: colour, dash, shape and swatch, and who is grey among many.

// Colours, and which charts are in sight, are read once before a drawing changes the page: reading them in between
// would make the browser lay the page out again and again.
let look = null;

// What a sheet of A4 or Letter leaves between its margins; where it leaves less, the style of print makes it fit.
const PAPER_WIDTH = 640;

function readLook() {
  look = { colours: theme(), boxes: {} };
  for (const box of document.querySelectorAll(".chart")) {
    const { top, bottom, width } = box.getBoundingClientRect();
    look.boxes[box.id] = { width: page.printing ? PAPER_WIDTH : Math.floor(width), near: page.printing || (bottom > -200 && top < innerHeight + 200) };
  }
}

// The colours of the page as they are declared, before a dark screen changes them.
function paperVariables() {
  const { style } = Array.from(document.styleSheets[0].cssRules).find((rule) => rule.selectorText === ":root");
  return Object.fromEntries(Array.from(style).filter((name) => name.startsWith("--")).map((name) => [name, style.getPropertyValue(name).trim()]));
}

function theme() {
  const paper = page.printing || page.onPaper;
  const style = getComputedStyle(document.documentElement);
  const declared = paper ? paperVariables() : null;
  const read = (name) => (paper ? declared[name] : style.getPropertyValue(name).trim());
  const dark = !paper && matchMedia("(prefers-color-scheme: dark)").matches;
  return {
    ink: read("--ink"), soft: read("--soft"), grid: read("--grid"), above: read("--area-above"), below: read("--area-below"),
    warn: read("--warn"), pale: read("--pale"), card: read("--card"), dark,
  };
}

// Of very many arms nobody follows one: the best of those shown keep their colours, the others are grey.
function isGrey(arm) {
  const { visible, leaders } = page.summary;
  return visible.length > page.head.mostLooks && !leaders.has(arm);
}

// Grey first, so that what has a colour is drawn on top.
function greyFirst(a, b) {
  return (isGrey(a.arm) ? 0 : 1) - (isGrey(b.arm) ? 0 : 1);
}

// Colour, dash and shape of an arm are Python's (gapline.report.looks), whoever is shown beside it.
function colourOf(arm) {
  if (isGrey(arm)) return look.colours.pale;
  const { colour } = page.head.looks[arm];
  return colour === "#000000" && look.colours.dark ? "#ffffff" : colour;
}

function dashOf(arm) {
  return page.head.looks[arm].dash;
}

function shapeOf(arm) {
  return page.head.looks[arm].shape;
}

// A short piece of the arm's line with its mark, for legends and tables.
function swatch(arm) {
  const colour = colourOf(arm);
  return element("svg:svg", { class: "swatch", viewBox: "0 0 34 12", "aria-hidden": "true" },
    element("svg:line", { x1: 1, x2: 33, y1: 6, y2: 6, stroke: colour, "stroke-width": 2.5, "stroke-dasharray": dashOf(arm).join(" ") }),
    element("svg:path", { d: shapeOf(arm), fill: colour, stroke: look.colours.card, "stroke-width": 0.3, transform: "translate(17 6) scale(4.6)" }));
}

function greyWords() {
  const { visible } = page.summary;
  return visible.length > page.head.mostLooks ? ` In colour: the best ${page.head.leaders} of the ${visible.length} arms shown; hide arms, or double-click one, to see others.` : "";
}

function armScales() {
  const domain = page.head.arms.map((_, arm) => arm);
  const scale = (of) => ({ field: "arm", type: "nominal", legend: null, scale: { domain, range: domain.map(of) } });
  return { color: scale(colourOf), strokeDash: scale(dashOf), shape: scale(shapeOf) };
}

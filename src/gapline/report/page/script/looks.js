// How an arm looks, wherever it stands: colour, dash and swatch, and who is grey among many.

// Colours, and which charts are in sight, are read once before a drawing changes the page: reading them in between
// would make the browser lay the page out again and again.
let look = null;

function readLook() {
  look = { colours: theme(), boxes: {} };
  for (const box of document.querySelectorAll(".chart")) {
    const { top, bottom, width } = box.getBoundingClientRect();
    look.boxes[box.id] = { width: Math.floor(width), near: page.printing || (bottom > -200 && top < innerHeight + 200) };
  }
}

function theme() {
  const style = getComputedStyle(document.documentElement);
  const read = (name) => style.getPropertyValue(name).trim();
  const dark = matchMedia("(prefers-color-scheme: dark)").matches && !page.printing;
  return {
    ink: read("--ink"), soft: read("--soft"), grid: read("--grid"), above: read("--area-above"), below: read("--area-below"),
    warn: read("--warn"), pale: read("--pale"), dark,
  };
}

// Of more arms than this nobody follows one: the best of those shown have the colours, the others are grey.
const MOST_LOOKS = 24;

// The place of an arm in the order of colours; null where it is grey.
function placeOf(arm) {
  const { visible, leaders } = page.summary;
  return visible.length <= MOST_LOOKS ? arm : (leaders.get(arm) ?? null);
}

// Grey first, so that what has a colour is drawn on top.
function greyFirst(a, b) {
  return (placeOf(a.arm) === null ? 0 : 1) - (placeOf(b.arm) === null ? 0 : 1);
}

function colourOf(arm) {
  const place = placeOf(arm);
  if (place === null) return look.colours.pale;
  const colour = page.head.colours[place % page.head.colours.length];
  return colour === "#000000" && look.colours.dark ? "#ffffff" : colour;
}

// Shifted by one in each round of colours, so that no two of 64 arms look alike.
function dashOf(arm) {
  const { colours, dashes } = page.head;
  const place = placeOf(arm) ?? 0;
  return dashes[(place + Math.floor(place / colours.length)) % dashes.length];
}

// A short piece of the arm's line, for legends and tables.
function swatch(arm) {
  const line = element("svg:line", {
    x1: 1, x2: 25, y1: 5, y2: 5, stroke: colourOf(arm), "stroke-width": 3, "stroke-dasharray": dashOf(arm).join(" "),
  });
  return element("svg:svg", { class: "swatch", viewBox: "0 0 26 10", "aria-hidden": "true" }, line);
}

function greyWords() {
  const { visible } = page.summary;
  return visible.length > MOST_LOOKS ? ` In colour: the best ${page.head.colours.length} of the ${visible.length} arms shown; hide arms, or double-click one, to see others.` : "";
}

function armScales() {
  const domain = page.head.arms.map((_, arm) => arm);
  return {
    color: { field: "arm", type: "nominal", legend: null, scale: { domain, range: domain.map(colourOf) } },
    strokeDash: { field: "arm", type: "nominal", legend: null, scale: { domain, range: domain.map(dashOf) } },
  };
}

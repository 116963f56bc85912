// A chart as a file: drawn anew on white paper, at one width and with names for its marks, whatever the screen.

// Pixels of the width, and how many of a PNG stand for one of them.
const [SAVED_WIDTH, SHARPER] = [760, 2];

// Letters and digits of any language.
function fileName(chart, form) {
  const words = [page.head.title, chart].map((text) => visible(text).toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-+|-+$/g, "").slice(0, 60));
  return `${words.filter(Boolean).join("-")}.${form}`;
}

// What a picture does not say by itself, for the file that holds it.
function provenance(caption) {
  const { head, choice } = page;
  const entry = head.snapshots[choice.snapshot];
  return `${choiceWords()}; reference ${visible(entry.name)}, ${entry.policy}, ${entry.digest}; campaign ${head.campaign}; gapline ${head.version}. ${caption}`;
}

function described(svg, title, words) {
  const safe = (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return svg.replace(/^<svg[^>]*>/, (start) => `${start}<title>${safe(title)}</title><desc>${safe(words)}</desc>`);
}

// Points have no names beside them: a legend has these.
function withLegend(spec) {
  if (!spec.encoding?.shape) return spec;
  const arms = page.summary.visible.map(({ arm }) => arm);
  const longest = Math.max(...arms.map((arm) => page.head.looks[arm].label.length));
  const columns = Math.max(1, Math.min(arms.length, Math.floor(SAVED_WIDTH / (7 * longest + 40))));
  const legend = { title: null, orient: "bottom", columns, symbolLimit: 0, values: arms, labelExpr: "names[datum.value]" };
  const { color, shape } = spec.encoding;
  return {
    ...spec, params: [...spec.params, { name: "names", value: page.head.looks.map(({ label }) => label) }],
    encoding: { ...spec.encoding, color: { ...color, legend }, shape: { ...shape, legend } },
  };
}

function paperSpec(id, title) {
  const shown = look;
  page.onPaper = true;
  try {
    look = { colours: theme(), boxes: { ...shown.boxes, [id]: { width: SAVED_WIDTH, near: true } } };
    const spec = withLegend(fullSpec(drawn.get(id).make(), SAVED_WIDTH, "sans-serif"));
    return { ...spec, background: "#ffffff", padding: 12, title: { text: [title], anchor: "start", fontSize: 14, color: look.colours.ink, offset: 12 } };
  } finally {
    page.onPaper = false;
    look = shown;
  }
}

async function saveChart(id, form, title, caption) {
  const { view, finalize } = await vegaEmbed(element("div"), paperSpec(id, title), EMBED);
  if (form === "svg") saveBlob(fileName(id.replace(/-chart$/, ""), form), new Blob([described(await view.toSVG(), title, provenance(caption))], { type: "image/svg+xml" }));
  else saveCanvas(fileName(id.replace(/-chart$/, ""), form), await view.toCanvas(SHARPER), title, provenance(caption));
  finalize();
}

// The words that an SVG has, under the names that Python's PNGs have; as large on paper as its SVG.
function saveCanvas(name, canvas, title, words) {
  const named = { Title: title, Description: words, Software: `gapline ${page.head.version}` };
  canvas.toBlob(async (blob) => saveBlob(name, await describedPng(blob, named, 96 * SHARPER)), "image/png");
}

// Pictures that Python drew get their colours from the style of the page: a copy on paper takes them along.
const TAKEN = ["fill", "stroke", "stroke-width", "stroke-dasharray", "fill-opacity", "font-size"];

// Above the picture, in the colours that the heading has.
const [TITLE_HEIGHT, EDGE] = [32, 8];

function paperPicture(picture, heading) {
  const copy = picture.cloneNode(true);
  copy.classList.add("on-paper");
  for (const [name, value] of Object.entries(paperVariables())) copy.style.setProperty(name, value);
  picture.after(copy);
  const parts = Array.from(heading.childNodes, (node) => element("svg:tspan", { fill: node.className ? paperVariables()[`--${node.className}`] : null }, node.textContent));
  copy.prepend(element("svg:text", { x: 4, y: 20 - TITLE_HEIGHT }, ...parts));
  for (const node of copy.querySelectorAll("*")) {
    const style = getComputedStyle(node);
    for (const name of TAKEN) node.setAttribute(name, node.localName === "tspan" ? (node.getAttribute(name) ?? style.getPropertyValue(name)) : style.getPropertyValue(name));
    node.setAttribute("font-family", "sans-serif");
  }
  copy.remove();
  for (const node of [copy, ...copy.querySelectorAll("*")]) for (const name of ["class", "style"]) node.removeAttribute(name);
  const { width, height } = picture.viewBox.baseVal;
  const size = { width: width + 2 * EDGE, height: height + TITLE_HEIGHT + EDGE };
  for (const [name, value] of Object.entries({ xmlns: "http://www.w3.org/2000/svg", ...size, viewBox: `${-EDGE} ${-TITLE_HEIGHT} ${size.width} ${size.height}` })) copy.setAttribute(name, value);
  copy.prepend(element("svg:rect", { x: -EDGE, y: -TITLE_HEIGHT, ...size, fill: "#ffffff" }));
  return copy;
}

// An image of an SVG would have to be loaded, which the policy of the page forbids: its few kinds of marks are painted.
function painted(picture, scale) {
  const canvas = element("canvas", { width: scale * picture.getAttribute("width"), height: scale * picture.getAttribute("height") });
  const pen = canvas.getContext("2d");
  pen.scale(scale, scale);
  pen.translate(EDGE, TITLE_HEIGHT);
  for (const node of picture.querySelectorAll("rect, line, circle, text")) {
    const [x, y, x1, y1, x2, y2, width, height, cx, cy, r] = ["x", "y", "x1", "y1", "x2", "y2", "width", "height", "cx", "cy", "r"].map((name) => Number(node.getAttribute(name)));
    const shape = new Path2D();
    if (node.localName === "line") shape.moveTo(x1, y1), shape.lineTo(x2, y2);
    if (node.localName === "rect") shape.rect(x, y, width, height);
    if (node.localName === "circle") shape.arc(cx, cy, r, 0, 2 * Math.PI);
    pen.fillStyle = node.getAttribute("fill");
    pen.globalAlpha = Number(node.getAttribute("fill-opacity") ?? 1);
    if (node.localName === "text") {
      pen.font = `${node.getAttribute("font-size")} sans-serif`;
      pen.textAlign = { middle: "center", end: "end" }[node.getAttribute("text-anchor")] || "start";
      let along = x;
      for (const part of node.children.length ? node.children : [node]) {
        pen.fillStyle = part.getAttribute("fill");
        pen.fillText(part.textContent, along, y);
        along += pen.measureText(part.textContent).width;
      }
    } else if (node.localName !== "line" && pen.fillStyle && node.getAttribute("fill") !== "none") pen.fill(shape);
    pen.globalAlpha = 1;
    pen.strokeStyle = node.getAttribute("stroke");
    pen.lineWidth = parseFloat(node.getAttribute("stroke-width")) || 0;
    pen.setLineDash((node.getAttribute("stroke-dasharray") || "").split(/[ ,]+/).map(parseFloat).filter(Number.isFinite));
    if (node.localName !== "text" && (node.getAttribute("stroke") ?? "none") !== "none" && pen.lineWidth) pen.stroke(shape);
  }
  return canvas;
}

function savePicture(block, form, title, caption) {
  const copy = paperPicture(block.querySelector(".picture"), block.querySelector("h3"));
  const name = fileName(title, form);
  if (form === "png") return saveCanvas(name, painted(copy, SHARPER), title, provenance(caption));
  saveBlob(name, new Blob([described(new XMLSerializer().serializeToString(copy), title, provenance(caption))], { type: "image/svg+xml" }));
}

function listenForSaves() {
  document.addEventListener("click", ({ target }) => {
    if (!target.matches(".saves > button")) return;
    const form = target.dataset.save;
    const block = target.closest(".block");
    const [title, caption] = ["h3", ".caption:last-child"].map((selector) => block.querySelector(selector)?.textContent.trim() ?? "");
    const { chart } = target.parentElement.dataset;
    if (!chart) savePicture(block, form, title, caption);
    else if (drawn.get(chart)?.view) saveChart(chart, form, title, caption);
  });
}

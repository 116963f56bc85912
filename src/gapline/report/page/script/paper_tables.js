// A table that is wider than a sheet of paper is printed in pieces below each other: each has the columns of words that
// the table begins with, and as many of the others as fit beside them.

// What the border and the edge of a block leave of the paper.
const TABLE_WIDTH = PAPER_WIDTH - 20;
// A word of a head that may be broken anywhere: otherwise a line is broken at spaces and hyphens.
const LONG_WORD = /[^\s-]{15}/;

function layOutForPaper(tables) {
  for (const table of tables) {
    const box = table.closest(".scroll");
    for (const piece of box.querySelectorAll(":scope > .piece")) piece.remove();
    table.classList.remove("in-pieces");
    if (!page.printing) continue;
    for (const cell of table.tHead.rows[0]?.cells ?? []) cell.classList.toggle("long", LONG_WORD.test(cell.textContent));
    const pieces = piecesOf(paperWidths(table), leadOf(table));
    if (pieces.length < 2) continue;
    table.classList.add("in-pieces");
    box.append(...pieces.map((columns) => pieceOf(table, columns)));
  }
}

// How wide each column is at the least in the type of the paper, which no screen shows: a copy is measured out of sight.
function paperWidths(table) {
  const copy = table.cloneNode(true);
  copy.removeAttribute("id");
  const sheet = element("div", { class: "sheet", "aria-hidden": "true" }, copy);
  document.body.append(sheet);
  const widths = Array.from(copy.tHead.rows[0]?.cells ?? [], (cell) => cell.getBoundingClientRect().width);
  sheet.remove();
  return widths;
}

// How many columns come with every piece: those up to the last of the words that come first.
function leadOf(table) {
  const words = Array.from(table.tHead.rows[0]?.cells ?? [], (cell) => cell.classList.contains("text"));
  let last = words.indexOf(true);
  while (words[last + 1]) last++;
  return last + 1;
}

function piecesOf(widths, lead) {
  const sum = (list) => list.reduce((total, width) => total + width, 0);
  if (sum(widths) <= TABLE_WIDTH) return [widths.map((_, k) => k)];
  // Words that fill half of the paper would leave no room beside them.
  let kept = lead;
  while (kept > 1 && sum(widths.slice(0, kept)) > TABLE_WIDTH / 2) kept--;
  const first = widths.slice(0, kept).map((_, k) => k);
  const room = TABLE_WIDTH - sum(widths.slice(0, kept));
  const pieces = [];
  let used = Infinity;
  for (let k = kept; k < widths.length; k++) {
    if (used + widths[k] > room) {
      pieces.push([...first]);
      used = 0;
    }
    pieces[pieces.length - 1].push(k);
    used += widths[k];
  }
  return pieces;
}

function pieceOf(table, columns) {
  const head = element("thead");
  const body = element("tbody");
  const taken = (row) => {
    const line = row.cloneNode(false);
    if (isHeading(row)) {
      const heading = row.cells[0].cloneNode(true);
      heading.colSpan = columns.length;
      line.append(heading);
    } else line.append(...columns.map((k) => row.cells[k].cloneNode(true)));
    return line;
  };
  head.append(...Array.from(table.tHead.rows, taken));
  body.append(...Array.from(table.tBodies[0].rows, taken));
  return element("table", { class: "piece" }, head, body);
}

// What is printed of a table is a copy: one that is wider than a sheet of paper comes in pieces below each other, each
// with the columns of words that the table begins with, and as many of the others as fit beside them.

// What A4 leaves between margins of a centimetre and the edges of a block.
const TABLE_WIDTH = 690;
// A block with more lines than this begins where there is room, and goes on overleaf.
const LONG_TABLE = 25;
// A cell of words with one that may be broken anywhere: otherwise a line is broken at spaces and hyphens.
const LONG_WORD = /[^\s-]{14}/;

function layOutForPaper(tables) {
  for (const table of tables) {
    const box = table.closest(".scroll");
    for (const piece of box.querySelectorAll(":scope > .piece")) piece.remove();
    table.classList.remove("copied", "tight");
    if (!page.printing) continue;
    for (const cell of table.querySelectorAll("th, td.text")) cell.classList.toggle("long", LONG_WORD.test(cell.textContent));
    const pieces = piecesOf(fittingWidths(table), leadOf(table));
    table.closest(".block").classList.toggle("long", pieces.length * table.tBodies[0].rows.length > LONG_TABLE);
    table.classList.add("copied");
    box.append(...pieces.map((columns) => pieceOf(table, columns)));
  }
}

// A table that is a little too wide is set smaller, and stays whole.
function fittingWidths(table) {
  const widths = paperWidths(table);
  if (total(widths) <= TABLE_WIDTH) return widths;
  table.classList.add("tight");
  const smaller = paperWidths(table);
  if (total(smaller) <= TABLE_WIDTH) return smaller;
  table.classList.remove("tight");
  return widths;
}

function total(widths) {
  return widths.reduce((sum, width) => sum + width, 0);
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
  if (total(widths) <= TABLE_WIDTH) return [widths.map((_, k) => k)];
  // Words that fill half of the paper would leave no room beside them.
  let kept = lead;
  while (kept > 1 && total(widths.slice(0, kept)) > TABLE_WIDTH / 2) kept--;
  const first = widths.slice(0, kept).map((_, k) => k);
  const room = TABLE_WIDTH - total(widths.slice(0, kept));
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
  // A head that is repeated overleaf is printed without its buttons: it has words alone.
  const { cells = [] } = table.tHead.rows[0] ?? {};
  head.append(element("tr", {}, ...columns.filter((k) => cells[k]).map((k) => element("th", { scope: "col", class: cells[k].className || null }, labelOf(cells[k])))));
  body.append(...Array.from(table.tBodies[0].rows, taken));
  return element("table", { class: table.classList.contains("tight") ? "piece tight" : "piece" }, head, body);
}

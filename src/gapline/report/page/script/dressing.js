// What every table of the report can: be sorted by a column, be filtered, be saved, be printed, and be reached with the
// keyboard.

const byNature = new Intl.Collator("en", { numeric: true });

function dressTables(tables = document.querySelectorAll("main table.numbers")) {
  for (const table of tables) {
    if (!byId(`find-${table.id}`)) addTableTools(table);
    addSorting(table);
    applyTable(table);
  }
  layOutForPaper(tables);
}

// A region that scrolls is in the order of the keyboard; one that shows everything is not. Looked at when all is drawn:
// the browser has to lay the page out for it.
function reachScrolls() {
  const found = Array.from(document.querySelectorAll(".scroll"), (box) => [box, box.scrollWidth > box.clientWidth, box.scrollHeight > box.clientHeight]);
  for (const [box, wide, tall] of found) {
    box.classList.toggle("wide", wide);
    if (wide || tall) box.tabIndex = 0;
    else box.removeAttribute("tabindex");
  }
}

// Filter and files stand above the table, once; what they do is of the table as it is then.
function addTableTools(table) {
  const title = captionOf(table);
  const find = element("input", { type: "search", id: `find-${table.id}`, class: "find", placeholder: "filter", autocomplete: "off", "aria-label": `Filter the rows of: ${title}`, on: {
    input: (event) => changeTable(table, { find: event.target.value }, `find-${table.id}`),
  } });
  const save = (label, kind, type, text) => element("button", { type: "button", title: `Save this table as ${label}`, "data-save": `${kind}-${table.id}`, on: {
    click: () => saveText(`${tableName(table)}.${kind}`, text(tableOf(table)), type),
  } }, label);
  const files = [save("Markdown", "md", "text/markdown", toMarkdown), save("LaTeX", "tex", "text/x-tex", (shown) => table.dataset.tex ?? toLatex(shown))];
  // Tables that the page draws have their numbers in full beside their badge.
  if (!table.closest(".block").querySelector(".tools")) files.unshift(save("CSV", "csv", "text/csv", (shown) => table.dataset.numbers ?? shownCsv(shown)));
  table.closest(".scroll").before(element("div", { class: "table-tools" }, find, element("output", { for: find.id, class: "found" }), ...files));
}

function shownCsv({ columns, parts }) {
  return csvText(columns.map(({ head }) => head), parts.flatMap(([, rows]) => rows.map((row) => row.map(({ text }) => text))));
}

function addSorting(table) {
  for (const cell of table.tHead.rows[0]?.cells ?? []) {
    if (cell.querySelector("button") || cell.classList.contains("drawing") || !cell.textContent) continue;
    const button = element("button", { type: "button", title: "Sort by this column", on: { click: () => sortBy(table, labelOf(cell)) } });
    button.append(...cell.childNodes);
    cell.append(button);
  }
  table.asDrawn ??= [...table.tBodies[0].rows];
}

function labelOf(cell) {
  return cell.textContent.trim();
}

// Up, down, and as it was.
function sortBy(table, label) {
  const { sort, down } = tableState(table);
  const same = sort === label;
  changeTable(table, same && down ? { sort: null, down: false } : { sort: label, down: same });
}

function tableState(table) {
  return page.choice.tables[table.id] ?? { find: "", sort: null, down: false };
}

function changeTable(table, change, gesture = null) {
  const state = { ...tableState(table), ...change };
  const { [table.id]: _, ...others } = page.choice.tables;
  page.choice.tables = state.find || state.sort !== null ? { ...others, [table.id]: state } : others;
  writeHash(page, page.choice, gesture);
  applyTable(table);
}

function isHeading(row) {
  return row.cells[0]?.scope === "rowgroup";
}

// Rows as they were drawn, in parts that each begin with their heading, if there is one.
function partsOf(rows) {
  const parts = [];
  for (const row of rows) {
    if (isHeading(row)) parts.push([row, []]);
    else if (!parts.length) parts.push([null, [row]]);
    else parts[parts.length - 1][1].push(row);
  }
  return parts;
}

function applyTable(table) {
  const { find, sort, down } = tableState(table);
  const input = byId(`find-${table.id}`);
  if (document.activeElement !== input) input.value = find;
  const heads = [...(table.tHead.rows[0]?.cells ?? [])];
  const column = heads.findIndex((cell) => labelOf(cell) === sort);
  heads.forEach((cell, k) => (k === column ? cell.setAttribute("aria-sort", down ? "descending" : "ascending") : cell.removeAttribute("aria-sort")));
  const wanted = find.trim().toLowerCase();
  let shown = 0;
  const ordered = partsOf(table.asDrawn).flatMap(([heading, rows]) => {
    const sorted = column < 0 ? rows : sortedRows(rows, column, down);
    for (const row of sorted) row.hidden = wanted !== "" && !row.textContent.toLowerCase().includes(wanted);
    const here = sorted.filter((row) => !row.hidden).length;
    shown += here;
    if (heading) heading.hidden = here === 0;
    return heading ? [heading, ...sorted] : sorted;
  });
  if (ordered.some((row, k) => row !== table.tBodies[0].rows[k])) table.tBodies[0].replaceChildren(...ordered);
  const all = table.asDrawn.filter((row) => !isHeading(row)).length;
  input.nextElementSibling.textContent = wanted ? `${formatCount(shown)} of ${formatCount(all)} rows` : "";
}

// Numbers by size, words by their letters, what does not exist last either way.
function sortedRows(rows, column, down) {
  const keyed = rows.map((row) => [row, keyOf(row.cells[column])]);
  const numbers = keyed.every(([, key]) => typeof key === "number");
  const turn = down ? -1 : 1;
  const order = ([, a], [, b]) => {
    if (!numbers) return turn * byNature.compare(String(a), String(b));
    return Number.isNaN(a) || Number.isNaN(b) ? orderOf(a, b) : turn * orderOf(a, b);
  };
  return keyed.sort(order).map(([row]) => row);
}

// The number that a cell says, or its words.
function keyOf(cell) {
  if (cell.dataset.key !== undefined) return Number(cell.dataset.key);
  const text = cell.textContent.trim();
  if (text === DASH || text === "…" || text === "") return NaN;
  const read = text.replace(/^[(≥< ]+/, "").replaceAll(",", "").replace("−", "-").match(/^[+-]?[0-9.]+(e[+-]?[0-9]+)?(?=$|[ )%·/]|\/)/i);
  return read ? Number(read[0]) : text === "overflow" ? Infinity : text;
}

function tableName(table) {
  return table.dataset.name ?? table.id.replace(/^table-|-table$/g, "");
}

function captionOf(table) {
  if (table.dataset.name) return table.closest(".scroll").getAttribute("aria-label");
  const above = table.closest(".scroll").parentElement.querySelector("h4") ?? table.closest(".block").querySelector("h3");
  return above.textContent.trim();
}

// The table as it stands, sorted and filtered, in the form that is written.
function tableOf(table) {
  const heads = [...table.tHead.rows[0].cells];
  const kept = heads.map((cell, k) => [cell, k]).filter(([cell]) => !cell.classList.contains("drawing"));
  const columns = kept.map(([cell]) => ({ head: labelOf(cell), text: cell.classList.contains("text") }));
  const shown = [...table.tBodies[0].rows].filter((row) => !row.hidden);
  const parts = partsOf(shown).map(([heading, rows]) => [heading && heading.textContent.trim(), rows.map((row) => kept.map(([, k]) => ({ text: row.cells[k].textContent.trim(), bold: row.cells[k].classList.contains("best") })))]);
  const caption = table.closest(".scroll").parentElement.querySelector(":scope > .caption") ?? table.closest(".block").querySelector(".caption");
  const listed = [...(caption?.querySelectorAll(".note") ?? [])];
  const notes = (listed.length ? listed : caption ? [caption] : []).map((node) => node.textContent.trim()).filter(Boolean);
  return { name: tableName(table), caption: captionOf(table), columns, parts, notes };
}

// What stays the same is left alone: a selection, the focus and a screen reader are not disturbed by a change elsewhere.

function patchChildren(box, fresh, patch = null) {
  fresh.forEach((node, k) => {
    const old = box.children[k];
    if (!old) box.append(node);
    else if (!old.isEqualNode(node)) patch ? patch(old, node) : old.replaceWith(node);
  });
  while (box.children.length > fresh.length) box.lastElementChild.remove();
}

// Columns and rows as `fillTable` takes them.
function patchTable(id, columns, rows) {
  const table = byId(id);
  const cells = (tag) => (row) => element("tr", {}, ...row.map((cell, c) => {
    const [content, kind] = Array.isArray(cell) ? cell : [cell, null];
    const names = [columns[c][1], kind].filter(Boolean).join(" ");
    return element(tag, { scope: tag === "th" ? "col" : null, class: names || null }, content);
  }));
  const line = (old, fresh) => patchChildren(old, [...fresh.children]);
  patchChildren(table.tHead, [cells("th")(columns.map(([label]) => label))], line);
  patchChildren(table.tBodies[0], rows.map(cells("td")), line);
}

function patchText(id, text) {
  const node = byId(id);
  if (node.textContent !== text) node.textContent = text;
}

function show(id, shown) {
  byId(id).hidden = !shown;
}

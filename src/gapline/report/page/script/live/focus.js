// Where the reader is, kept while tables are written anew under their hands.

// The nearest place with a name, and what the focus is on inside it.
function focusPlace() {
  const node = document.activeElement;
  const room = node?.closest("[id]");
  if (!room || node === document.body) return null;
  return { id: room.id, self: room === node, tag: node.tagName, text: node.textContent, place: [...room.querySelectorAll(node.tagName)].indexOf(node) };
}

function restoreFocus(known) {
  if (known === null || (document.activeElement && document.activeElement !== document.body)) return;
  const room = byId(known.id);
  if (!room) return;
  const inside = [...room.querySelectorAll(known.tag)];
  const node = known.self ? room : inside.find((one) => one.textContent === known.text) ?? inside[known.place];
  node?.focus({ preventScroll: true });
}

// A section in the place of another: what was unfolded and scrolled in it stays so.
function replaceSection(old, fresh) {
  const open = [...old.querySelectorAll("details")];
  fresh.querySelectorAll("details").forEach((one, k) => (one.open = open[k]?.open ?? one.open));
  const scrolls = [...old.querySelectorAll(".scroll")].map(({ scrollTop, scrollLeft }) => [scrollTop, scrollLeft]);
  old.replaceWith(fresh);
  fresh.querySelectorAll(".scroll").forEach((box, k) => ([box.scrollTop, box.scrollLeft] = scrolls[k] ?? [0, 0]));
}

// A change turns the state before it into the one after it (docs/watch.md); names in its paths are of whatever origin.

function ownPart(document, name) {
  return Object.hasOwn(document, name) ? document[name] : undefined;
}

function parentOf(document, path) {
  return path.slice(0, -1).reduce(ownPart, document);
}

function setPart(parent, name, value) {
  Object.defineProperty(parent, name, { value, configurable: true, enumerable: true, writable: true });
}

function applyChange(state, { id, at, looked, gone, set, cut, append }) {
  for (const path of gone) delete parentOf(state, path)[path.at(-1)];
  for (const [path, value] of set) setPart(parentOf(state, path), path.at(-1), value);
  for (const [path, length] of cut) ownPart(parentOf(state, path), path.at(-1)).length = length;
  for (const [path, values] of append) ownPart(parentOf(state, path), path.at(-1)).push(...values);
  Object.assign(state, { id, at, looked });
  return [...gone, ...set.map(([path]) => path), ...cut.map(([path]) => path), ...append.map(([path]) => path)];
}

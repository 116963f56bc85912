// Numbers as Python prints them, and elements made without ever parsing text as HTML.

const DASH = "–";

// As Python rounds: of two that are equally near, the even one.
function fixed(value, digits) {
  const text = value.toFixed(digits);
  const more = value.toFixed(Math.min(100, digits + 40)).slice(text.length + (digits ? 0 : 1));
  if (!/^50*$/.test(more) || !"13579".includes(text[text.length - 1])) return text;
  return value.toFixed(digits + 1).slice(0, digits ? -1 : -2);
}

// A score: five decimals; a quantity that does not exist is a dash, one that overflowed says so.
function formatScore(value, digits = 5) {
  if (value === null || Number.isNaN(value)) return DASH;
  if (!Number.isFinite(value)) return "overflow";
  const text = fixed(value, digits);
  return Number(text) === 0 && text[0] === "-" ? text.slice(1) : text;
}

function formatSigned(value, digits = 5) {
  const text = formatScore(value, digits);
  // An exact zero, and what rounds to it, has no sign.
  return value > 0 && text !== "overflow" && Number(text) !== 0 ? "+" + text : text.replace("-", "−");
}

function formatPercent(value, digits = 2) {
  const text = formatScore(value === null ? null : 100 * value, digits);
  return text === DASH || text === "overflow" ? text : text + " %";
}

function formatCount(value, atLeast = false) {
  return (atLeast ? "≥ " : "") + String(value).replace(/\B(?=(\d{3})+(?!\d))/g, ",");
}

// Seconds or objectives without trailing zeros.
function formatValue(value, significant = 9) {
  if (value === null || Number.isNaN(value)) return DASH;
  if (!Number.isFinite(value)) return "overflow";
  return String(Number(value.toPrecision(significant)));
}

function formatGoal(goal) {
  return formatValue(100 * goal, 12) + " %";
}

// Control, bidi and other unprintable characters are shown, not obeyed.
function visible(text) {
  return String(text).replace(/[\p{C}\p{Z}]/gu, (c) => (c === " " ? c : "\\u" + c.codePointAt(0).toString(16).padStart(4, "0")));
}

function element(tag, attributes = {}, ...children) {
  const node = tag.startsWith("svg:") ? document.createElementNS("http://www.w3.org/2000/svg", tag.slice(4)) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === "on") for (const [event, listener] of Object.entries(value)) node.addEventListener(event, listener);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  for (const child of children) {
    if (child instanceof Node) node.append(child);
    else if (child !== null && child !== undefined) node.append(visible(child));
  }
  return node;
}

function byId(id) {
  return document.getElementById(id);
}

// CSV: text that a spreadsheet would take for a formula gets an apostrophe; numbers never do.
function csvText(header, rows) {
  const cell = (value) => {
    if (value === null || value === undefined || (typeof value === "number" && Number.isNaN(value))) return "";
    if (typeof value === "number") return String(value);
    const text = /^[=+\-@\t\r]/.test(value) ? "'" + value : String(value);
    return /[",\r\n]/.test(text) ? '"' + text.replace(/"/g, '""') + '"' : text;
  };
  return [header, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
}

function saveText(name, text, type = "text/csv") {
  saveBlob(name, new Blob([text], { type: `${type};charset=utf-8` }));
}

function saveBlob(name, blob) {
  const url = URL.createObjectURL(blob);
  const link = element("a", { href: url, download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

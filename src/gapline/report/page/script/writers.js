// A table as Markdown, by the rules of gapline.report.writers.markdown, and as LaTeX with booktabs, its text as Python
// escapes it; what Python made itself is saved as Python wrote it. A table is { name, caption, columns: [{ head, text }],
// parts: [[heading, rows]], notes }; a cell is { text, bold }.

function toMarkdown({ caption, columns, parts, notes }) {
  const line = (cells) => `| ${cells.join(" | ")} |`;
  const lines = [`**${plainText(caption)}**`, "", line(columns.map(({ head }) => plainText(head)))];
  lines.push(`|${columns.map(({ text }) => (text ? "---" : "---:")).join("|")}|`);
  for (const [heading, rows] of parts) {
    if (heading !== null) lines.push(`| *${plainText(heading)}* |${" |".repeat(columns.length - 1)}`);
    for (const row of rows) lines.push(line(row.map(({ text, bold }) => (bold ? `**${plainText(text)}**` : plainText(text)))));
  }
  return [...lines, "", ...notes.map((note) => `${plainText(note)}  `)].join("\n").trimEnd() + "\n";
}

// What Markdown, the HTML in it or GitHub would take for more than text is escaped.
function plainText(text) {
  if (/^[A-Za-z0-9 ,%()+/=?!-]*(?:(?<![A-Za-z])[.][0-9]+[ %]*)?$/.test(text)) return text;
  const escaped = Array.from(visible(text), (c) => ("\\`*_[]<>|#~$".includes(c) ? `\\${c}` : c)).join("").replaceAll("&", "&amp;");
  return escaped.replaceAll("://", "&#58;//").replaceAll("www.", "www&#46;")
    .replace(/(?<![\p{L}\p{N}_])@(?=[\p{L}\p{N}_])|:(?=[\p{L}\p{N}_+-]+:)(?!(?:1:)?dir:[0-9a-f]{40}(?![\p{L}\p{N}_]))/gu, "$&&#8203;");
}

// Letters as Python's table of them says (`head.latex`); a word that no line holds may be broken.
function escapeLatex(text) {
  const escaped = (part) => (/^[A-Za-z0-9 .,:;()+/=?!-]*$/.test(part) ? part : Array.from(part, latexLetter).join(""));
  const word = (part) => (/^\S{25,}$/.test(part) ? part.match(/[^\s_/.:,;=-]{1,12}[_/.:,;=-]*|[_/.:,;=-]+/g).map(escaped).join("\\allowbreak{}") : escaped(part));
  return visible(text).split(/(\s+)/).map(word).join("");
}

function latexLetter(letter) {
  const code = letter.codePointAt(0);
  const known = page.head.latex[letter];
  if (known !== undefined) return known;
  if (code < 0x7f || (code >= 0xc0 && code < 0x180 && !"ĦħĸĿŀŉŦŧſ".includes(letter))) return letter;
  return `{[}U+${code.toString(16).toUpperCase().padStart(4, "0")}{]}`;
}

// Signs and powers of ten are math.
function latexNumber(text) {
  const power = /^(-?[\d.]+)e([+-]\d+)$/.exec(text);
  if (power) return `$${power[1] === "1" ? "" : `${power[1]}\\times`}10^{${Number(power[2])}}$`;
  return escapeLatex(text.replace(/(?<![\p{L}\p{N}_)])-(?=[\d.])/gu, "−"));
}

const LATEX_SIZES = [[75, "\\small"], [90, "\\footnotesize\\setlength{\\tabcolsep}{4pt}"], [Infinity, "\\scriptsize\\setlength{\\tabcolsep}{3pt}"]];

function toLatex(table, most = 45) {
  const { columns, parts } = table;
  const letters = (text) => Array.from(text).length;
  const widths = columns.map(({ head }, c) => Math.max(letters(head), ...parts.flatMap(([, rows]) => rows.map((row) => letters(row[c].text)))));
  const wide = widths.reduce((sum, width) => sum + width, 0) + 2 * (widths.length - 1);
  const [, size] = LATEX_SIZES.find(([room]) => wide <= room);
  const pages = latexPages(parts, most);
  return "% needs \\usepackage{booktabs}\n" + pages.map((part, k) => latexPage(table, part, size, k, pages.length)).join("");
}

// A heading goes with its first row: a part that finds no room begins on the next page.
function latexPages(parts, most) {
  const pages = [[]];
  let room = most;
  for (const [heading, rows] of parts) {
    let rest = rows;
    do {
      if (room <= 0 && pages[pages.length - 1].length) {
        pages.push([]);
        room = most;
      }
      const taken = rest.slice(0, room);
      pages[pages.length - 1].push([heading, taken]);
      room -= taken.length;
      rest = rest.slice(taken.length);
    } while (rest.length);
  }
  return pages;
}

function latexPage({ name, caption, columns, notes }, parts, size, number, pages) {
  const more = number ? ` (continued, ${number + 1} of ${pages})` : "";
  const below = number ? "" : notes.map((note) => ` ${escapeLatex(note)}`).join("");
  const label = number ? "" : `  \\label{tab:${name}}\n`;
  const cell = ({ text, bold }, c) => {
    const shown = columns[c].text ? escapeLatex(text) : latexNumber(text);
    return bold ? `\\textbf{${shown}}` : shown;
  };
  let out = `\\begin{table}[htbp]\n  \\centering\n  ${size}\n  \\caption{${escapeLatex(caption + more)}.${below}}\n${label}`;
  out += `  \\begin{tabular}{@{}${columns.map(({ text }) => (text ? "l" : "r")).join("")}@{}}\n    \\toprule\n`;
  out += `    ${columns.map(({ head }) => escapeLatex(head)).join(" & ")} \\\\\n    \\midrule\n`;
  parts.forEach(([heading, rows], k) => {
    if (k) out += "    \\midrule\n";
    if (heading !== null) out += `    \\multicolumn{${columns.length}}{c}{${escapeLatex(heading)}} \\\\\n`;
    for (const row of rows) out += `    ${row.map(cell).join(" & ")} \\\\\n`;
  });
  return `${out}    \\bottomrule\n  \\end{tabular}\n\\end{table}\n`;
}

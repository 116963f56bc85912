// Instances, the runs of one of them, and one run with its candidates.

const sorting = { column: null, down: false };

function renderInstances(summary) {
  const { head, choice } = page;
  const references = head.snapshots[choice.snapshot].references;
  const wanted = byId("instance-filter").value.trim().toLowerCase();
  const best = bestOfUnits();
  let rows = head.units.name.map((name, unit) => ({
    unit, name, panel: head.panels[head.units.panel[unit]], reference: references[unit], best: best[unit],
    means: summary.visible.map(({ arm }) => summary.score.sum[arm * summary.score.units + unit] / summary.score.count[arm * summary.score.units + unit]),
  }));
  const all = rows;
  rows = rows.filter((row) => (row.name + " " + row.panel).toLowerCase().includes(wanted));
  const keys = [(row) => row.name, (row) => row.panel, (row) => row.reference, (row) => row.best, ...summary.visible.map((_, k) => (row) => row.means[k])];
  if (sorting.column !== null && keys[sorting.column]) {
    const key = keys[sorting.column];
    const order = (a, b) => (typeof key(a) === "string" ? (key(a) < key(b) ? -1 : key(a) > key(b) ? 1 : 0) : orderOf(key(a), key(b)));
    rows = [...rows].sort((a, b) => (sorting.down ? order(b, a) : order(a, b)));
  }
  const labels = [["instance", "text name"], ["panel", "text"], ["reference"], ["best here"], ...summary.visible.map((row) => [row.name])];
  const columns = labels.map(([label, kind], k) => [sortButton(label, k), kind]);
  fillTable("instance-table", columns, rows.map((row) => [
    element("button", { type: "button", class: "link", "data-unit": row.unit, on: { click: () => choose({ unit: row.unit, run: null }, "instance-block") } }, row.name),
    row.panel, formatValue(row.reference), [formatValue(row.best), isBeaten(row.best, row.reference, page.head.tolerance) ? "best" : null], ...meansCells(row.means),
  ]), (k) => rows[k].unit === shownUnit());
  byId("instance-table").tHead.querySelectorAll("th").forEach((cell, k) => {
    if (sorting.column === k) cell.setAttribute("aria-sort", sorting.down ? "descending" : "ascending");
  });
  byId("instances-caption").textContent = `${rows.length} of ${all.length} instances; means over seeds under the ${choice.kernel.name} kernel. Choose an instance to see its runs. A best value below its reference is in bold.`;
  setTools("instances-tools", "instances", () => ({
    header: ["panel", "instance", "reference", "best", "arm", "mean"],
    rows: all.flatMap((row) => row.means.map((mean, k) => [row.panel, row.name, row.reference, row.best, summary.visible[k].name, mean])),
  }));
}

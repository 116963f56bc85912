// Instances, and what each arm did on them.

function renderInstances(summary) {
  const { head, choice } = page;
  const { references } = page.reading;
  const best = bestOfUnits();
  const rows = head.units.name.map((name, unit) => ({
    unit, name, panel: head.panels[head.units.panel[unit]], reference: references[unit], best: best[unit],
    means: summary.visible.map(({ arm }) => summary.score.sum[arm * summary.score.units + unit] / summary.score.count[arm * summary.score.units + unit]),
  }));
  const columns = [["instance", "text name"], ["panel", "text"], ["reference"], ["best here"], ...summary.visible.map((row) => [row.name, "by-arm"])];
  fillTable("instance-table", columns, rows.map((row) => [
    element("button", { type: "button", class: "link", "data-unit": row.unit, on: { click: () => choose({ unit: row.unit, run: null }, "instance-block") } }, row.name + (head.alarmed.instances.includes(row.name) ? " (alarm)" : "")),
    row.panel, [formatValue(row.reference), null, row.reference], [formatValue(row.best), isBeaten(row.best, row.reference, page.head.tolerance) ? "best" : null, row.best], ...meansCells(row.means),
  ]), (k) => rows[k].unit === shownUnit());
  byId("instances-caption").textContent = `${formatCount(rows.length)} instances; means over seeds under the ${choice.kernel.name} kernel. Choose an instance to see its runs. A best value below its reference is in bold.`;
  setTools("instances-tools", "instances", () => ({
    header: ["panel", "instance", "reference", "best", "arm", "mean"],
    rows: rows.flatMap((row) => row.means.map((mean, k) => [row.panel, row.name, row.reference, row.best, summary.visible[k].name, mean])),
  }));
}

function renderPanels(summary) {
  const { head, choice } = page;
  const inPanel = (panel) => (u) => head.units.panel[u] === panel;
  const rows = head.panels.map((name, panel) => ({
    name, instances: head.units.panel.filter((p) => p === panel).length,
    means: summary.visible.map((row) => cellMean(page, summary.score, row.arm, choice.weighting, inPanel(panel))),
    empty: emptyOf((r) => head.units.panel[page.runs.unit[r]] === panel),
  }));
  fillTable("panel-table", [["panel", "text name"], ["instances"], ...summary.visible.map((row) => [row.name, "by-arm"]), ["empty"]],
    rows.map((row) => [row.name, formatCount(row.instances), ...meansCells(row.means), formatCount(row.empty)]));
  byId("panels-caption").textContent = `${choiceWords()}; the best of each panel in bold. Empty: runs of the arms shown without a valid candidate.${greyWords()}`;
  const points = rows.flatMap((row) => row.means.map((value, k) => ({ panel: row.name, arm: summary.visible[k].arm, value })));
  const known = points.filter((point) => Number.isFinite(point.value));
  if (known.length) drawPanels(known);
  else clearChart("panel-chart", `No mean ${choice.kernel.name} score exists in any panel.`);
  setTools("panels-tools", "panels", () => ({
    header: ["panel", "arm", "mean", "instances"],
    rows: rows.flatMap((row) => row.means.map((value, k) => [row.name, summary.visible[k].name, value, row.instances])),
  }));
}

// Panels, instances and one instance of a page without steps.

function renderPanels(summary) {
  const { head, choice, stored } = page;
  const { chosen, instances, empty, score } = stored.panels;
  const means = score[choice.weighting][choice.snapshot][kernelPlace(choice)];
  const rows = chosen.map((panel, k) => ({
    name: head.panels[panel], instances: instances[k], means: summary.visible.map(({ arm }) => means[arm][k]),
    empty: summary.visible.reduce((sum, { arm }) => sum + empty[arm][k], 0),
  }));
  fillTable("panel-table", [["panel", "text name"], ["instances"], ...summary.visible.map((row) => [row.name, "by-arm"]), ["empty"]],
    rows.map((row) => [row.name, formatCount(row.instances), ...meansCells(row.means), formatCount(row.empty)]));
  const some = rows.length < head.panels.length ? ` The ${formatCount(rows.length)} panels with the most instances, of ${formatCount(head.panels.length)}.` : "";
  byId("panels-caption").textContent = `${choiceWords()}; the best of each panel in bold. Empty: runs of the arms shown without a valid candidate.${some}${greyWords()}`;
  // More panels than this make a chart that nobody scrolls through.
  const points = rows.slice(0, 60).flatMap((row) => row.means.map((value, k) => ({ panel: row.name, arm: summary.visible[k].arm, value })));
  const known = points.filter((point) => Number.isFinite(point.value));
  if (known.length) drawPanels(known);
  else clearChart("panel-chart", `No mean ${choice.kernel.name} score exists in any panel.`);
  if (rows.length > 60) byId("panels-caption").append(" Drawn: the first 60.");
  setTools("panels-tools", "panels", () => ({
    header: ["panel", "arm", "mean", "instances"],
    rows: rows.flatMap((row) => row.means.map((value, k) => [row.name, summary.visible[k].name, value, row.instances])),
  }));
}

function bestOf(unit, visible) {
  return visible.reduce((least, { arm }) => {
    const value = page.stored.units.best[arm][unit];
    return value >= least || Number.isNaN(value) ? least : value;
  }, NaN);
}

function renderInstances(summary) {
  const { head, choice, stored } = page;
  const references = head.snapshots[choice.snapshot].references;
  const means = stored.units.score[choice.snapshot][kernelPlace(choice)];
  const rows = head.units.name.map((name, unit) => ({
    unit, name, panel: head.panels[head.units.panel[unit]], reference: references[unit], best: bestOf(unit, summary.visible),
    means: summary.visible.map(({ arm }) => means[arm][unit]),
  }));
  const columns = [["instance", "text name"], ["panel", "text"], ["reference"], ["best here"], ...summary.visible.map((row) => [row.name, "by-arm"])];
  fillTable("instance-table", columns, rows.map((row) => [
    element("button", { type: "button", class: "link", "data-unit": row.unit, on: { click: () => choose({ unit: row.unit }, "instance-block") } }, row.name + (head.alarmed.instances.includes(row.name) ? " (alarm)" : "")),
    row.panel, [formatValue(row.reference), null, row.reference], [formatValue(row.best), isBeaten(row.best, row.reference, head.tolerance) ? "best" : null, row.best], ...meansCells(row.means),
  ]), (k) => rows[k].unit === shownUnit());
  const some = rows.length < head.stored.instances ? `, of ${formatCount(head.stored.instances)} in the campaign: those on which the compared arms differ most under the declared choice` : "";
  byId("instances-caption").textContent = `${formatCount(rows.length)} instances${some}; means over seeds under the ${choice.kernel.name} kernel. Choose an instance to see it arm by arm. A best value below its reference is in bold.`;
  setTools("instances-tools", "instances", () => ({
    header: ["panel", "instance", "reference", "best", "arm", "mean"],
    rows: rows.flatMap((row) => row.means.map((mean, k) => [row.panel, row.name, row.reference, row.best, summary.visible[k].name, mean])),
  }));
}

function shownUnit() {
  return page.choice.unit ?? 0;
}

function renderInstance() {
  const { head, choice, stored, summary } = page;
  const unit = shownUnit();
  const { units } = stored;
  const here = summary.visible.filter(({ arm }) => units.runs[arm][unit] > 0);
  const score = units.score[choice.snapshot][kernelPlace(choice)];
  const gap = units.finalGap[choice.snapshot];
  const marked = meansCells(summary.visible.map(({ arm }) => score[arm][unit]));
  byId("instance-name").textContent = visible(`${head.units.name[unit]}, arm by arm`);
  fillTable("unit-table", [["arm", "text name"], [`mean ${choice.kernel.name}`], ["final gap"], ["best"], ["runs"], ["empty"]],
    here.map((row) => [
      armCell(row.arm), marked[summary.visible.indexOf(row)], formatPercent(gap[row.arm][unit]), formatValue(units.best[row.arm][unit]),
      formatCount(units.runs[row.arm][unit]), [formatCount(units.empty[row.arm][unit]), units.empty[row.arm][unit] ? "failed" : null],
    ]));
  const entry = head.snapshots[choice.snapshot];
  const source = entry.source[unit] ? ", source: " + entry.source[unit] : "";
  const against = Number.isNaN(entry.references[unit])
    ? "No reference: nobody solved this instance, and every run on it scores the worst value"
    : `Reference ${formatValue(entry.references[unit])}, ${entry.certified[unit] ? "certified" : "not certified"}${source}`;
  byId("instance-caption").textContent = visible(`${against}. Its runs are in tables/runs.csv. The final gap is over non-empty runs.`);
  setTools("instance-tools", "instance", () => ({
    header: ["panel", "instance", "arm", "mean", "final_gap", "best", "runs", "empty"],
    rows: here.map(({ arm, name }) => [head.panels[head.units.panel[unit]], head.units.name[unit], name, score[arm][unit], gap[arm][unit], units.best[arm][unit], units.runs[arm][unit], units.empty[arm][unit]]),
  }));
}

// The runs that Python named are those of the declared choice.
function renderRun() {
  hideSection("named-runs", staleReason(page, { ...page.choice, weighting: page.head.weighting }));
  const { moments } = page.head.stored;
  for (const id of ["mean-caption", "attainment-caption"]) byId(id).append(` Exact at ${formatCount(moments)} moments, a step between two of them stands at the later one.`);
}

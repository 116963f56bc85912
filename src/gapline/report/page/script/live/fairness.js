// How the runs were measured, in the words of `gapline status`.

function fairnessLines({ runs, pinned, disturbed, reasons = {}, hosts = [], governors = [], boost = [], cpu_share: share, load, foreign_share: foreign, overshoot, jitter, unpinned }) {
  const listed = (values) => (values.length ? values.join(" and ") : "not readable");
  const median = share === null ? "" : `, CPU time / wall time ${share.toFixed(2)} (median)`;
  const worst = [
    load === null ? "" : `load ${formatValue(load, 6)}`, foreign === null ? "" : `others' share of the cores ${(100 * foreign).toFixed(1)} %`,
    overshoot === null ? "" : `overshoot ${overshoot.toFixed(3)} s`, jitter === null ? "" : `stamps' jitter ${(1000 * jitter).toFixed(1)} ms`,
  ].filter(Boolean);
  const why = Object.entries(reasons).map(([name, count]) => `${name} ${count}`).join(", ");
  return [
    [`${pinned} of ${countWords(runs, "run")} pinned to their cores on ${hosts.length > 1 ? `${hosts.length} hosts` : "one host"}; governor ${listed(governors)}, boost ${listed(boost)}${median}.`, false],
    ...(worst.length ? [[`At worst: ${worst.join(", ")}.`, false]] : []),
    [disturbed ? `${countWords(disturbed, "run")} ${disturbed === 1 ? "was" : "were"} disturbed${why ? ` (${why})` : ""}.` : "No run was disturbed.", disturbed > 0],
    ...(unpinned ? [[`${countWords(unpinned, "run")} left their cores and were put back.`, true]] : []),
  ];
}

function renderFairness() {
  const { fairness = {} } = live.state;
  const lines = fairness.runs ? fairnessLines(fairness) : [["No whole run tells yet.", false]];
  patchChildren(byId("fairness"), lines.map(([words, bad]) => element("li", { class: bad ? "failed" : null }, words)));
}

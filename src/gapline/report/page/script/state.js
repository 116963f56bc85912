// What the reader has chosen, and its place in the address of the page.

function declaredChoice(head) {
  return {
    kernel: head.kernels[0], snapshot: 0, horizon: null, goal: head.goals[0], weighting: head.weighting, log: head.logTime.declared,
    hidden: new Set(), unit: null, run: null, axes: { ...AXES }, tables: {},
  };
}

// Names, not numbers: a link still says the same thing when the report is written again.
function writeHash(page, choice, gesture = null) {
  const { head, runs } = page;
  const words = new URLSearchParams();
  if (choice.kernel !== head.kernels[0]) words.set("kernel", choice.kernel.name);
  if (choice.snapshot !== 0) words.set("snapshot", head.snapshots[choice.snapshot].digest);
  if (choice.horizon !== null) words.set("horizon", String(choice.horizon));
  if (choice.goal !== head.goals[0]) words.set("goal", String(choice.goal));
  if (choice.weighting !== head.weighting) words.set("weighting", choice.weighting);
  if (choice.log !== head.logTime.declared) words.set("time", choice.log ? "log" : "linear");
  for (const name of [...choice.hidden].sort()) words.append("hide", name);
  if (choice.unit !== null) {
    words.set("panel", head.panels[head.units.panel[choice.unit]]);
    words.set("instance", head.units.name[choice.unit]);
  }
  if (choice.run !== null) {
    words.set("arm", head.arms[runs.arm[choice.run]]);
    words.set("seed", runs.seed[choice.run]);
  }
  writeAxes(words, choice.axes);
  for (const [id, { find, sort, down }] of Object.entries(choice.tables)) {
    if (find) words.set(`find.${id}`, find);
    if (sort !== null) words.set(`sort.${id}`, (down ? "-" : "+") + sort);
  }
  const hash = words.toString();
  const here = location.href.split("#")[0];
  if (location.hash.slice(1) === hash) return;
  const again = gesture !== null && history.state?.gesture === gesture;
  history[again ? "replaceState" : "pushState"]({ gesture }, "", hash ? here + "#" + hash : here);
}

// What the address does not say, or says wrongly, is as declared.
function readHash(page) {
  const { head, runs } = page;
  const words = new URLSearchParams(location.hash.slice(1));
  const choice = declaredChoice(head);
  choice.kernel = head.kernels.find((kernel) => kernel.name === words.get("kernel")) || choice.kernel;
  choice.snapshot = Math.max(0, head.snapshots.findIndex((entry) => entry.digest === words.get("snapshot")));
  const horizon = Number(words.get("horizon"));
  if (horizon > 0 && horizon < page.shortest) choice.horizon = horizon;
  if (words.has("goal") && head.goals.includes(Number(words.get("goal")))) choice.goal = Number(words.get("goal"));
  if (["panel", "instance", "run"].includes(words.get("weighting"))) choice.weighting = words.get("weighting");
  if (["log", "linear"].includes(words.get("time"))) choice.log = words.get("time") === "log";
  const hidden = words.getAll("hide").filter((name) => head.arms.includes(name));
  if (hidden.length < head.arms.length) choice.hidden = new Set(hidden);
  if (words.has("instance")) {
    const unit = head.units.name.findIndex(
      (name, u) => name === words.get("instance") && head.panels[head.units.panel[u]] === words.get("panel"),
    );
    if (unit >= 0) choice.unit = unit;
  }
  if (choice.unit !== null && words.has("arm")) {
    const run = runs.unit.findIndex(
      (unit, r) => unit === choice.unit && head.arms[runs.arm[r]] === words.get("arm") && runs.seed[r] === words.get("seed"),
    );
    if (run >= 0) choice.run = run;
  }
  choice.axes = readAxes(words);
  for (const [key, value] of words) {
    const [kind, id] = key.split(/\.(.*)/s);
    if (!id || !["find", "sort"].includes(kind)) continue;
    const state = (choice.tables[id] ??= { find: "", sort: null, down: false });
    if (kind === "find") state.find = value;
    else Object.assign(state, { sort: value.slice(1), down: value[0] === "-" });
  }
  return choice;
}

// Why the intervals that Python computed do not apply to this choice; null where they do.
function staleReason(page, choice) {
  const { head } = page;
  const other = [];
  if (choice.kernel !== head.kernels[0]) other.push(`kernel ${head.kernels[0].name}`);
  if (choice.snapshot !== 0) other.push(`reference ${head.snapshots[0].name} (${head.snapshots[0].policy})`);
  if (choice.horizon !== null) other.push("the whole horizon");
  if (choice.weighting !== head.weighting) other.push(`${head.weighting}-equal weighting`);
  return other.length ? `computed for ${other.join(" and ")}, not for this choice` : null;
}

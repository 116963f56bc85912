function bestOfUnits() {
  const { head, runs, steps, reading, choice } = page;
  const best = new Float64Array(head.units.name.length).fill(NaN);
  for (let r = 0; r < runs.arm.length; r++) {
    if (reading.stop[r] === steps.first[r] || choice.hidden.has(head.arms[runs.arm[r]])) continue;
    const value = steps.objective[reading.stop[r] - 1];
    if (!(value >= best[runs.unit[r]])) best[runs.unit[r]] = value;
  }
  return best;
}

function shownUnit() {
  return page.choice.unit ?? 0;
}

// The chosen run, or one worth looking at: the first of the instance with rejected candidates.
function shownRun() {
  const { choice, runs, head } = page;
  if (choice.run !== null) return choice.run;
  const here = page.runsOfUnit[shownUnit()].filter((r) => !choice.hidden.has(head.arms[runs.arm[r]]));
  return here.find((r) => runs.rejected[r] > 0 && runs.steps[r] > 0) ?? here[0] ?? null;
}

function gapRows(run, clock) {
  const { steps, reading, choice, runs } = page;
  const reference = reading.references[runs.unit[run]];
  const curve = { time: [], value: [] };
  if (choice.kernel.before !== null) {
    curve.time.push(0);
    curve.value.push(choice.kernel.before);
  }
  for (let k = steps.first[run]; k < reading.stop[run]; k++) {
    curve.time.push(steps.time[k]);
    curve.value.push(gapAt(steps, k, choice.kernel, reference, choice.snapshot));
  }
  const rows = curve.time.length ? curveRows(curve, runs.arm[run], clock) : [];
  return { arm: runs.arm[run], curve, rows: rows.map((row) => ({ ...row, run })) };
}

// The clock of one run or instance: always seconds.
function secondsClock(run) {
  const { reading, choice } = page;
  const end = reading.horizon[run];
  return { end, relative: false, log: choice.log, low: Math.min(page.head.logTime.seconds, end / 10) };
}

function renderInstance() {
  const { head, runs, reading, choice, steps } = page;
  const unit = shownUnit();
  const here = page.runsOfUnit[unit].filter((r) => !choice.hidden.has(head.arms[runs.arm[r]]));
  byId("instance-name").textContent = visible(`Runs on ${head.units.name[unit]}: ${choice.kernel.name} gap`);
  const entry = head.snapshots[choice.snapshot];
  fillTable("run-table", [["arm", "text name"], ["seed"], [`${choice.kernel.name} score`], ["final gap"], ["best"], ["first"], ["steps"], ["rejected"], ["late"], ["status", "text"]],
    here.map((r) => {
      const empty = reading.stop[r] === steps.first[r];
      const open = element("button", { type: "button", class: "link", "data-run": r, on: { click: () => choose({ unit, run: r }, "run") } }, armCell(runs.arm[r]));
      return [
        open, runs.seed[r], formatScore(reading.score[r]), formatPercent(reading.finalGap[r]), empty ? ["empty", "failed"] : formatValue(steps.objective[reading.stop[r] - 1]),
        empty ? DASH : `${formatValue(steps.time[steps.first[r]], 6)} s`, formatCount(reading.stop[r] - steps.first[r]), formatCount(runs.rejected[r]),
        formatCount(reading.late[r]), [runs.status[r], FAILED.includes(runs.status[r]) ? "failed" : null],
      ];
    }), (k) => here[k] === shownRun());
  const certified = entry.certified[unit] ? "certified" : "not certified";
  const origin = isRefolded(choice) ? `folded from what these runs had by ${formatValue(choice.horizon)} s` : certified + (entry.source[unit] ? ", source: " + entry.source[unit] : "");
  const against = Number.isNaN(reading.references[unit])
    ? "No reference: nobody solved this instance, and every run on it scores the worst value"
    : `Reference ${formatValue(reading.references[unit])}, ${origin}`;
  byId("instance-caption").textContent = visible(`${against}. Choose a run to see its candidates.`);
  const gaps = here.map((r) => gapRows(r, secondsClock(r)));
  if (gaps.some(({ rows }) => rows.length)) {
    const cut = drawRuns(gaps, secondsClock(here[0]), (time) => [
      [null, "time", `${formatValue(time, 5)} s`],
      ...tipLines(here.map((r, k) => [runs.arm[r], `${head.arms[runs.arm[r]]} · ${runs.seed[r]}`, valueAt(gaps[k].curve, time)]), (value) => formatScore(value, 6), false, "runs"),
    ]);
    byId("instance-caption").append(cut ? CUT_WORDS : "", greyWords());
  } else clearChart("instance-chart", here.length ? "No run here has a gap under this choice." : "The arms that ran here are hidden.");
  setTools("instance-tools", "runs", () => ({
    header: ["panel", "instance", "arm", "seed", "score", "final_gap", "hit", "goal", "steps", "rejected", "late", "status"],
    rows: here.map((r) => [head.panels[head.units.panel[unit]], head.units.name[unit], head.arms[runs.arm[r]], runs.seed[r], reading.score[r], reading.finalGap[r],
      Number.isFinite(reading.hit[r]) ? reading.hit[r] : null, choice.goal, reading.stop[r] - steps.first[r], runs.rejected[r], reading.late[r], runs.status[r]]),
  }));
}

// All candidates of a run that the page holds, by time: what became of each, and why.
function candidatesOf(run) {
  const { steps, others, reading, head } = page;
  const found = [];
  for (let k = steps.first[run]; k < steps.first[run + 1]; k++) {
    found.push({ time: steps.time[k], objective: steps.objective[k], verdict: k < reading.stop[run] ? "accepted" : "late", reason: "" });
  }
  for (let k = others.first[run]; k < others.first[run + 1]; k++) {
    const flags = others.flags[k];
    const late = flags & OTHER.LATE || others.time[k] > reading.horizon[run];
    const verdict = flags & OTHER.REJECTED ? "rejected" : late ? "late" : flags & OTHER.UNCHECKED ? "unchecked" : "not improving";
    const reason = flags & OTHER.REJECTED ? head.reasons[others.reason[k]] || "declared invalid" : "";
    found.push({ time: others.time[k], objective: others.objective[k], verdict, reason: late && flags & OTHER.REJECTED ? `${reason} (and late)` : reason });
  }
  return found.sort((a, b) => orderOf(a.time, b.time));
}

// What became of the candidates: each counts once, so that the parts add up to what was captured.
function captureFacts(run) {
  const { runs, reading, steps } = page;
  const late = lateCount(page, run, reading.horizon[run]);
  const accepted = reading.stop[run] - steps.first[run];
  const rejected = runs.rejected[run];
  const lateAlone = late.count - late.rejected;
  const unchecked = runs.unchecked[run] - late.unchecked;
  const rest = runs.captured[run] - accepted - rejected - lateAlone - unchecked;
  const also = late.rejected ? ` (${formatCount(late.rejected)} of them late)` : "";
  return [
    ["captured", `${formatCount(runs.captured[run])}, which are:`], ["accepted", formatCount(accepted)], ["not improving", formatCount(rest)], ["rejected", formatCount(rejected) + also],
    ["late, not rejected", formatCount(lateAlone, late.atLeast)], ...(unchecked ? [["unchecked", formatCount(unchecked)]] : []),
  ];
}

function renderRun() {
  const { head, runs, reading, choice } = page;
  const run = shownRun();
  if (run === null) {
    clearChart("run-chart", "The arms that ran on this instance are hidden.");
    byId("run-name").textContent = "Choose a run above";
    for (const id of ["run-caption", "run-facts", "candidate-caption", "run-tools"]) byId(id).replaceChildren();
    fillTable("candidate-table", [], []);
    return;
  }
  const reference = reading.references[runs.unit[run]];
  const clock = secondsClock(run);
  const { curve, rows } = gapRows(run, clock);
  const candidates = candidatesOf(run);
  byId("run-name").replaceChildren(swatch(runs.arm[run]), visible(` ${head.arms[runs.arm[run]]} · ${head.units.name[runs.unit[run]]} · seed ${runs.seed[run]}`));
  const values = curve.value.filter(Number.isFinite);
  const [low, high] = [Math.min(0, ...values), Math.max(0, ...values)];
  const marks = candidates.filter((one) => one.verdict === "rejected" && one.time <= reading.horizon[run]).map((one) => {
    // A candidate that is no step has no gap here under a kernel that exists in Python alone.
    const known = (one.objective > 0 || head.signed) && choice.kernel.kind !== "custom" && !Number.isNaN(reference);
    const gap = known ? gapOf(choice.kernel, one.objective, reference) : high;
    return { time: Math.max(one.time, choice.log ? clock.low : 0), value: Math.min(Math.max(gap, low - 0.1), high), reason: one.reason };
  });
  let cut = false;
  if (!rows.length) clearChart("run-chart", "This run has no gap under this choice.");
  else cut = drawRun(curve, rows, marks, clock, (time) => {
    const near = marks.filter((mark) => Math.abs(mark.time - time) < clock.end / 80).slice(0, 4);
    return [[null, "time", `${formatValue(time, 5)} s`], [null, "gap", formatScore(valueAt(curve, time))], ...near.map((mark) => [null, "rejected", mark.reason])];
  });
  byId("run-caption").textContent = `The score ${formatScore(reading.score[run])} is the mean of the ${choice.kernel.name} gap over ${formatValue(reading.horizon[run])} s: the shaded area, counted negative below the reference. Crosses: rejected candidates.${cut ? CUT_WORDS : ""}`;
  const facts = [
    ["status", runs.status[run]], ["score", formatScore(reading.score[run])], ["final gap", formatPercent(reading.finalGap[run])],
    ["reference", formatValue(reference)], ["goal reached", Number.isFinite(reading.hit[run]) ? `${formatValue(reading.hit[run], 6)} s` : "never"],
    ["horizon", `${formatValue(reading.horizon[run])} s` + (runs.announced[run] && runs.announced[run] !== reading.horizon[run] ? ` (stated ${formatValue(runs.announced[run])} s)` : "")],
    ...captureFacts(run),
    ["last candidate", runs.terminal_valid[run] === null ? DASH : runs.terminal_valid[run] ? "valid" : "invalid"],
    ...Object.entries(runs.carried).map(([name, { texts, codes }]) => [name, texts[codes[run]]]).filter(([, text]) => text),
  ];
  byId("run-facts").replaceChildren(...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)]));
  fillTable("candidate-table", [["time"], ["verdict", "text"], ["reason", "text wrap"], ["objective"], ["gap"]], candidates.map((one) => [
    [Number.isNaN(one.time) ? "no stamp" : `${formatValue(one.time)} s`, null, one.time], [one.verdict, one.verdict === "rejected" ? "failed" : null], one.reason,
    [formatValue(one.objective), null, one.objective], (one.objective > 0 || head.signed) ? formatPercent(finalGapOf(one.objective, reference)) : DASH,
  ]));
  byId("candidate-caption").textContent = runs.omitted[run] ? `${formatCount(runs.omitted[run])} further candidates that did not improve are not in this page.` : "The gap is the raw one.";
  setTools("run-tools", "candidates", () => ({
    header: ["arm", "instance", "seed", "time", "objective", "verdict", "reason"],
    rows: candidates.map((one) => [head.arms[runs.arm[run]], head.units.name[runs.unit[run]], runs.seed[run], one.time, one.objective, one.verdict, one.reason]),
  }));
}

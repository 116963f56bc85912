// The buttons stay from one drawing to the next: one that is replaced between two clicks loses the double-click and the focus.
function renderArms() {
  const { head, choice } = page;
  const box = byId("arms");
  const known = Array.from(box.children, (button) => button.dataset.arm);
  if (known.length !== head.arms.length || known.some((name, arm) => name !== head.arms[arm])) box.replaceChildren(...head.arms.map(armButton));
  head.arms.forEach((name, arm) => {
    box.children[arm].setAttribute("aria-pressed", String(!choice.hidden.has(name)));
    box.children[arm].replaceChildren(swatch(arm), element("span", {}, name));
  });
}

function armButton(name) {
  return element("button", {
    type: "button", class: "arm", "data-arm": name,
    title: `${name}: click hides or shows this arm, double-click (or Shift+Enter) shows it alone`,
    on: {
      click: (event) => (event.shiftKey ? isolate(name) : toggle(name)),
      dblclick: () => isolate(name),
      keydown: (event) => {
        if (event.key !== "Enter" || !event.shiftKey) return;
        event.preventDefault();
        isolate(name);
      },
    },
  });
}

function toggle(name) {
  const hidden = new Set(page.choice.hidden);
  if (!hidden.delete(name)) hidden.add(name);
  // The last arm stays: a page without one says nothing.
  if (hidden.size < page.head.arms.length) choose({ hidden });
}

// A double-click comes after two clicks, which undo each other. Isolating the arm that is alone shows all again.
function isolate(name) {
  const alone = page.head.arms.every((other) => (other === name) !== page.choice.hidden.has(other));
  choose({ hidden: new Set(alone ? [] : page.head.arms.filter((other) => other !== name)) });
}

let waiting = false;

// Change the choice; several changes before the next frame are drawn once. Those of one gesture, such as a drag, are one
// step for Back.
function choose(change, goTo = null, gesture = null) {
  page.choice = { ...page.choice, ...change };
  writeHash(page, page.choice, gesture);
  if (!waiting) {
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      render();
      if (goTo) byId(goTo).scrollIntoView({ behavior: "auto", block: "start" });
    });
  }
}

function showControls() {
  const { choice, head } = page;
  byId("kernel").value = choice.kernel.name;
  byId("snapshot").value = String(choice.snapshot);
  byId("goal").value = String(head.goals.indexOf(choice.goal));
  byId("weighting").value = choice.weighting;
  byId("scale").value = choice.log ? "log" : "linear";
  const seconds = choice.horizon ?? page.shortest;
  const own = choice.horizon === null && head.horizonWords.startsWith("horizons");
  byId("horizon").value = String(Math.round((1000 * seconds) / page.shortest));
  if (document.activeElement !== byId("horizon-seconds")) byId("horizon-seconds").value = own ? "" : formatValue(seconds, 7);
  byId("horizon-seconds").placeholder = own ? "own" : "";
  byId("horizon-text").textContent = own ? "each run's own horizon" : `${formatValue(seconds, 7)} s`;
  byId("horizon").setAttribute("aria-valuetext", byId("horizon-text").textContent);
}

function renderVerdict(summary, judged) {
  const { head, choice } = page;
  const [words, more] = headlineOf(summary, judged);
  byId("headline").textContent = visible(words);
  byId("subline").textContent = visible(more);
  const sum = (key) => summary.visible.reduce((total, row) => total + (typeof key === "string" ? row[key] : key(row)), 0);
  const entry = head.snapshots[choice.snapshot];
  // One arm alone is shown without being called the best.
  const attaining = summary.compared.length ? summary.compared : summary.others.length === 1 ? summary.others : [];
  const most = attaining.length ? Math.max(...attaining.map((row) => row.attained)) : null;
  const best = attaining.filter((row) => most - row.attained < head.tie).map((row) => row.name).sort();
  const alike = attaining.length > 1 ? "all arms alike" : attaining.length ? "one arm" : "no arm is compared";
  const unknown = sum((row) => row.statuses.unknown || 0);
  const known = sum("runs") > unknown;
  const ended = [...(known ? [`${formatCount(sum(failures))} crashed`] : []), ...(unknown ? [`${formatCount(unknown)} of unknown end`] : [])];
  const card = (title, value, note) => element("div", { class: "card" }, element("p", { class: "card-title" }, title), element("p", { class: "card-value" }, value), element("p", { class: "card-note" }, note));
  byId("cards").replaceChildren(
    card(`Within ${formatGoal(choice.goal)} of the reference`, formatPercent(most, 1), best.length < attaining.length ? `best: ${best.join(", ")}` : alike),
    card("What failed", [`${formatCount(sum("empty"))} empty`, ...ended].join(" · "), `of ${formatCount(sum("runs"))} runs${known ? " (crashed, killed, out of memory or lost)" : ""}; ${formatCount(sum("rejected"))} candidates rejected, ${formatCount(sum("late"), page.reading.lateAtLeast)} late`),
    card("Reference", entry.name, element("span", {}, `${entry.policy} · `, referenceMark()[1])),
    card("Below the reference", `${formatCount(summary.below)} runs`, summary.below ? "improvement, stale value, other instance or defect" : "no run ends below it"),
  );
}

function clockOf() {
  const relative = isRelative(page.reading);
  const end = relative ? 1 : page.reading.horizon[0];
  const { seconds, share } = page.head.logTime;
  // A shorter horizon that is chosen here may end before the axis would begin.
  return windowOf({ end, relative, log: page.choice.log, low: Math.min(relative ? share : seconds, end / 10) }, page.choice.axes);
}

function renderCurves(summary, stale) {
  const { head, choice, reading } = page;
  const clock = clockOf();
  showAxes(clock);
  const curves = summary.visible.map(({ arm }) => ({ arm, curve: meanCurve(page, choice, reading, arm, clock) }));
  const shares = summary.visible.map(({ arm }) => ({ arm, curve: attainmentCurve(page, choice, reading, arm, clock) }));
  const level = formatValue(100 * head.level, 4);
  // Bands of more arms than there are colours would cover each other.
  const many = summary.visible.length > head.leaders;
  const joint = Object.values(head.bands.mean).some((band) => "joint_low" in band);
  const bandWords = (has, why) => (!has ? "" : many ? ` Bands are drawn of at most ${head.leaders} arms.` : why ? ` Bands are not shown: ${why}.` : ` Bands: pointwise ${level} %${joint ? ", lighter: all times together" : ""}, other instances of the same panels.`);
  const csv = (list) => () => ({ header: ["arm", "time", "value"], rows: list.flatMap(({ arm, curve }) => Array.from(curve.time, (t, k) => [head.arms[arm], t, curve.value[k]])) });
  byId("mean-title").textContent = `Mean convergence: ${choice.kernel.name} gap`;
  const hasMean = Object.keys(head.bands.mean).length > 0;
  if (curves.some(({ curve }) => curve === null)) {
    clearChart("mean-chart", `The mean ${choice.kernel.name} curve does not exist: some run is not feasible at time 0.`);
    byId("mean-caption").replaceChildren(choiceWords());
  } else {
    const words = drawCurves("mean-chart", curves, {
      clock, axis: valueAxis(choice.axes, "gap"), title: "mean gap", format: (value) => formatScore(value, 6), bands: stale || many || !hasMean ? null : head.bands.mean,
      description: "Mean gap of each arm over time, smaller is better",
    });
    byId("mean-caption").replaceChildren(`Smaller is better; the area under a curve is the arm's mean score under the uniform weight. Means are ${choice.weighting}-equal.${words}`, greyWords(), bandWords(hasMean, stale));
    setTools("mean-tools", "mean-convergence", csv(curves));
  }
  const goalStale = stale || (choice.goal !== head.goals[0] ? `computed for the goal ${formatGoal(head.goals[0])}, not for this one` : null);
  const hasShare = Object.keys(head.bands.attainment).length > 0;
  byId("attainment-title").textContent = `Goal attainment: within ${formatGoal(choice.goal)}`;
  const kernelOnly = choice.kernel !== head.kernels[0] && choice.snapshot === 0 && choice.horizon === null && choice.weighting === head.weighting && choice.goal === head.goals[0];
  const words = drawCurves("attainment-chart", shares, {
    clock, axis: valueAxis(choice.axes, "share"), title: "share of runs", share: true, format: (value) => formatPercent(value, 2), bands: (goalStale && !kernelOnly) || many || !hasShare ? null : head.bands.attainment,
    description: "Share of runs that have attained the goal, larger is better",
  });
  byId("attainment-caption").replaceChildren(`Larger is better; a run that never attains the goal stays in the denominator. Shares are ${choice.weighting}-equal.${words}`, greyWords(), bandWords(hasShare, kernelOnly ? null : goalStale));
  setTools("attainment-tools", "attainment", csv(shares));
}

// What rests on intervals: drawn at once without them, and again when they are there.
function renderJudged() {
  const judged = judgementOf(page.choice);
  renderVerdict(page.summary, judged);
  renderRanking(page.summary, page.reading, judged);
  renderContrasts(page.summary, judged);
}

async function render() {
  const { choice } = page;
  readLook();
  page.reading = scoreAll(page, choice);
  page.summary = summariseAll(page, choice, page.reading);
  showControls();
  renderArms();
  renderJudged();
  renderCurves(page.summary, staleReason(page, choice));
  renderDeclared();
  renderPanels(page.summary);
  renderInstances(page.summary);
  renderInstance();
  renderRun();
  dressTables();
  page.onRender?.();
  const { dataset } = document.documentElement;
  const number = String((page.renders = (page.renders || 0) + 1));
  const judged = judgeChoice(choice);
  await chartsDrawn();
  if (await judged) {
    renderJudged();
    dressTables([byId("ranking"), byId("contrast-table")]);
    page.onRender?.();
  }
  // A drawing that was overtaken while its intervals were computed is not the one that is seen.
  if (number !== String(page.renders)) return;
  reachScrolls();
  dataset.renders = number;
  if (!idle) drawLater();
}

function listen() {
  const on = (id, event, listener) => byId(id).addEventListener(event, listener);
  on("kernel", "change", (event) => choose({ kernel: page.head.kernels.find((kernel) => kernel.name === event.target.value) }));
  on("snapshot", "change", (event) => choose({ snapshot: Number(event.target.value) }));
  on("goal", "change", (event) => choose({ goal: page.head.goals[Number(event.target.value)] }));
  on("weighting", "change", (event) => choose({ weighting: event.target.value }));
  on("scale", "change", (event) => choose({ log: event.target.value === "log" }));
  // Three digits: a reader moves the slider to about 12 s, not to 11.988 s.
  on("horizon", "input", (event) => choose({ horizon: event.target.value === "1000" ? null : Number(((page.shortest * event.target.value) / 1000).toPrecision(3)) }, null, "horizon"));
  on("horizon-seconds", "change", (event) => {
    const seconds = Number(event.target.value);
    choose({ horizon: seconds > 0 && seconds < page.shortest ? seconds : null });
    event.target.blur();
  });
  listenForAxes();
  listenForLight();
  listenForSaves();
  on("reset", "click", () => choose(declaredChoice(page.head)));
  on("copy-link", "click", async (event) => {
    const copied = await navigator.clipboard?.writeText(location.href).then(() => true, () => false);
    event.target.textContent = copied ? "Copied" : "Copy the address above";
    setTimeout(() => (event.target.textContent = "Copy link"), 1500);
  });
  addEventListener("popstate", () => {
    page.choice = readHash(page);
    render();
  });
  let resized = null;
  let width = innerWidth;
  addEventListener("resize", () => {
    clearTimeout(resized);
    if (innerWidth !== width) resized = setTimeout(() => ((width = innerWidth), render()), 150);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", render);
  addEventListener("beforeprint", () => ((page.printing = true), render()));
  addEventListener("afterprint", () => ((page.printing = false), render()));
}

// The data that stands in the page, whole: nothing is drawn of a half.
async function takeData() {
  const head = JSON.parse(byId("head").textContent);
  const decoded = await decodePage(head);
  page.head = head;
  prepare(decoded);
  page.choice = readHash(page);
}

async function start() {
  try {
    await takeData();
  } catch (error) {
    byId("mean-caption").textContent = `This browser could not decode the runs (${error}). The numbers above were computed by Python.`;
    throw error;
  }
  performance.mark("gapline-decoded");
  listen();
  render();
}

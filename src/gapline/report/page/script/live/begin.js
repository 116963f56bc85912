// Which part of the page follows from which part of the state.
const FOLLOWS = [
  [renderLink, ["link", "at"]],
  [renderPhase, ["phase", "runner", "study", "progress", "alarms", "running_alarms"]],
  [renderAlarms, ["alarms", "running_alarms", "rejected_arms", "beaten"]],
  [renderProgress, ["progress", "current"]],
  [renderLiveArms, ["arms", "bounds", "refused", "progress", "reference", "kernels"]],
  [renderRunning, ["running"]],
  [renderEvents, ["events", "phase"]],
  [renderFailures, ["failures", "progress"]],
  [renderFairness, ["fairness"]],
];

function drawLive() {
  drawing = false;
  const touched = live.touched;
  live.touched = new Set();
  if (live.state === null) return renderLink();
  for (const [draw, names] of FOLLOWS) if (names.some((name) => touched.has(name))) draw();
  if (["arms", "coverage", "refused"].some((name) => touched.has(name)) && isNews()) renewPart();
  document.documentElement.dataset.live = String(live.state.id);
}

// Whether the table that the report is made of changed since it was asked for.
let asked = null;

function isNews() {
  const { arms, coverage, refused } = live.state;
  const now = JSON.stringify([arms, coverage?.runs, refused]);
  const news = now !== asked;
  asked = now;
  return news;
}

function beginLive() {
  byId("save-report").addEventListener("click", saveReport);
  byId("live-arms-csv").addEventListener("click", saveArms);
  byId("running-all").addEventListener("click", () => {
    cards.all = !cards.all;
    touch(["running", null]);
  });
  // The reader's kernel and arms hold above the report too.
  page.onRender = () => live.state && touchAll();
  keepPulse();
  if (live.study === null) chooseStudy();
  else openStudy(live.study);
}

beginLive();

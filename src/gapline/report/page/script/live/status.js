// Who runs the study, how far it is, and whether what stands here is still of this moment.

const PHASES = { "not begun": "Not begun", running: "Running", stopped: "Stopped", finished: "Finished", unreadable: "Not readable", absent: "No study here" };

function renderLink() {
  const box = byId("link");
  const lost = live.gone !== null;
  box.classList.toggle("gone", lost);
  const last = live.state ? clockWords(live.state.at) : null;
  // The server's clock and the reader's may differ: each time is from one of them alone.
  const missing = live.missing ? `The server has no study “${visible(live.study ?? "")}”: it was removed or renamed, or was never there. It is shown as soon as it is there.` : null;
  const words = missing ?? (!lost ? (last ? "connected" : "opening…") : `No server since ${clockWords(live.since)}${live.gone ? ` (${live.gone})` : ""}. What stands here is of ${last ?? "before"} and can still be used; new data comes when the server is back.`);
  patchText("link", words);
  byId("save-report").disabled = lost || !live.state;
}

function renderPhase() {
  const { phase, runner, study, progress, alarms = [], running_alarms: ringing = [] } = live.state;
  const name = study.title || study.name;
  patchText("study-title", visible(name));
  patchText("study-facts", visible(study.title && study.title !== study.name ? study.name : ""));
  const words = PHASES[phase] ?? phase;
  const box = byId("phase");
  box.dataset.phase = phase;
  patchChildren(box, [element("strong", {}, words), ...(runner?.words && phase !== "stopped" ? [element("span", {}, `: ${runner.words}`)] : [])]);
  const stopped = phase === "stopped" || (phase === "not begun" && runner?.resume);
  show("stopped", stopped);
  byId("stopped").classList.toggle("calm", phase === "not begun");
  if (stopped) {
    const head = phase === "stopped" ? `${runner.words[0].toUpperCase()}${runner.words.slice(1)}.` : "It begins with this command:";
    patchChildren(byId("stopped"), [element("h3", {}, head), ...(phase === "stopped" ? [element("p", {}, "It goes on with this command, and what is done stays done:")] : []), element("pre", {}, runner.resume ?? "gapline run")]);
  }
  patchText("report-title", phase === "finished" ? "Report" : "Report of the whole runs so far");
  const rung = alarms.length + ringing.length;
  const count = progress ? ` ${progress.done}/${progress.planned}` : "";
  document.title = `${rung ? `⚠ ${countWords(rung, "alarm")} · ` : ""}${words}${count} · ${visible(name)}`;
}

// What must not be missed: contradictions, arms whose candidates are all rejected, references that were beaten.

// The word that introduces the side with the proof, by what its alarm says.
const PROOFS = [["dual bound", "bound"], ["calls the optimum", "optimum"], ["calls infeasible", "infeasible"]];

function alarmLine({ instance, kind, certificate, other, checked }) {
  const word = PROOFS.find(([said]) => kind.includes(said))?.[1] ?? "certified";
  const value = certificate.value === null ? "" : ` ${certificate.value}`;
  const doubt = checked === false ? " No checker has looked at it yet." : "";
  return element("li", {}, element("b", {}, instance), `: ${kind}: ${word}${value} (${certificate.source}), ${other.certified ? "certified" : "got"} ${other.value} (${other.source}).${doubt}`);
}

function alarmBox(kind, title, lines, note) {
  return element("div", { class: `alarm ${kind}` }, element("h3", {}, title), element("ul", {}, ...lines), note ? element("p", { class: "caption" }, note) : null);
}

function renderAlarms() {
  const { alarms = [], running_alarms: ringing = [], rejected_arms: rejected = [], beaten = [] } = live.state;
  const boxes = [];
  if (alarms.length + ringing.length) {
    boxes.push(alarmBox("loud", `Integrity alarm: ${countWords(alarms.length + ringing.length, "contradiction")}`, [...alarms, ...ringing].map(alarmLine), "Both sides are shown; neither is judged. Until it is cleared up, no score on these instances can be trusted."));
  }
  if (rejected.length) {
    boxes.push(alarmBox("loud", rejected.length === 1 ? "All candidates of an arm are rejected" : "All candidates of some arms are rejected", rejected.map(({ arm, candidates, reasons }) => {
      const why = Object.entries(reasons).map(([reason, number]) => `${reason} (${formatCount(number)})`).join(", ");
      return element("li", {}, element("b", {}, arm), `: ${countWords(candidates, "candidate")}, none valid${why ? `: ${why}` : ""}.`);
    })));
  }
  if (beaten.length) {
    boxes.push(alarmBox("mild", beaten.length === 1 ? "A reference was beaten" : `${formatCount(beaten.length)} references were beaten`, beaten.slice(0, 20).map(({ instance, reference, value, run, running, checked }) =>
      element("li", {}, element("b", {}, instance), `: ${formatValue(value, 12)} by ${run}, below ${formatValue(reference, 12)}${running ? "; it is still running" : ""}${checked ? "" : "; not checked by a checker"}.`)),
    `An improvement, a stale value, another instance or a defect.${beaten.length > 20 ? ` And ${formatCount(beaten.length - 20)} more.` : ""}`));
  }
  patchChildren(byId("alarm-list"), boxes);
  show("live-alarms", boxes.length > 0);
}

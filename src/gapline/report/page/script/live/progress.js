// How far the study is: one bar, the counts behind it, and about how long the rest takes.

function renderProgress() {
  const { progress, current } = live.state;
  show("progress-block", Boolean(progress?.planned));
  if (!progress?.planned) return;
  const { planned, done, failed, running, interrupted, quarantined, unchecked, missing, left, time_left: time, seconds_left: seconds } = progress;
  const parts = [["done", done - failed], ["failed", failed], ["unchecked", unchecked], ["running", running], ["interrupted", interrupted + quarantined], ["missing", missing]];
  const bar = byId("progress-bar");
  if (!bar.children.length) bar.append(...parts.map(([name]) => element("span", { class: name })));
  // Through the object model: an attribute would be a style that the policy does not name.
  parts.forEach(([, number], k) => (bar.children[k].style.flexGrow = String(number)));
  bar.setAttribute("aria-label", `${done} of ${planned} planned runs are done, ${running} are running, ${left} are left`);
  const rest = time !== null ? `about ${durationWords(time)}` : left || running ? `${durationWords(seconds)} of solving` : "none";
  const counts = [
    ["planned", planned], ["done", done], ["running", running], ["interrupted", interrupted + quarantined], ["failed", failed], ["left", left],
    ...(unchecked ? [["waiting for a verdict", unchecked]] : []),
  ].map(([name, number]) => [name, formatCount(number)]);
  const warned = { failed, interrupted: interrupted + quarantined, "waiting for a verdict": unchecked };
  patchChildren(byId("progress-counts"), [...counts, ["time left", rest]].map(([name, words]) =>
    element("div", { "data-part": name, class: warned[name] ? "warned" : null }, element("dt", {}, name), element("dd", { "data-count": name }, words))));
  const caption = [
    "Done: whole runs, however they ended; failed ones are among them.",
    interrupted + quarantined ? "Interrupted ones are made again, and are among those that are left." : "",
    quarantined ? `${countWords(quarantined, "attempt")} changed after the fact and count as interrupted.` : "",
    unchecked ? "Runs that wait for a verdict are whole; they count once they are checked (gapline check)." : "",
    current === false ? "Everything is being read anew: the table of arms follows." : "",
  ];
  patchText("progress-caption", caption.filter(Boolean).join(" "));
}

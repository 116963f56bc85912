// A folder of studies: how far each is; a click opens one.

const LIST_EVERY = 5000;

async function askStudies() {
  const answer = await fetch("/api/studies");
  if (!answer.ok) throw new Error(`${answer.status}`);
  return answer.json();
}

function renderStudies(studies) {
  show("studies", true);
  const rows = studies.map(({ id, name, title, phase, progress }) => {
    const link = element("a", { href: `/?study=${encodeURIComponent(id)}`, "data-study": id }, title || name);
    const done = progress?.planned ? `${formatCount(progress.done)} of ${formatCount(progress.planned)}` : DASH;
    const counts = (name) => (progress ? formatCount(progress[name]) : DASH);
    return [link, [PHASES[phase] ?? phase ?? "being read", phase === "stopped" || phase === "unreadable" ? "failed" : null], done, counts("running"), [counts("failed"), progress?.failed ? "failed" : null],
      progress?.time_left ? `about ${durationWords(progress.time_left)}` : DASH, id];
  });
  patchTable("study-table", [["study", "text name"], ["phase", "text"], ["done"], ["running"], ["failed"], ["time left"], ["folder", "text"]], rows);
  patchText("studies-caption", studies.length ? `${studies.length === 1 ? "One study" : `${formatCount(studies.length)} studies`}; choose one to watch it.` : "There is no study in this folder yet: one that appears is listed here.");
}

// The list alone, looked at anew every few seconds.
async function listStudies() {
  patchText("study-title", "Studies");
  for (const id of ["live-progress", "save-report"]) show(id, false);
  document.title = "Studies · gapline live";
  const look = async () => {
    try {
      renderStudies(await askStudies());
      setLinkWords(null);
    } catch {
      setLinkWords("");
    }
    setTimeout(look, LIST_EVERY);
  };
  await look();
}

function setLinkWords(why) {
  live.since = why === null ? null : live.since ?? new Date();
  byId("link").classList.toggle("gone", why !== null);
  patchText("link", why === null ? "connected" : `No server since ${clockWords(live.since)}; the list is of before.`);
}

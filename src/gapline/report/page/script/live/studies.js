// A folder of studies: how far each is; a click opens one.

const LIST_EVERY = 5000;
// Where nothing is there yet somebody waits for it; where one study is shown nobody waits for another.
const EMPTY_EVERY = 1250;
const OTHERS_EVERY = 60000;

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
  show("study-table", studies.length > 0);
  patchTable("study-table", [["study", "text name"], ["phase", "text"], ["done"], ["running"], ["failed"], ["time left"], ["folder", "text"]], rows);
  patchText("studies-caption", studies.length ? `${studies.length === 1 ? "One study" : `${formatCount(studies.length)} studies`}; choose one to watch it.` : "No study is in this folder yet. One that appears is shown at once: gapline init FOLDER/NAME begins one.");
}

// Without a study in its address the page is that of the only one that there is; else a list, looked at anew.
async function chooseStudy() {
  let studies = null;
  try {
    studies = await askStudies();
    setLinkWords(null);
  } catch {
    setLinkWords("");
  }
  if (studies?.length === 1 && !listed) return openStudy(studies[0].id);
  if (studies !== null) {
    listed ||= studies.length > 0;
    patchText("study-title", studies.length ? "Studies" : "No study yet");
    for (const id of ["live-progress", "save-report"]) show(id, false);
    document.title = `${studies.length ? "Studies" : "No study yet"} · gapline live`;
    renderStudies(studies);
  }
  setTimeout(chooseStudy, listed ? LIST_EVERY : EMPTY_EVERY);
}

// Whether there were studies to choose from: a list does not turn into something else under its reader's eyes.
let listed = false;

function openStudy(id) {
  live.study = id;
  show("studies", false);
  for (const shown of ["live-progress", "save-report"]) show(shown, true);
  openFeed();
  lookForOthers();
}

async function lookForOthers() {
  try {
    show("all-studies", (await askStudies()).length > 1);
  } catch {
    // That the server is gone is said elsewhere.
  }
  setTimeout(lookForOthers, OTHERS_EVERY);
}

function setLinkWords(why) {
  live.since = why === null ? null : live.since ?? new Date();
  byId("link").classList.toggle("gone", why !== null);
  patchText("link", why === null ? "connected" : `No server since ${clockWords(live.since)}; the list is of before.`);
}

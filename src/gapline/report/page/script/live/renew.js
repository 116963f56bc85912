// The report of the whole runs: fetched when these changed, its data put in place, drawn anew under the reader's choices.

const part = { mark: null, at: null, asking: false, again: false, timer: null, problem: "" };
// What the script draws itself; the other sections are Python's words.
const DRAWN = ["verdict", "curves", "contrasts", "panels", "instances", "run"];
const FORM = typeof decodeSteps === "function" ? "steps" : "summaries";

function isPartNew() {
  return part.mark !== null && !part.asking && !part.again && part.timer === null;
}

function renewPart() {
  if (live.state === null) return;
  if (live.state.refused || !live.state.arms?.length) return renderPartWords();
  part.again = true;
  if (!part.asking && part.timer === null) askPart();
}

async function askPart() {
  Object.assign(part, { asking: true, again: false, timer: null, problem: "" });
  renderPartWords();
  try {
    const answer = await fetch(`/api/report?${studyQuery(part.mark === null ? {} : { have: part.mark })}`);
    const text = await answer.text();
    if (answer.status === 202) part.timer = setTimeout(askPart, 1000 * Number(answer.headers.get("retry-after") ?? 5));
    else if (answer.status === 200) await takePart(text);
    else if (answer.status !== 204) part.problem = visible(text.trim());
  } catch {
    // The server is gone, which is said elsewhere; when it is back, this is asked again.
  }
  part.asking = false;
  if (part.again && part.timer === null) return askPart();
  renderPartWords();
  touch(["arms"]);
}

// Parsed, never run: a document of its own has no scripts, and its text is text.
async function takePart(text) {
  const fresh = new DOMParser().parseFromString(text, "text/html").getElementById("report-part");
  if (fresh.dataset.form !== FORM) return changeForm(fresh.dataset.form);
  fresh.querySelector("#verdict .alarm")?.remove();
  const body = byId("report-body");
  for (const old of document.querySelectorAll("#head, [id^=block-]")) old.remove();
  body.append(...fresh.querySelectorAll(":scope > script"));
  if (part.mark === null) {
    body.append(...fresh.children);
    show("report", true);
    Object.assign(part, { mark: fresh.dataset.mark, at: fresh.dataset.at });
    await start();
  } else {
    await takeData();
    const place = focusPlace();
    replaceWords(fresh);
    Object.assign(part, { mark: fresh.dataset.mark, at: fresh.dataset.at });
    const drawnAll = render();
    restoreFocus(place);
    await drawnAll;
  }
}

// More steps than a page carries, or no longer: the other engine, with the same choices.
function changeForm(form) {
  const words = new URLSearchParams(location.search);
  words.delete("summaries");
  if (form === "summaries") words.set("summaries", "1");
  location.replace(`${location.pathname}?${words}${location.hash}`);
}

function replaceWords(fresh) {
  for (const id of ["report-facts", "left-out"]) {
    const [old, now] = [byId(id), fresh.querySelector(`#${id}`)];
    if (old && now && !old.isEqualNode(now)) replaceSection(old, now);
  }
  for (const id of ["kernel", "snapshot", "goal"]) {
    const now = fresh.querySelector(`#${id}`);
    if (byId(id).innerHTML !== now.innerHTML) byId(id).replaceChildren(...now.children);
  }
  const main = byId("verdict").parentElement;
  const sections = [...fresh.querySelectorAll("main > section")];
  for (const old of [...main.children]) if (!sections.some(({ id }) => id === old.id)) old.remove();
  sections.forEach((section, k) => {
    const old = byId(section.id);
    if (!old) main.insertBefore(section, main.children[k] ?? null);
    else if (!DRAWN.includes(section.id) && !old.isEqualNode(section)) replaceSection(old, section);
  });
}

function renderPartWords() {
  const waits = part.mark === null && Boolean(live.state?.arms?.length) && !live.state.refused;
  if (waits) show("report", true);
  const words = part.mark === null ? (part.asking ? "being made…" : "") : `As of ${clockWords(part.at)}${live.gone !== null ? "" : part.asking || part.again ? "; being renewed" : part.timer !== null ? "; runs have ended since then, and it is renewed soon" : ""}.`;
  patchText("report-words", part.problem ? `No report: ${part.problem}` : live.state?.refused && part.mark !== null ? `${words} Scoring is refused since then.` : words);
}

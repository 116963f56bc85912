// The stream of a study: its state, then what changes. A browser that lost it comes back by itself with its last event.

const live = { state: null, study: new URLSearchParams(location.search).get("study"), source: null, heard: 0, gone: null, since: null, missing: false, touched: new Set(), runs: new Set() };
const RETRY = 3000;

function studyQuery(more = {}) {
  const words = new URLSearchParams(more);
  if (live.study !== null) words.set("study", live.study);
  return words.toString();
}

function openFeed(from = null) {
  const source = new EventSource(`/api/events?${studyQuery(from === null ? {} : { last: from })}`);
  live.source = source;
  const on = (name, take) => source.addEventListener(name, (event) => {
    live.heard = Date.now();
    take(JSON.parse(event.data));
  });
  source.onopen = () => {
    live.heard = Date.now();
    live.missing = false;
    setGone(null);
  };
  source.onerror = () => {
    setGone("");
    // An answer that is no stream ends it for the browser: we ask again ourselves.
    if (source.readyState === EventSource.CLOSED) setTimeout(comeBack, RETRY);
  };
  on("state", (state) => {
    live.state = state;
    touchAll();
  });
  on("change", (change) => {
    if (live.state === null || change.id <= live.state.id) return;
    if (change.id !== live.state.id + 1) {
      // Something is missing: everything anew.
      source.close();
      return openFeed();
    }
    for (const path of applyChange(live.state, change)) touch(path);
  });
  on("bye", ({ reason }) => setGone(reason));
}

// A study that the server does not have is asked for by its name alone, so that no answer is an error to the browser.
async function comeBack() {
  try {
    const studies = await askStudies();
    live.missing = live.study !== null && !studies.some(({ id }) => id === live.study);
  } catch {
    live.missing = false;
  }
  touch(["link"]);
  if (live.missing) setTimeout(comeBack, RETRY);
  else openFeed(live.state?.id ?? null);
}

function setGone(why) {
  if (why === null) {
    live.gone = live.since = null;
    renewPart();
  } else {
    live.gone = why;
    live.since ??= new Date();
  }
  touch(["link"]);
}

function touch([name, run]) {
  live.touched.add(name);
  if (name === "running") live.runs.add(run ?? null);
  drawSoon();
}

function touchAll() {
  live.runs.add(null);
  for (const name of ["link", ...Object.keys(live.state)]) live.touched.add(name);
  drawSoon();
}

let drawing = false;

// Several events before the next frame are drawn once; a page that nobody looks at has no frames, but a title.
function drawSoon() {
  if (drawing) return;
  drawing = true;
  if (document.hidden) setTimeout(drawLive, 250);
  else requestAnimationFrame(drawLive);
}

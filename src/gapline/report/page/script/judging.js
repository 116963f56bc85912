// Intervals and p-values of the choice: Python's for the declared one, else those that a worker finds by the same rules
// and draws. Until it has answered there are none: what was computed for another choice is never shown.

const judging = { worker: null, ticket: 0, known: new Map(), resolve: null };

function newWorker() {
  const url = URL.createObjectURL(new Blob([`(${judgeScope})();`], { type: "text/javascript" }));
  const worker = new Worker(url);
  worker.onmessage = ({ data }) => judging.resolve?.(data);
  worker.onerror = (event) => judging.resolve?.({ ticket: judging.ticket, none: `this browser could not compute them (${event.message || "no worker"})` });
  return worker;
}

function isDeclared(choice) {
  return staleReason(page, choice) === null;
}

// What is said of the choice: intervals and contrasts, `none` with the reason where there are none, null while they are
// being computed.
function judgementOf(choice) {
  const { head } = page;
  if (isDeclared(choice)) return { intervals: head.intervals, contrasts: head.contrasts, none: head.noIntervals, python: true };
  return judging.known.get(judgingKey(choice)) ?? null;
}

function judgingKey({ kernel, snapshot, horizon, weighting }) {
  return JSON.stringify([page.head.campaign, kernel.name, snapshot, horizon, weighting]);
}

// The pairs that Python tests, or would: the declared ones, and all others of the ranked arms.
function judgedPairs() {
  const { head } = page;
  const named = head.judging.declared.map(([a, b]) => ({ a, b, declared: true }));
  const taken = new Set(named.flatMap(({ a, b }) => [JSON.stringify([a, b]), JSON.stringify([b, a])]));
  const compared = head.instanceSet.arms;
  const others = compared.flatMap((a, k) => compared.slice(k + 1).map((b) => ({ a, b, declared: false })));
  return [...named, ...others.filter(({ a, b }) => !taken.has(JSON.stringify([a, b])))];
}

// Ask for what is not known yet; resolves with true where something new is to be shown.
async function judgeChoice(choice) {
  if (judgementOf(choice) !== null) return false;
  const key = judgingKey(choice);
  const cells = cellsToJudge(page, choice);
  const found = cells.none ? cells : await askWorker({ ...cells, range: choice.kernel.range });
  if (found === null) return false;
  judging.known.set(key, found);
  return key === judgingKey(page.choice);
}

// Null where a newer question overtook this one: the worker that is at it is stopped, and another one takes over.
function askWorker(cells) {
  const { head } = page;
  const { method, level, draws, generator, spares } = head.judging;
  const given = { ...cells, names: head.arms, panels: head.panels, arms: head.arms.length, method, level, draws, generator, spares, pairs: judgedPairs() };
  const ticket = ++judging.ticket;
  if (judging.resolve) {
    judging.resolve(null);
    judging.worker.terminate();
    judging.worker = null;
  }
  return new Promise((resolve) => {
    judging.resolve = (found) => {
      judging.resolve = null;
      resolve(found === null ? null : withoutTogether(found));
    };
    try {
      judging.worker ??= newWorker();
      judging.worker.postMessage({ ticket, given });
    } catch (error) {
      judging.resolve({ ticket, none: `this browser could not compute them (${error.message})` });
    }
  });
}

// Intervals of declared pairs that hold together need draws that Python alone makes: they are not there.
function withoutTogether(found) {
  if (!page.head.judging.together || !found.contrasts) return found;
  const why = "intervals that hold together are computed by Python alone: gapline report with this choice";
  return { ...found, contrasts: found.contrasts.map((row) => (row.declared ? { ...row, low: null, high: null, reason: row.reason ?? why } : row)) };
}

function noScores({ kernel }, missing) {
  return `kernel ${kernel.name}: expected a score of every run, got none for ${formatCount(missing)}`;
}

// What stands where an interval would: nothing, a sign that it is being computed, or the interval.
function judgedText(judged, text) {
  return judged === null ? element("span", { class: "pending", title: "being computed" }, "…") : judged.none ? DASH : text;
}

// How the intervals of the choice were found, for captions.
function judgedWords(judged, caption) {
  const { head } = page;
  if (judged === null) return "Intervals are being computed.";
  if (judged.none) return `No intervals: ${judged.none}.`;
  return judged.python ? caption : `${formatValue(100 * head.level, 4)} % intervals by ${head.judging.how}, computed in this page for this choice.`;
}

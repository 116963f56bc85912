// Moments, durations and names of the live page, in words.

function clockWords(stamp) {
  const moment = new Date(stamp);
  return [moment.getHours(), moment.getMinutes(), moment.getSeconds()].map((part) => String(part).padStart(2, "0")).join(":");
}

function durationWords(seconds) {
  const whole = Math.round(seconds);
  const parts = [[Math.floor(whole / 86400), "d"], [Math.floor(whole / 3600) % 24, "h"], [Math.floor(whole / 60) % 60, "min"], [whole % 60, "s"]];
  const first = parts.findIndex(([number]) => number > 0);
  // Two units are as much as anybody waits by.
  return first < 0 ? "0 s" : parts.slice(first, first + 2).filter(([number]) => number > 0).map(([number, unit]) => `${number} ${unit}`).join(" ");
}

function countWords(number, noun) {
  return `${formatCount(number)} ${noun}${number === 1 ? "" : "s"}`;
}

// A score of the state: null does not exist, and JSON has no infinity.
function liveScore(value) {
  return value === "overflow" ? value : formatScore(value ?? null);
}

function spanWords(low, high) {
  return low === null || low === undefined ? DASH : `${formatScore(low)} to ${formatScore(high)}`;
}

// The arm as the report below draws it, once that is there.
function liveArm(name) {
  const arm = page.summary ? page.head.arms.indexOf(name) : -1;
  return element("span", { class: "arm-cell" }, arm < 0 ? null : swatch(arm), name);
}

// The kernel that the reader chose, where the state has it; else the declared one.
function liveKernel() {
  const { kernels = [] } = live.state;
  const chosen = page.choice?.kernel.name;
  return kernels.includes(chosen) ? chosen : kernels[0] ?? Object.keys(live.state.bounds ?? {})[0] ?? null;
}

function isHidden(arm) {
  return page.choice?.hidden.has(arm) ?? false;
}

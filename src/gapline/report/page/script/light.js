// One arm is lit, by pointer or by focus: its lines are thick, those of the others fade. Nothing is drawn anew.

let lighting = null;

// The number of an arm, or null for all alike; `again` where a chart is new.
function light(arm, again = false) {
  if (page.lit === arm && !again) return;
  page.lit = arm;
  if (lighting !== null) return;
  lighting = requestAnimationFrame(() => {
    lighting = null;
    for (const button of document.querySelectorAll("#arms > *")) button.classList.toggle("lit", button.dataset.arm === page.head.arms[page.lit]);
    for (const { view } of drawn.values()) if (view && view.signal("lit") !== (page.lit ?? -1)) view.signal("lit", page.lit ?? -1).runAsync();
  });
}

// What an arm's marks have while another one is lit, and while it is lit itself.
const FADING = { condition: { test: "lit < 0 || datum.arm === lit", value: 1 }, value: 0.18 };

function thicker(width) {
  return { condition: { test: "datum.arm === lit", value: width + 1.6 }, value: width };
}

// Buttons of arms and rows of the ranking name their arm.
function lightNamed(event) {
  const name = event.target.closest?.("[data-arm]")?.dataset.arm;
  const arm = name === undefined ? -1 : page.head.arms.indexOf(name);
  light(arm < 0 ? null : arm);
}

function listenForLight() {
  document.addEventListener("pointerover", (event) => event.target.closest?.(".chart") || lightNamed(event));
  document.addEventListener("focusin", lightNamed);
}

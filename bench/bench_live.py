"""What it costs to follow a study of 10,000 done and 100 running cells, and to have 200 clients.

python -m bench live
"""

import contextlib
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from torture.crowd import Crowd, Server, served
from torture.watched_study import WatchedStudy, watched_study

from gapline.live.state import LiveStudy

DONE, RUNNING, FEW = 10_000, 100, 1000
# Seconds for which the share of a core is measured, and clients are held.
WATCHED = 20.0
CLIENTS, DEAF = 200, 50
ROUNDS = 5
# Notes when each incumbent of a run was drawn first, on the clock of the machine.
SEEN = """(run) => { window.seen = {}; window.drawings = 0; new MutationObserver(() => {
    window.drawings++;
    window.seen[document.querySelector(`[data-run="${run}"] [data-fact=incumbent]`)?.textContent] ??= Date.now() })
  .observe(document.documentElement, { attributes: true, attributeFilter: ["data-live"] }) }"""


@contextlib.contextmanager
def large(done: int, running: int) -> Iterator[WatchedStudy]:
    with tempfile.TemporaryDirectory() as folder, watched_study(Path(folder) / "study", done, running) as study:
        yield study


def seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work: whoever else uses the machine does not count."""
    start = time.process_time()
    work()
    return time.process_time() - start


def update_cost(study: WatchedStudy, live: LiveStudy, changed: int) -> float:
    """Return the best time of a look after so many of the running runs went on."""
    best = float("inf")
    for turn in range(7):
        clock = time.monotonic() % 1000 + 100
        study.say(study.running[:changed], clock, 50.0 - turn * 0.01)
        best = min(best, seconds(live.look))
    return best


def run() -> list[tuple[str, float, float | None]]:
    """Measure, and return (what, ratio, limit)."""
    rows: list[tuple[str, float, float | None]] = []
    with large(FEW, RUNNING) as study:
        live = LiveStudy(study.path)
        live.look()
        few = update_cost(study, live, 10)
        live.close()
    with large(DONE, RUNNING) as study:
        live = LiveStudy(study.path)
        opened = seconds(live.look)
        total = DONE + RUNNING
        rows.append((f"live: seconds to open {total:,} cells / thousand cells", opened / (total / 1000), 2.0))
        idle = min(seconds(live.look) for _ in range(7))
        one, ten, hundred = (update_cost(study, live, number) for number in (1, 10, 100))
        rows.append(("live: look after 10 of 100 runs went on, 10,000 done / 1,000 done", ten / few, 3.0))
        rows.append(("live: look after 100 runs went on / after 10", hundred / ten, 10.0))
        rows.append(("live: look after 1 run went on / opening", one / opened, 0.05))
        rows.append(("live: look when nothing changed / opening", idle / opened, 0.05))
        live.close()
        rows += _served(study)
    return rows


def _served(study: WatchedStudy) -> list[tuple[str, float, float | None]]:
    """Measure a server: its share of a core, its memory and how late clients are, some of whom never read."""
    with served(study.path) as server:
        crowd = Crowd(server.port, 1, 0)
        crowd.attend(time.monotonic() + 60, lambda: crowd.readers[0].states > 0)
        # Numba is loaded once, for curves or for many looks, whoever is there.
        server.ask("/api/curves")
        share = _share(server, crowd, study)
        before = server.memory()
        crowd.close()
        crowd = Crowd(server.port, CLIENTS - DEAF, DEAF)
        crowd.attend(time.monotonic() + 60, lambda: all(one.states for one in crowd.readers))
        heard: list[tuple[float, float]] = []
        for reader in crowd.readers:
            reader.on_change(lambda change: heard.extend(_incumbents(change)))
        latest = 0.0
        end, turn = time.monotonic() + WATCHED, 0
        while time.monotonic() < end:
            turn += 1
            mark = round(49 - turn * 0.001, 6)
            study.say(study.running[:1], 2000.0 + turn, mark)
            said = time.monotonic()
            crowd.attend(said + 60, lambda mark=mark: sum(value == mark for value, _ in heard) == len(crowd.readers))
            latest = max(latest, max(at for value, at in heard if value == mark) - said)
            heard.clear()
        after = server.memory()
        crowd.close()
        late = _page(server, study)
    return [
        *late,
        ("live: share of one core with 100 runs that each say something every second", share, 0.02),
        (f"live: seconds from a journal to the last of {CLIENTS - DEAF} clients that read", latest, 2.0),
        (f"live: memory with {CLIENTS} clients, {DEAF} of which never read / with one", after / before, 1.5),
    ]


def _page(server: Server, study: WatchedStudy) -> list[tuple[str, float, float | None]]:
    """Measure how late a page in a browser is, of what is written right after a look: the longest that one waits."""
    program = shutil.which("chromium")
    if program is None:
        return []
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(f"http://127.0.0.1:{server.port}/", timeout=120_000)
        # Of many runs the page shows some.
        name = page.wait_for_selector("[data-run]", timeout=120_000).get_attribute("data-run")
        shown = [one for one in study.running if str(one.key) == name]
        page.evaluate(SEEN, name)
        rounds = []
        for turn in range(ROUNDS):
            value = round(20 - turn * 0.5, 6)
            # A drawing is of a look that has just been taken.
            before = page.evaluate("() => window.drawings")
            page.wait_for_function("(before) => window.drawings > before", arg=before, timeout=120_000)
            study.say(shown, 3000.0 + turn, value)
            said = time.time()
            page.wait_for_function("(value) => window.seen[value]", arg=f"{value:g}", timeout=120_000)
            rounds.append(page.evaluate("(value) => window.seen[value]", f"{value:g}") / 1000 - said)
        browser.close()
    return [
        (
            f"live: seconds from a journal to a page in a browser, at the worst moment, best of {ROUNDS}",
            min(rounds),
            2.0,
        )
    ]


def _incumbents(change: dict[str, Any]) -> list[tuple[float, float]]:
    now = time.monotonic()
    return [(value, now) for path, value in change["set"] if path[-1] == "incumbent"]


def _share(server: Server, crowd: Crowd, study: WatchedStudy) -> float:
    start, used = time.monotonic(), server.processor_time()
    turn = 0
    while (passed := time.monotonic() - start) < WATCHED:
        turn += 1
        study.say(study.running, 1000.0 + passed, 49.9 - 0.001 * turn)
        crowd.attend(start + turn)
    return (server.processor_time() - used) / (time.monotonic() - start)


if __name__ == "__main__":
    for what, value, limit in run():
        print(f"{what:<90} {value:8.4f}  limit {limit}")

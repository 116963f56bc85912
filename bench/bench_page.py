"""The report page of 8,800 runs with 120 steps each, and of 200,000 runs: writing, size, and using it in Chromium."""

import shutil
import tempfile
import zlib
from pathlib import Path
from typing import Any

import gapline as gl
from bench.timing import ratio
from bench.traces import make_campaign, references
from gapline.report.page import encode
from gapline.report.page.build import write_page
from gapline.report.page.seal import vega_bundle
from gapline.report.write import for_report

Row = tuple[str, float, float | None]
MOST_BYTES = 8_000_000
# What a reader can change, three times each: the control, what it is set to, and the event of it.
SWITCHES = [
    [("kernel", name, "change") for name in ("maxform", "dimacs:1.1", "squeezed")],
    [("weighting", name, "change") for name in ("instance", "run", "panel")],
    [("goal", str(place), "change") for place in (1, 0, 1)],
    [("scale", name, "change") for name in ("log", "linear", "log")],
    [("axis-to", end, "change") for end in ("5", "3", "")],
    [("arms", "", "click")] * 3,
]


def run() -> list[Row]:
    campaign = make_campaign(runs=8800, candidates=120, improving=1.0)
    study = for_report(gl.open_study(campaign, snapshots=[references(campaign)], draws=200))
    envelopes = study.envelopes
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.html"

        def write() -> None:
            # A command writes one page: fetching Vega is part of it.
            vega_bundle.cache_clear()
            write_page(study, path)

        def compress() -> None:
            zlib.compress(envelopes.time.tobytes())
            zlib.compress(envelopes.objective.tobytes())

        rows: list[Row] = [
            (
                "page of 8,800 runs × 120 steps: writing / zlib of the raw step columns",
                ratio(write, compress, repeats=3),
                8,
            ),
            ("page of 8,800 runs × 120 steps: bytes / 8 MB", path.stat().st_size / MOST_BYTES, 1),
        ]
        large = Path(folder) / "large.html"
        write_page(_large_study(), large)
        rows.append(("page of 200,000 runs × 10 steps: bytes / 10 MB", large.stat().st_size / encode.MOST_BYTES, 1))
        return rows + _browser_rows(path, large)


def _large_study() -> gl.Study:
    campaign = make_campaign(runs=200_000, candidates=10, improving=1.0)
    return for_report(gl.open_study(campaign, snapshots=[references(campaign)], draws=200))


def _browser_rows(path: Path, large: Path) -> list[Row]:
    program = shutil.which("chromium")
    if program is None:
        return []
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=program, args=["--no-sandbox", "--disable-gpu"])
        path_page = browser.new_page(viewport={"width": 1280, "height": 900})
        path_page.goto(path.as_uri())
        path_page.wait_for_selector("html[data-settled]", timeout=120_000)
        painted, decoded = path_page.evaluate(
            """() => [performance.getEntriesByName('first-contentful-paint')[0].startTime,
                      performance.getEntriesByName('gapline-decoded')[0].startTime]"""
        )
        settled = [min(_settle(browser, file) for _ in range(3)) for file in (large, path)]
        wide = browser.new_page(viewport={"width": 1280, "height": 900})
        wide.goto(large.as_uri())
        wide.wait_for_selector("html[data-settled]", timeout=120_000)
        slowest = [max(min(_switch(one, *step) for step in steps) for steps in SWITCHES) for one in (path_page, wide)]
        lighting = [min(_light(one) for _ in range(5)) for one in (path_page, wide)]
        browser.close()
    return [
        ("page of 8,800 runs × 120 steps: first paint with the means / runs decoded", painted / decoded, 1),
        ("page of 200,000 runs: seconds until it is settled / those of the page of 8,800", settled[0] / settled[1], 2),
        ("page of 8,800 runs × 120 steps: seconds of its slowest switch, best of three each", slowest[0], 1),
        ("page of 200,000 runs: seconds of its slowest switch, best of three each", slowest[1], 1),
        ("page of 8,800 runs × 120 steps: seconds until an arm is lit", lighting[0], 0.2),
        ("page of 200,000 runs: seconds until an arm is lit", lighting[1], 0.2),
    ]


def _settle(browser: Any, path: Path) -> float:
    """Return the seconds from opening a page to its last drawing, by the page's own clock."""
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    page.add_init_script(
        """new MutationObserver(() => { window.settledAt ??= performance.now() })
             .observe(document, { subtree: true, attributes: true, attributeFilter: ['data-settled'] })"""
    )
    page.goto(path.as_uri())
    page.wait_for_selector("html[data-settled]", timeout=120_000)
    found = float(page.evaluate("() => window.settledAt")) / 1000
    page.close()
    return found


def _switch(page: Any, control: str, value: str, event: str) -> float:
    """Return the seconds from the reader's choice to the last drawing, also out of sight, by the page's own clock."""
    return float(
        page.evaluate(
            """async ([name, value, event]) => {
                 const { dataset } = document.documentElement;
                 while (dataset.settled !== dataset.renders) await new Promise(done => setTimeout(done, 20));
                 const before = dataset.renders, start = performance.now();
                 const drawn = new Promise(done => new MutationObserver((_, watch) => {
                   if (dataset.renders !== before && dataset.settled === dataset.renders) { watch.disconnect(); done() }
                 }).observe(document.documentElement, { attributes: true }));
                 const control = document.getElementById(name);
                 if (event === 'click') control.firstElementChild.click();
                 else { control.value = value; control.dispatchEvent(new Event(event)); }
                 await drawn;
                 return (performance.now() - start) / 1000;
               }""",
            [control, value, event],
        )
    )


def _light(page: Any) -> float:
    """Return the seconds from the focus on an arm to the frame in which its line stands out."""
    return float(
        page.evaluate(
            """async () => {
                 const faded = () => [...document.querySelectorAll('#mean-chart .mark-line.role-mark path')]
                   .filter(path => Number(path.getAttribute('opacity') ?? 1) < 0.5).length;
                 const frame = () => new Promise(requestAnimationFrame);
                 document.activeElement.blur();
                 document.dispatchEvent(new FocusEvent('focusin'));
                 while (faded()) await frame();
                 const start = performance.now();
                 document.querySelector('.arm:last-child').focus();
                 while (!faded()) await frame();
                 return (performance.now() - start) / 1000;
               }"""
        )
    )

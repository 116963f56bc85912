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
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.goto(path.as_uri())
        page.wait_for_selector("html[data-settled]", timeout=120_000)
        painted, decoded = page.evaluate(
            """() => [performance.getEntriesByName('first-contentful-paint')[0].startTime,
                      performance.getEntriesByName('gapline-decoded')[0].startTime]"""
        )
        settled = [min(_settle(browser, file) for _ in range(3)) for file in (large, path)]
        switches = [_switch(page, kernel) for kernel in ("maxform", "dimacs:1.1", "squeezed", "berthold", "squeezed")]
        browser.close()
    return [
        ("page of 8,800 runs × 120 steps: first paint with the means / runs decoded", painted / decoded, 1),
        ("page of 200,000 runs: seconds until it is settled / those of the page of 8,800", settled[0] / settled[1], 2),
        ("page of 8,800 runs × 120 steps: seconds to switch the kernel, best of five", min(switches), 1),
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


def _switch(page: Any, kernel: str) -> float:
    """Return the seconds from the reader's choice to the last drawing in sight, by the page's own clock."""
    return float(
        page.evaluate(
            """async kernel => {
                 const { dataset } = document.documentElement;
                 while (dataset.settled !== dataset.renders) await new Promise(done => setTimeout(done, 20));
                 const before = dataset.renders, start = performance.now();
                 const drawn = new Promise(done => new MutationObserver((_, watch) => {
                   if (dataset.renders !== before) { watch.disconnect(); done() }
                 }).observe(document.documentElement, { attributes: true }));
                 const control = document.getElementById('kernel');
                 control.value = kernel;
                 control.dispatchEvent(new Event('change'));
                 await drawn;
                 return (performance.now() - start) / 1000;
               }""",
            kernel,
        )
    )

"""What a small memory budget, parts and workers cost: the same campaign whole, in chunks, in parts, and apart.

python -m bench chunks
"""

import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from bench.large import GAPLINE, watched
from bench.timing import ratio
from bench.traces import make_campaign, references
from gapline.campaign.partitions import save_parts
from gapline.campaign.store import open_campaign
from gapline.executors.tasks import open_workers
from gapline.files.memory import limited_memory
from gapline.report.curves import MOST_STEPS
from gapline.report.page import encode
from gapline.scoring.scores import Scores
from gapline.study import open_study
from gapline.traces.merge import parts_of

Row = tuple[str, float, float | None]
RUNS, CANDIDATES = 20_000, 1000
# A fifth of the columns, and the least that can be asked for, a twentieth.
MODEST, SMALL = 64 << 20, 16 << 20
REPORT = 256_000_000


def run() -> list[Row]:
    with tempfile.TemporaryDirectory() as scratch:
        place = Path(scratch)
        campaign = make_campaign(runs=RUNS, candidates=CANDIDATES, improving=1 / 3)
        snapshot = references(campaign)
        campaign.save(place / "whole")
        snapshot.save(place / "refs.json")
        halves = [place / "first", place / "second"]
        for folder, rows in zip(halves, (slice(0, RUNS // 2), slice(RUNS // 2, RUNS)), strict=True):
            type(campaign)(
                runs=campaign.runs[rows], time=campaign.time, objective=campaign.objective, verdict=campaign.verdict
            ).save(folder)
        save_parts(parts_of(halves, read=open_campaign), place / "parts")
        del campaign

        def scored(source: str, budget: int | None = None, **choices: object) -> Callable[[], Scores]:
            def work() -> Scores:
                with limited_memory(budget):
                    return open_study(str(place / source), snapshots=[snapshot], **choices).scores[0]  # type: ignore[arg-type]

            return work

        whole = scored("whole")
        rows: list[Row] = [
            *(
                (f"20 M candidates{where} scored within {budget >> 20} MiB / all at once", found, limit)
                for source, where, budget, limit in (
                    ("whole", "", MODEST, 1.3),
                    ("whole", "", SMALL, 1.3),
                    ("parts", " in two parts", MODEST, 1.3),
                    # Pieces of a twentieth that no two parts share: 1.23 to 1.34 were seen.
                    ("parts", " in two parts", SMALL, 1.4),
                )
                for found in [ratio(scored(source, budget), whole, repeats=9)]
            ),
            ("peak of anonymous memory beyond start, within 16 MiB / the columns", _memory(place), 0.25),
            # The most that is drawn step by step, the most that may lie in a page, and more than either.
            *(
                (
                    f"report of {what}, within 256 MB: anonymous memory beyond that of 200 runs / the budget",
                    found,
                    limit,
                )
                for what, found, limit in _reports(place)
            ),
        ]
        with open_workers("local:2", paths=[place / "parts"]) as workers:
            rows.append(
                (
                    "two processes / one with two threads",
                    ratio(scored("parts", workers=workers), whole, repeats=3),
                    None,
                )
            )
        with ExitStack() as stack:
            if (address := _dask(place, stack)) is not None:
                with open_workers(f"dask:{address}", paths=[place / "parts"]) as workers:
                    apart = ratio(scored("parts", workers=workers), whole, repeats=3)
                rows.append(("Dask with two workers / one process with two threads", apart, None))
        return rows


_CHILD = r"""
import re, sys
from gapline.files.memory import limited_memory
from gapline.references.snapshot import Snapshot
from gapline.study import open_study
import threading, time
peak, going = [0], [True]
def anonymous():
    return int(re.search(r"RssAnon:\s+(\d+)", open("/proc/self/status").read())[1]) * 1024
def watch():
    while going[0]:
        peak[0] = max(peak[0], anonymous())
        time.sleep(0.005)
snapshot = Snapshot.load(sys.argv[2])
with limited_memory(int(sys.argv[3])):
    open_study(sys.argv[4], snapshots=[snapshot]).scores
    before = anonymous()
    threading.Thread(target=watch, daemon=True).start()
    study = open_study(sys.argv[1], snapshots=[snapshot])
    study.scores
    going[0] = False
    print((peak[0] - before) / sum(column.nbytes for column in study.campaign.columns.values()))
"""


def _memory(place: Path) -> float:
    small = make_campaign(runs=200, candidates=1000, improving=1 / 3)
    small.save(place / "small")
    command = [
        sys.executable,
        "-c",
        _CHILD,
        str(place / "whole"),
        str(place / "refs.json"),
        str(SMALL),
        str(place / "small"),
    ]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def _reports(place: Path) -> list[Row]:
    """Return by what share of the budget reports hold more than one of the small campaign."""
    # Of those with as many steps as are drawn or carried, a little fewer: it is a third, more or less.
    sizes = {
        "drawn": (3 * MOST_STEPS // CANDIDATES * 98 // 100, CANDIDATES),
        "carried": (3 * encode.MOST_STEPS // CANDIDATES * 98 // 100, CANDIDATES),
        "long": (RUNS, 3 * CANDIDATES),
    }
    for source, (runs, candidates) in sizes.items():
        make_campaign(runs=runs, candidates=candidates, improving=1 / 3).save(place / source)
    peaks = {}
    for source in ("small", *sizes, "whole"):
        command = [GAPLINE, "report", str(place / source), "--snapshot", str(place / "refs.json")]
        code, peaks[source] = watched([*command, "--memory", f"{REPORT}B", "-o", str(place / f"report-{source}")])
        assert code == 0, f"report of {source}: exit {code}"
    beyond = {source: (peak - peaks["small"]) / REPORT for source, peak in peaks.items()}
    return [
        ("6 M candidates", beyond["drawn"], 0.9),
        ("12 M candidates", beyond["carried"], 0.5),
        ("20 M candidates", beyond["whole"], 0.5),
        ("60 M candidates", beyond["long"], 0.5),
    ]


def _dask(place: Path, stack: ExitStack) -> str | None:
    """Start a scheduler and two workers; None without Dask."""
    try:
        import distributed  # noqa: F401
    except ImportError:
        return None
    scheduler = [sys.executable, "-P", "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0"]
    log = place / "scheduler.log"
    with log.open("w") as stream:
        started = subprocess.Popen([*scheduler, "--no-dashboard"], stdout=stream, stderr=stream)
    stack.callback(started.terminate)
    address = None
    for _ in range(600):
        if found := re.search(r"tcp://[\d.]+:\d+", log.read_text()):
            address = found[0]
            break
        time.sleep(0.1)
    if address is None:
        return None
    for _ in range(2):
        command = [sys.executable, "-P", "-m", "distributed.cli.dask_worker", address, "--no-nanny", "--nthreads", "1"]
        worker = subprocess.Popen(
            [*command, "--no-dashboard", "--local-directory", str(place / "dask")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        stack.callback(worker.terminate)
    from distributed import Client

    with Client(address, set_as_default=False) as client:
        client.wait_for_workers(2, timeout=60)
    return address

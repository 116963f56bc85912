"""How long a command line takes to answer."""

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

from bench.timing import seconds
from bench.traces import make_campaign

Row = tuple[str, float, float | None]


def run() -> list[Row]:
    gapline = str(Path(sys.executable).with_name("gapline"))
    python = _time([sys.executable, "-c", "pass"])
    rows: list[Row] = [
        ("gapline --version / python -c pass", _time([gapline, "--version"]) / python, 8.0),
        ("gapline --help / python -c pass", _time([gapline, "--help"]) / python, 20.0),
    ]
    with tempfile.TemporaryDirectory() as folder:
        from gapline.capture.export import write_trace

        campaign = make_campaign(runs=100, candidates=100, improving=1 / 3)
        write_trace(campaign, Path(folder) / "traces.csv")
        names = sorted(campaign.runs["instance"].unique())
        Path(folder, "refs.csv").write_text("instance,value\n" + "".join(f"{name},1100\n" for name in names))
        command = [gapline, "score", f"{folder}/traces.csv", "--references", f"{folder}/refs.csv", "--json"]
        # A cache folder of its own, so that the first call compiles as it does on a new machine.
        first = seconds(lambda: _run(command, NUMBA_CACHE_DIR=f"{folder}/cache"))
        later = median(seconds(lambda: _run(command, NUMBA_CACHE_DIR=f"{folder}/cache")) for _ in range(5))
    rows += [
        ("first `gapline score` ever on 10,000 candidates, seconds (about 5 wanted)", first, None),
        ("the next ones, seconds (under 1.5 wanted)", later, None),
        ("first / next", first / later, None),
    ]
    return rows


def _time(command: list[str]) -> float:
    _run(command)
    return median(seconds(lambda: _run(command)) for _ in range(9))


def _run(command: list[str], **environment: str) -> None:
    subprocess.run(command, capture_output=True, check=True, env=os.environ | environment)

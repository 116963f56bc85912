"""What recording from code of one's own costs: one `add`, against writing the same bytes and against five microseconds.

python -c "from bench.bench_record import run; print(run())"
"""

import os
import tempfile
from collections.abc import Callable
from pathlib import Path

import gapline as gl
from bench.timing import ratio, seconds
from gapline.traces.recording import Trace

CALLS = 200
MICROSECONDS = 5
ROUTES = [list(range(first, first + 10)) for first in range(1, 101, 10)]


def run() -> list[tuple[str, float, float | None]]:
    """Measure, and return (what, ratio, limit)."""
    measured: list[tuple[str, float, float | None]] = []
    with tempfile.TemporaryDirectory() as name:
        for what, solution, limit in (("an add", None, 8.0), ("an add with 100 customers", ROUTES, None)):
            path = Path(name) / "traces.jsonl"
            with gl.record(path, arm="a", instance="i", horizon=3600) as trace:
                add = _adding(trace, solution)
                add()
                line = path.read_bytes().splitlines(keepends=True)[-1]
                bare = os.open(Path(name) / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
                write = _writing(bare, line)
                # Of many short rounds: other work on the machine is in most of them, and never makes one faster.
                each = min(seconds(add) for _ in range(1000)) / CALLS
                against = ratio(add, write, repeats=300)
                os.close(bare)
            if solution is None:
                measured.append((f"record: {what} / {MICROSECONDS} µs", each / (MICROSECONDS * 1e-6), 1.0))
            measured.append((f"record: {what} / a write of the same {len(line)} bytes", against, limit))
            path.unlink()
    return measured


def _adding(trace: Trace, solution: object) -> Callable[[], None]:
    def add() -> None:
        for step in range(CALLS):
            trace.add(123456.5 - step, solution=solution)

    return add


def _writing(file: int, line: bytes) -> Callable[[], None]:
    def write() -> None:
        for _ in range(CALLS):
            os.write(file, line)

    return write


if __name__ == "__main__":
    for what, found, limit in run():
        print(f"{what:<70} {found:8.4f}  limit {limit}")

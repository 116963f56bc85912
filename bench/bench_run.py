"""What capturing costs a solver, and how true its stamps are.

python -c "from bench.bench_run import run; print(run())"
"""

import contextlib
import fcntl
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import msgspec

from gapline.journal.read import read_journal
from gapline.journal.records import Order
from gapline.process.supervise import PIPE_SIZE, PRIORITY

RATE = 20_000
SECONDS = 5
LATENESS = 0.005

# Prints `count` candidates at `rate` per second, each with the moment of its emission, and how long that took. Between
# candidates it works instead of sleeping, unless told otherwise.
SOLVER = r"""
import os, sys, time
count, rate, busy = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "busy"
solution = "[" + ",".join(map(str, range(1, 101))) + "]"
began = time.monotonic_ns()
for number in range(count):
    due = began + number * 1_000_000_000 // rate
    if busy:
        while time.monotonic_ns() < due:
            pass
    else:
        time.sleep(max(0, (due - time.monotonic_ns()) / 1e9))
    now = time.monotonic_ns()
    os.write(1, b'{"objective": %d, "time": %d, "solution": %s}\n' % (count - number + 1, now, solution.encode()))
os.write(2, b"%d" % (time.monotonic_ns() - began))
"""


def run() -> list[tuple[str, float, float | None]]:
    """Measure, and return (what, ratio, limit)."""
    lost = 0.0
    ratios, free_ratios = [], []
    for _ in range(3):
        drained = _drained(RATE * SECONDS, RATE)
        captured, found = _captured(RATE * SECONDS, RATE)
        lost += RATE * SECONDS - found
        ratios.append(captured / drained)
    for _ in range(3):
        # As fast as it can: the slowdown that a paced solver would hide between its candidates.
        drained = _drained(50_000, 10**9)
        captured, found = _captured(50_000, 10**9)
        lost += 50_000 - found
        free_ratios.append(captured / drained)
    # Of an idle core: when other work gets in between, that is measured instead, so the quietest of three counts.
    late = min(_lateness() for _ in range(3))
    return [
        ("run: candidates lost at 20,000/s, share", lost / (3 * RATE * SECONDS), 0.0),
        ("run: time of a solver at 20,000/s against a drained pipe", statistics.median(ratios), 1.10),
        ("run: the same without a pace, where the pipe is all it does", statistics.median(free_ratios), None),
        ("run: lateness of stamps at 100/s, 99th percentile / 5 ms", late / LATENESS, 1.0),
    ]


def _argv(count: int, rate: int, how: str = "busy") -> list[str]:
    return [sys.executable, "-S", "-E", "-c", SOLVER, str(count), str(rate), how]


def _cpu() -> int:
    return max(os.sched_getaffinity(0))


def _drained(count: int, rate: int) -> float:
    """Return the solver's time when its pipe is only read and thrown away.

    The pipe has the size and the reader the priority that a supervisor has: only what is done with the bytes differs.
    """
    before = os.getpriority(os.PRIO_PROCESS, 0)
    solver = subprocess.Popen(_argv(count, rate), stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.sched_setaffinity(solver.pid, [_cpu()])
    assert solver.stdout is not None
    assert solver.stderr is not None
    fcntl.fcntl(solver.stdout, fcntl.F_SETPIPE_SZ, PIPE_SIZE)
    with contextlib.suppress(OSError):
        os.setpriority(os.PRIO_PROCESS, 0, before + PRIORITY)
    while os.read(solver.stdout.fileno(), 1 << 20):
        pass
    spent = int(solver.stderr.read())
    solver.wait()
    os.setpriority(os.PRIO_PROCESS, 0, before)
    solver.stdout.close()
    solver.stderr.close()
    return spent / 1e9


def _captured(count: int, rate: int) -> tuple[float, int]:
    """Return the solver's time under a supervisor, and how many candidates are in its journal."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        _supervise(directory, _argv(count, rate))
        spent = int((directory / "stderr.log").read_text())
        return spent / 1e9, len(read_journal(directory).events)


def _supervise(directory: Path, argv: list[str]) -> None:
    order = Order(
        arm="a", instance="i", seed=1, panel="p", horizon=600.0, attempt=1, argv=argv, directory=".", cpus=[_cpu()]
    )
    (directory / "run.json").write_bytes(msgspec.json.encode(order))
    command = [sys.executable, "-m", "gapline.process.supervise", str(directory)]
    supervisor = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
    supervisor.wait()
    assert supervisor.stdin is not None
    supervisor.stdin.close()


def _lateness() -> float:
    """Return the 99th percentile of the seconds between an emission and its stamp, on the same monotonic clock."""
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        _supervise(directory, _argv(300, 100, "asleep"))
        ending = read_journal(directory).ending
        assert ending is not None
        late = []
        for line in (directory / "events.jsonl").read_bytes().splitlines():
            record = msgspec.json.decode(line)
            if "say" in record:
                late.append(record["t"] - (record["say"]["time"] - ending.zero) / 1e9)
    assert min(late) >= 0
    return sorted(late)[int(0.99 * len(late))]


if __name__ == "__main__":
    began = time.monotonic()
    for what, ratio, limit in run():
        print(f"{what:<70} {ratio:8.4f}  limit {limit}")
    print(f"{time.monotonic() - began:.1f} s")

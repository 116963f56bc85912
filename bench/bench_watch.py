"""What a look at the processes of a run costs on a machine that has many others.

python -c "from bench.bench_watch import run; print(run())"
"""

import os
import signal
import subprocess

from bench.timing import ratio
from gapline.process import tree

OTHERS = 1000
# Says when all are there; they end with the group.
CROWD = f"for i in $(seq {OTHERS}); do sleep 600 & done; echo there; wait"


def run() -> list[tuple[str, float, float | None]]:
    """Measure in turns, and return (what, ratio, limit)."""
    target = _start("sleep 600 & echo there; wait")
    crowd = None
    try:
        assert len(tree.family(target.pid)) == 1
        alone = _cost(target.pid)
        crowd = _start(CROWD)
        crowded = _cost(target.pid)
        of_all = ratio(lambda: tree.family(target.pid), lambda: tree.descendants(target.pid), repeats=10)
    finally:
        for process in filter(None, (target, crowd)):
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
    return [
        (f"watch: a look at one's own processes beside {OTHERS:,} others / without them", crowded / alone, 2.0),
        (f"watch: a look at one's own processes / at all, with {OTHERS:,} others", of_all, 0.1),
    ]


def _start(script: str) -> "subprocess.Popen[bytes]":
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, start_new_session=True)
    assert process.stdout is not None
    assert process.stdout.readline() == b"there\n"
    return process


def _cost(pid: int) -> float:
    return ratio(lambda: tree.family(pid), lambda: sum(range(10_000)), repeats=50)


if __name__ == "__main__":
    for what, value, limit in run():
        print(f"{what:<80} {value:8.4f}  limit {limit}")

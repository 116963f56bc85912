"""A solver that floods its supervisor: memory stays bounded, and what was dropped is counted to the byte."""

import random
import subprocess
import sys
import threading
from collections import Counter
from pathlib import Path

import msgspec

from gapline.journal.read import JournalState, read_journal
from gapline.journal.records import Ending, Order

MEGABYTE = 1_000_000
# Of the supervisor: two outputs that wait, a line that may be long, and the interpreter.
MOST_MEMORY = 250 * MEGABYTE
LONG = 20 * MEGABYTE

# The solver gets the kinds of its blocks as letters: a megabyte of text, of errors, or with a candidate; a long line.
SOLVER = r"""
import os, sys
def write(file, data):
    view = memoryview(data)
    while view:
        view = view[os.write(file, view):]
text = b"y" * 99 + b"\n"
for number, kind in enumerate(open(sys.argv[1]).read()):
    if kind == "t":
        write(1, text * 10000)
    elif kind == "e":
        write(2, b"e" * 1000000)
    elif kind == "c":
        write(1, text * 10000 + b'{"objective": %d}\n' % (10**9 - number))
    else:
        write(1, b"z" * 20000000 + b"\n")
"""


def trial(count: int, seed: int, scratch: Path) -> dict[str, int]:
    """Write about `count` megabytes in a random mixture and account for all of them."""
    chance = random.Random(seed)
    kinds = ""
    while (size := len(kinds) + 19 * kinds.count("l")) < count:
        kinds += "t" if count - size < 20 else chance.choices("tecl", (60, 25, 10, 5))[0]
    attempt = scratch / "attempt-001"
    attempt.mkdir(parents=True)
    (attempt / "kinds").write_text(kinds)
    (attempt / "solver.py").write_text(SOLVER)
    argv = [sys.executable, "-S", "-E", "solver.py", "kinds"]
    facts = {"arm": "floods", "instance": "i", "seed": seed, "panel": "p", "horizon": 1e6, "attempt": 1}
    order = Order(argv=argv, directory=str(attempt), **facts)
    (attempt / "run.json").write_bytes(msgspec.json.encode(order))
    ending, peak = _supervise(attempt)
    where = f"seed {seed}, {count} MB"
    blocks = Counter(kinds)
    journal = read_journal(attempt)
    assert ending.cause == "exit", f"{where}: the run ended by {ending.cause}: {ending.error}"
    assert journal.state is JournalState.WHOLE, f"{where}: the journal is {journal.state}"
    assert peak < MOST_MEMORY, f"{where}: the supervisor took {peak / 1e6:.0f} MB"
    found = [event.objective for event in journal.events]
    said = [float(10**9 - number) for number, kind in enumerate(kinds) if kind == "c"]
    assert found == said, f"{where}: {len(found)} of {len(said)} candidates were kept"
    dropped = dict(ending.dropped)
    assert dropped.pop("overlong lines", 0) == blocks["l"], f"{where}: overlong lines {ending.dropped}"
    assert dropped.pop("overlong bytes", 0) == blocks["l"] * LONG, f"{where}: overlong bytes {ending.dropped}"
    for name, written in (("stdout", blocks["t"] + blocks["c"]), ("stderr", blocks["e"])):
        kept, lost = _kept(attempt / f"{name}.log"), dropped.pop(f"{name} bytes", 0)
        assert kept + lost == written * MEGABYTE, f"{where}: {name}: {kept} kept, {lost} dropped of {written} MB"
    assert dropped == {}, f"{where}: dropped without a cause: {dropped}"
    return {
        "megabytes": size,
        "candidates": len(found),
        "overlong lines": blocks["l"],
        "megabytes dropped": sum(count for name, count in ending.dropped.items() if "bytes" in name) // MEGABYTE,
        "peak megabytes": peak // MEGABYTE,
    }


def _supervise(attempt: Path) -> tuple[Ending, int]:
    supervisor = subprocess.Popen(
        [sys.executable, "-m", "gapline.process.supervise", str(attempt)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    peaks = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.wait(0.05):
            try:
                text = Path(f"/proc/{supervisor.pid}/status").read_text()
            except OSError:
                return
            peaks.extend(int(line.split()[1]) * 1024 for line in text.splitlines() if line.startswith("VmHWM"))

    watcher = threading.Thread(target=watch)
    watcher.start()
    assert supervisor.stdin is not None
    assert supervisor.stdout is not None
    try:
        answer = supervisor.stdout.read()
    finally:
        done.set()
        watcher.join()
        supervisor.stdin.close()
        supervisor.stdout.close()
        supervisor.wait()
    return msgspec.json.decode(answer, type=Ending), max(peaks)


def _kept(log: Path) -> int:
    """Return how many bytes of the solver's are in a log, without the line that says how many are not."""
    size = log.stat().st_size
    with log.open("rb") as stream:
        stream.seek(min(size, MEGABYTE))
        mark = stream.read().partition(b"[")[2].partition(b"]\n")[0]
    return size - len(b"\n[]\n" + mark) if mark.endswith(b"bytes left out") else size

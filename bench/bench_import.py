"""Reading a folder of DIMACS logs, against plain Python that reads the same files and turns their rows into floats."""

import math
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FILES = 4_600
ROWS = 1_300_000
LIMIT, WRITTEN = 1.2, 1.35
GROWTH, MORE_MEMORY = 1.15, 1.2
# The larger one is beyond what is held of a run, and so is the smaller.
LINES = (2_500_000, 25_000_000)
# Fewer are read by one process, however many there may be.
MANY = 30_000

# Prints the largest anonymous memory that was seen; mapped files are none, the system takes them back when it likes.
CHILD = r"""
import re, sys, threading, time
from pathlib import Path
from gapline.logs.importer import import_logs

most, status = 0, Path("/proc/self/status")
def watch():
    global most
    while True:
        most = max(most, int(re.search(r"RssAnon:\s+(\d+)", status.read_text())[1]))
        time.sleep(0.005)
threading.Thread(target=watch, daemon=True).start()
import_logs([sys.argv[1]], arm="a", instance="i", horizon=1e9).campaign.save("campaign")
print(most)
"""


def write_folder(folder: Path, *, files: int = FILES, rows: int = ROWS, seed: int = 1) -> None:
    """Write controller outputs of several competitors on many instances."""
    draw = random.Random(seed)
    for number in range(files):
        arm, instance = number % 10, number // 10
        count = rows // files + (number < rows % files)
        best = 7000.0 + instance
        lines = [
            f"Instance: C{instance}",
            "Standardized Time limit: 3600 secs",
            "Local Machine Time Limit: 3635 secs",
            f"Base solution: {best * 1.1:.3f}",
            f"BKS: {best:.1f}",
            "Optimal: 0",
            f"Competitor: team{arm}",
            "PassMark Single Thread Benchmark: 1981",
            "Solution value, local machine time, standardized time",
        ]
        value, clock = best * 1.09, 0.0
        for _ in range(count):
            value -= draw.random() * best * 0.08 / count
            clock += draw.random() * 7000 / count
            lines.append(f"{value:.1f} {clock:.3f} {clock * 0.99037:.3f}")
        lines.append("Primal Integral: 4.1476451000")
        path = folder / f"team{arm}" / f"C{instance}.out"
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")


def read_plainly(folder: Path) -> int:
    """Read every file and turn its rows into floats, and nothing else."""
    rows = []
    for path in sorted(folder.rglob("*.out")):
        with path.open() as stream:
            for line in stream:
                cells = line.split()
                if len(cells) == 3 and line[0].isdigit():
                    rows.append((float(cells[0]), float(cells[1]), float(cells[2])))
    return len(rows)


def _seconds(call: Callable[[], object]) -> float:
    start = time.process_time()
    call()
    return time.process_time() - start


def run(*, files: int = FILES, rows: int = ROWS, repeats: int = 4) -> list[tuple[str, float, float | None]]:
    """Measure both in one process, in turn; CPU seconds, so that a busy machine tells the same."""
    from gapline.logs.importer import import_logs

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name) / "logs"
        folder.mkdir()
        write_folder(folder, files=files, rows=rows)
        # The best round of each counts; the first warms caches and imports, and is as good as the others at worst.
        plain, ours, whole = ([] for _ in range(3))
        for turn in range(repeats + 1):
            plain.append(_seconds(lambda: read_plainly(folder)))
            ours.append(_seconds(lambda: import_logs([folder])))
            place = Path(name) / f"campaign{turn}"
            whole.append(_seconds(lambda place=place: import_logs([folder]).campaign.save(place)))
    growth, peaks = growth_exponent(), [memory_of_log(lines) for lines in LINES]
    named = f"import of {files:,} DIMACS files, {rows:,} rows / plain Python floats"
    return [
        (named, min(ours) / min(plain), LIMIT),
        ("the same, written as a campaign", min(whole) / min(plain), WRITTEN),
        ("growth exponent of import, 1,000 to 9,000 files", growth, GROWTH),
        (f"memory to import a log of {LINES[1]:,} lines / of {LINES[0]:,}", peaks[1] / peaks[0], MORE_MEMORY),
        (f"import by two processes / by one, seconds of {MANY:,} files", two_against_one(), None),
    ]


def growth_exponent(sizes: tuple[int, ...] = (1_000, 3_000, 9_000), *, repeats: int = 3) -> float:
    """Return by which power of the number of files the CPU seconds of an import grow, the best round of each size."""
    from gapline.logs.importer import import_logs

    spent = []
    for size in sizes:
        with tempfile.TemporaryDirectory() as name:
            write_folder(Path(name), files=size, rows=20 * size)
            spent.append(min(_seconds(lambda name=name: import_logs([name])) for _ in range(repeats)))
    return math.log(spent[-1] / spent[0]) / math.log(sizes[-1] / sizes[0])


def memory_of_log(lines: int) -> int:
    """Return the most anonymous memory that a process had while it imported one log of that many lines."""
    with tempfile.TemporaryDirectory() as name:
        log = Path(name) / "big.log"
        with log.open("w") as stream:
            stream.writelines(f"o {10**12 - k} {k * 0.001:.3f}\n" for k in range(lines))
        done = subprocess.run([sys.executable, "-c", CHILD, str(log)], stdout=subprocess.PIPE, check=True, cwd=name)
    return int(done.stdout)


def two_against_one(*, files: int = MANY, repeats: int = 2) -> float:
    """Return the seconds of the command with two processes over those with one, starting them included; the best."""
    code = "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))"
    with tempfile.TemporaryDirectory() as name:
        (Path(name) / "logs").mkdir()
        write_folder(Path(name) / "logs", files=files, rows=20 * files)
        spent: dict[str, list[float]] = {"1": [], "2": []}
        for turn in range(repeats):
            for jobs, seconds in spent.items():
                place = f"campaign{jobs}-{turn}"
                command = [sys.executable, "-c", code, "import", "logs", "--jobs", jobs, "-o", place, "--json"]
                start = time.perf_counter()
                subprocess.run(command, cwd=name, stdout=subprocess.DEVNULL, check=True)
                seconds.append(time.perf_counter() - start)
    return min(spent["2"]) / min(spent["1"])


if __name__ == "__main__":
    for what, ratio, limit in run():
        print(f"{ratio:6.2f}  (limit {limit})  {what}")

"""Reading a folder of DIMACS logs, against plain Python that reads the same files and turns their rows into floats."""

import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

FILES = 4_600
ROWS = 1_300_000
LIMIT, WRITTEN = 1.2, 1.35


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
    from gapline.capture.importer import import_logs

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
    named = f"import of {files:,} DIMACS files, {rows:,} rows / plain Python floats"
    return [
        (named, min(ours) / min(plain), LIMIT),
        ("the same, written as a campaign", min(whole) / min(plain), WRITTEN),
    ]


if __name__ == "__main__":
    for what, ratio, limit in run():
        print(f"{ratio:6.2f}  (limit {limit})  {what}")

"""What reading takes of memory: the peak of a process of its own, over the bytes of the columns that it made.

python -c "from bench.bench_memory import run; print(run())"
"""

import gzip
import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import msgspec
import numpy as np
import polars as pl

from gapline.journal.line import JournalWriter
from gapline.journal.records import Ending, Order

ROWS = 4_000_000
# Of the columns; a table whose cells are text has some five times as many bytes as they.
LIMITS = dict.fromkeys(("csv", "csv.gz", "jsonl", "parquet", "arrow"), 7.0) | {"journal": 5.0, "log": 8.0}

# Prints the bytes that reading added to the peak, those of the columns, and those of the file.
CHILD = r"""
import json, re, sys
from pathlib import Path
from gapline.logs.importer import import_logs
from gapline.journal.campaign import read_study
from gapline.traces.read import read

def peak():
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text())[1]) * 1024

kind, path = sys.argv[1], Path(sys.argv[2])
read([{"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 1.0}])
before = peak()
campaign = {"journal": read_study, "log": lambda path: import_logs([path]).campaign}.get(kind, read)(path)
columns = sum(column.nbytes for column in campaign.columns.values())
files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
print(json.dumps([peak() - before, columns, sum(file.stat().st_size for file in files)]))
"""


def measure(kind: str, path: Path) -> tuple[int, int, int]:
    """Return the bytes that reading added to the peak of memory, those of the columns, and those of the file."""
    done = subprocess.run([sys.executable, "-c", CHILD, kind, str(path)], stdout=subprocess.PIPE, check=True)
    added, columns, size = json.loads(done.stdout)
    return added, columns, size


def make_table(rows: int, *, runs: int = 200) -> pl.DataFrame:
    """Return a trace of some runs, each of which improves."""
    draw, run = np.random.default_rng(1), np.arange(rows) * runs // rows
    number = pl.Series(run)
    stamps = (np.arange(rows) - np.searchsorted(run, run)) * 0.001
    return pl.DataFrame({"time": stamps, "objective": 1500 - draw.random(rows)}).select(
        ("arm" + (number % 5).cast(pl.String)).alias("arm"),
        ("i" + (number // 5).cast(pl.String)).alias("instance"),
        pl.lit(1).alias("seed"),
        "time",
        "objective",
        pl.lit(True).alias("valid"),
        pl.lit(3600.0).alias("horizon"),
    )  # fmt: skip


def write_files(folder: Path, rows: int, *, kinds: Collection[str] = LIMITS) -> Iterator[tuple[str, Path]]:
    """Write the same number of candidates in every form, one after the other."""
    table = make_table(rows)
    writers: dict[str, Callable[[Path], object]] = {
        "csv": table.write_csv,
        "csv.gz": lambda path: _write_packed(table, path),
        "jsonl": table.write_ndjson,
        "parquet": table.write_parquet,
        "arrow": table.write_ipc,
        "journal": lambda path: write_journals(path, rows, cells=4),
        "log": lambda path: write_log(path, rows),
    }
    for kind in kinds:
        path = folder / f"t.{kind}"
        writers[kind](path)
        yield kind, path


def _write_packed(table: pl.DataFrame, path: Path) -> None:
    with gzip.open(path, "wb", 1) as stream:
        table.write_csv(stream)


def write_journals(study: Path, events: int, *, cells: int) -> None:
    """Write the journals of some cells, each event with a solution of 40 customers."""
    solution = b",".join(b"%d" % number for number in range(40))
    for cell in range(cells):
        attempt = study / "journal" / f"cell{cell}" / "attempt-001"
        attempt.mkdir(parents=True)
        order = Order(arm="a", instance=f"i{cell}", seed=1, panel="p", horizon=3600.0, attempt=1, argv=["x"])
        ending = Ending(cause="exit", started="2026-01-01T00:00:00+00:00", elapsed=3600.0, exit_code=0)
        writer = JournalWriter(attempt / "events.jsonl")
        writer.append([b'"start":' + msgspec.json.encode(order)])
        for first in range(0, events // cells, 1000):
            writer.append(
                b'"t":%.9f,"say":{"objective":%d,"solution":[%b]}' % (number * 1e-3, 10**9 - number, solution)
                for number in range(first, min(first + 1000, events // cells))
            )
        writer.append([b'"end":' + msgspec.json.encode(ending)])
        writer.close()


def write_log(path: Path, rows: int) -> None:
    """Write the output of a DIMACS controller."""
    head = (
        "Instance: C1\nStandardized Time limit: 3600 secs\nLocal Machine Time Limit: 3635 secs\nBase solution: 9000.0\n"
        "BKS: 7000.0\nOptimal: 0\nCompetitor: team\nPassMark Single Thread Benchmark: 1981\n"
        "Solution value, local machine time, standardized time\n"
    )
    with path.open("w") as stream:
        stream.write(head)
        stream.writelines(f"{9000 - n / rows:.6f} {n * 1e-4:.4f} {n * 1e-4:.4f}\n" for n in range(rows))
        stream.write("Primal Integral: 4.1476451000\n")


def run(*, rows: int = ROWS) -> list[tuple[str, float, float | None]]:
    """Measure every form."""
    measured: list[tuple[str, float, float | None]] = []
    with tempfile.TemporaryDirectory() as name:
        for kind, path in write_files(Path(name), rows):
            added, columns, size = measure(kind, path)
            what = f"memory to read {rows:,} candidates as {kind} / their columns"
            measured.append((what, added / columns, LIMITS[kind]))
            measured.append((f"the same / the {kind}", added / size, None))
    return measured


if __name__ == "__main__":
    for what, ratio, limit in run():
        print(f"{ratio:8.2f}  (limit {limit})  {what}")

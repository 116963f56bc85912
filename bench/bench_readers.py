"""Reading CSV, Parquet and JSONL files, against Polars, which reads the same columns of them and looks at nothing.

CPU seconds of this process and of the one that reads Parquet files for it, and seconds on the wall beside them:
a busy machine tells the same of the first.
"""

import math
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl

from bench.bench_memory import measure

COLUMNS = ["arm", "instance", "seed", "time", "objective", "valid", "horizon"]
ROWS = 2_000_000
# Of Parquet, Polars needs 13 nanoseconds a row. The other process, which is there so that a damaged file ends it and
# not us, decodes as fast, and writes all columns into a pipe; here they are read from it, decoded again, compared with
# the row before and become runs: four to five times as much in all.
LIMITS, GROWTH = {"csv": 2.4, "parquet": 5.0, "jsonl": 2.0}, 1.15
# Of the columns; a block of the file, and what takes part in decoding it, comes on top.
MEMORY = {"csv": 5.5, "parquet": 4.5, "jsonl": 5.5}

POLARS: dict[str, Callable[[Path], pl.DataFrame]] = {
    "csv": lambda path: pl.read_csv(path, columns=COLUMNS),
    "parquet": lambda path: pl.read_parquet(path, columns=COLUMNS),
    "jsonl": lambda path: pl.read_ndjson(path).select(COLUMNS),
}


def make_table(runs: int, candidates: int, *, in_turns: bool = False) -> pl.DataFrame:
    """Return runs in the order of an experiment, instance by instance, or eight of them in turns."""
    draw, rows = np.random.default_rng(1), runs * candidates
    run = np.arange(rows) // candidates
    stamps = np.sort(draw.uniform(0, 3600, (runs, candidates)), axis=1).ravel()
    if in_turns:
        order = np.lexsort((stamps, run // 8))
        run, stamps = run[order], stamps[order]
    number = pl.Series(run)
    return pl.DataFrame({"time": stamps, "objective": 1500 - draw.random(rows)}).select(
        ("arm" + (number % 5).cast(pl.String)).alias("arm"),
        ("i" + (number // 5 % 200).cast(pl.String)).alias("instance"),
        (number // 1000).alias("seed"),
        "time",
        "objective",
        pl.lit(True).alias("valid"),
        pl.lit(3600.0).alias("horizon"),
    )  # fmt: skip


def write(table: pl.DataFrame, path: Path) -> Path:
    {".csv": table.write_csv, ".parquet": table.write_parquet, ".jsonl": table.write_ndjson}[path.suffix](path)
    return path


def _other() -> float:
    """Return the CPU seconds of the process that reads Parquet files, 0 where there is none."""
    from gapline.traces.parquet import waiting

    fields = [Path(f"/proc/{reader.pid}/stat").read_text().rpartition(")")[2].split() for reader in waiting]
    return sum(int(one[11]) + int(one[12]) for one in fields) / 100


def spent(work: Callable[[], object]) -> tuple[float, float]:
    """Return the CPU seconds that a piece of work takes, its helper's included, and those on the wall."""
    start, cpu = time.perf_counter(), time.process_time() + _other()
    work()
    return time.process_time() + _other() - cpu, time.perf_counter() - start


def best(work: Callable[[], object], *, repeats: int) -> tuple[float, float]:
    """Return the best of several rounds, each by itself; one before them warms up."""
    work()
    rounds = [spent(work) for _ in range(repeats)]
    return min(cpu for cpu, _ in rounds), min(wall for _, wall in rounds)


def run(*, rows: int = ROWS, repeats: int = 5) -> list[tuple[str, float, float | None]]:
    """Measure every form, runs of several lengths, and how the cost grows."""
    from gapline.traces.read import read

    measured: list[tuple[str, float, float | None]] = []
    shapes = {
        "2,000 runs": {"runs": 2000, "candidates": rows // 2000},
        f"{rows // 10:,} runs": {"runs": rows // 10, "candidates": 10},
        "2,000 runs in turns": {"runs": 2000, "candidates": rows // 2000, "in_turns": True},
    }
    with tempfile.TemporaryDirectory() as name:
        for shape, sizes in shapes.items():
            table = make_table(**sizes)
            for form, polars in POLARS.items():
                path = write(table, Path(name) / f"t.{form}")
                theirs = best(partial(polars, path), repeats=repeats)
                ours = best(partial(read, path), repeats=repeats)
                what = f"{form} of {rows:,} rows, {shape}"
                # Where runs are short or take turns there is more to do than reading: shown, not bounded.
                bound = LIMITS[form] if shape == "2,000 runs" else None
                measured.append((f"read {what} / Polars, CPU", ours[0] / theirs[0], bound))
                measured.append((f"read {what} / Polars, wall", ours[1] / theirs[1], None))
                if shape == "2,000 runs":
                    added, columns, _ = measure(form, path)
                    measured.append((f"memory to read {what} / its columns", added / columns, MEMORY[form]))
        for form in POLARS:
            times = []
            for part in (4, 2, 1):
                path = write(make_table(2000 // part, rows // 2000), Path(name) / f"t.{form}")
                times.append(best(partial(read, path), repeats=repeats)[0])
            # From the smallest to the largest: steps in between are noise.
            grows = math.log(times[-1] / times[0]) / math.log(4)
            measured.append((f"growth of reading {form} over {rows // 4:,} to {rows:,} rows, exponent", grows, GROWTH))
    return measured


if __name__ == "__main__":
    for what, ratio, limit in run():
        print(f"{ratio:6.2f}  (limit {limit})  {what}")

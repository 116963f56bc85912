"""`python -m bench.large [CANDIDATES]`: more candidates than memory holds, scored within two gigabytes of it.

A campaign of parts of 100 M candidates each is made; all parts but the first two are links to these, with other seeds
in their tables, so that four thousand million candidates take the disk of two parts. Prints processor time against the
time NumPy needs to sum the two columns of the same candidates, and the peak of anonymous memory. Not part of
`make bench`: it takes minutes and some gigabytes of disk (TMPDIR names the place).
"""

import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import polars as pl

from bench.traces import make_campaign, references
from gapline.campaign.campaign import Campaign
from gapline.campaign.partitions import save_parts
from gapline.traces.merge import parts_of

PART, RUNS = 100_000_000, 20_000
MEMORY = "2GB"
GAPLINE = str(Path(sys.executable).with_name("gapline"))


def main() -> int:
    sizes = [int(float(text)) for text in sys.argv[1:]] or [1_000_000_000, 4_000_000_000]
    with tempfile.TemporaryDirectory(prefix="gapline-large-") as scratch:
        place = Path(scratch)
        base = _parts(place, max(sizes) // PART)
        for size in sizes:
            _measure(place, base[: max(1, size // PART)], size)
    return 0


def _parts(place: Path, count: int) -> list[Path]:
    """Make two parts, and as many more that share their columns under other seeds."""
    made: list[Path] = []
    for number in range(count):
        folder = place / f"source-{number:03}"
        if number < 2:
            campaign = make_campaign(runs=RUNS, candidates=PART // RUNS, improving=1 / 3, seed=number + 1)
            if number == 0:
                references(campaign).save(place / "refs.json")
        else:
            campaign = _mapped(made[number % 2])
        table = campaign.runs.with_columns(seed=pl.col("seed") % 20 + 20 * number)
        columns = {name: getattr(campaign, name) for name in ("time", "objective", "verdict")}
        Campaign.from_arrays(runs=table, **columns).save(folder)
        if number >= 2:
            # The same bytes, once on the disk.
            for name in ("time.npy", "objective.npy", "verdict.npy"):
                (folder / name).unlink()
                os.link(made[number % 2] / name, folder / name)
        made.append(folder)
        print(f"made part {number + 1} of {count}", flush=True)
    return made


def _mapped(folder: Path) -> Campaign:
    from gapline.campaign.store import open_campaign

    return open_campaign(folder, verify=False)


def _measure(place: Path, parts: list[Path], size: int) -> None:
    target = place / f"campaign-{size}"
    save_parts(parts_of(parts, read=_mapped), target)
    unit = sum(_column_sums(folder) for folder in parts)
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [GAPLINE, "score", str(target), "--snapshot", str(place / "refs.json")]
    start = time.perf_counter()
    code, peak = watched([*command, "--memory", MEMORY, "--json"])
    seconds = time.perf_counter() - start
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(
        f"{size:,} candidates in {len(parts)} parts, verified and scored within {MEMORY}: exit {code}, "
        f"processor time {spent / unit:.1f} x the sum of two columns, {seconds:.0f} s, "
        f"peak of anonymous memory {peak / 1e9:.2f} GB",
        flush=True,
    )


def _column_sums(folder: Path) -> float:
    start = time.process_time()
    for name in ("time", "objective"):
        float(np.load(folder / f"{name}.npy", mmap_mode="r").sum())
    return time.process_time() - start


def watched(command: list[str]) -> tuple[int, int]:
    """Run a command of one process; return its exit code and the peak of its anonymous memory."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    peak = 0
    while process.poll() is None:
        peak = max(peak, anonymous(process.pid))
        time.sleep(0.02)
    return process.returncode, peak


def anonymous(pid: int) -> int:
    """Return the bytes of memory that a process holds and that no file backs."""
    try:
        found = re.search(r"RssAnon:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return 0
    return int(found[1]) * 1024 if found else 0


if __name__ == "__main__":
    sys.exit(main())

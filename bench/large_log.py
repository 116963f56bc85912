"""`python -m bench.large_log [--log 100GB] [--logs 1000000]`: one very large log, and very many small ones, imported.

The large log is that of a solver that talks much and seldom finds something: the import holds none of it. The small
ones are imported once, then once more by a command that is killed half-way and given again; one of them cannot be read.
Prints seconds, on the clock and of the processor, and the peak of anonymous memory of all processes of the command. Not
part of `make bench`: it takes as much disk as the log and a quarter more for its columns, or 4 kB for each small log
(TMPDIR names the place). `--packed` writes the large log as `.zst`, for disks that do not hold it. `--log 0` and
`--logs 0` leave a part out, `--once` the import that is killed.
"""

import argparse
import json
import os
import resource
import signal
import subprocess
import sys
import tempfile
import time
from contextlib import ExitStack
from pathlib import Path
from typing import BinaryIO

import zstandard

from bench.large import anonymous
from gapline.files.memory import parse_memory

# A value stands among so many lines of talk.
TALK = (
    "c restarts 1234 conflicts 5678901 decisions 23456789 propagations 345678901 learnt 56789 lbd 4.56 memory 789 MB\n"
)
EVERY = 5
STOPPED_AT = 0.5
CODE = "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.large_log")
    parser.add_argument("--log", default="20GB", help="size of the large log (default 20GB; the full size is 100GB)")
    parser.add_argument("--logs", type=int, default=200_000, help="small logs (default 200000; in full 1000000)")
    parser.add_argument("--packed", action="store_true", help="write the large log as .zst")
    parser.add_argument("--once", action="store_true", help="do not kill an import of the small logs and go on with it")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="gapline-large-log-") as scratch:
        os.chdir(scratch)
        if asked.log != "0":
            one_log(parse_memory(asked.log), packed=asked.packed)
        if asked.logs:
            many_logs(asked.logs, once=asked.once)
    return 0


def one_log(least: int, *, packed: bool) -> None:
    """Import one log of at least so many bytes."""
    number, size, log = 0, 0, Path("big.log.zst" if packed else "big.log")
    with ExitStack() as open_files:
        stream: BinaryIO = open_files.enter_context(log.open("wb"))
        if packed:
            stream = open_files.enter_context(zstandard.ZstdCompressor().stream_writer(stream))
        while size < least:
            rows = range(number, number + 10_000)
            size += stream.write("".join(f"{TALK * EVERY}o {10**12 - k} {k * 0.001:.3f}\n" for k in rows).encode())
            number += 10_000
    size /= 1e9
    seconds, spent, peak, code, said = measure(
        [log.name, "--arm", "a", "--instance", "i", "--horizon", "1e9", "-o", "one"]
    )
    read = json.loads(said)["diagnostics"]["candidates"] if code == 0 else None
    print(
        f"one log of {size:.1f} GB, {number:,} values: exit {code}, {read} read, {seconds / size:.0f} s per GB "
        f"({spent / size:.0f} of the processor), peak of anonymous memory {peak / 1e6:.0f} MB",
        flush=True,
    )
    log.unlink()


def many_logs(files: int, *, once: bool) -> None:
    """Import a folder of that many small logs, kill an import of them, and give its command again."""
    for number in range(files):
        folder = Path("logs") / f"{number // 1000}"
        folder.mkdir(parents=True, exist_ok=True)
        rows = "".join(f"o {1000 - k} {k * 0.5}\n" for k in range(10)) + "s UNKNOWN\n"
        # One that is no log at all.
        (folder / f"i{number}.log").write_text("o\n" if number == files // 3 else rows)
    command = [
        "logs",
        "--format",
        "olines",
        "--arm",
        "a",
        "--name",
        "{instance}.log",
        "--horizon",
        "60",
        "--keep-going",
    ]
    seconds, spent, peak, code, said = measure([*command, "-o", "whole"])
    left_out = len(json.loads(said)["left_out"])
    print(
        f"{files:,} logs: exit {code}, {left_out} left out, {seconds / files * 1e6:.0f} s per million "
        f"({spent / files * 1e6:.0f} of the processor), peak of anonymous memory {peak / 1e6:.0f} MB",
        flush=True,
    )
    if once:
        return
    measure([*command, "-o", "again"], kill_after=seconds * STOPPED_AT)
    again, _, _, code, said = measure([*command, "-o", "again"])
    same = all(path.read_bytes() == (Path("again") / path.name).read_bytes() for path in Path("whole").glob("*.npy"))
    print(
        f"killed after {STOPPED_AT:.0%} of its time, and given again: exit {code}, "
        f"{json.loads(said)['kept']:,} files kept, {again / seconds:.2f} of the whole time, "
        f"columns {'the same' if same else 'DIFFER'}",
        flush=True,
    )


def measure(arguments: list[str], *, kill_after: float | None = None) -> tuple[float, float, int, int, str]:
    """Return the seconds of an import, those of the processor, its peak of memory, its exit code and its output."""
    start, before, peak = time.perf_counter(), _processor_seconds(), 0
    with tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, "-c", CODE, "import", *arguments, "--json"]
        process = subprocess.Popen(command, stdout=said, start_new_session=True)
        while process.poll() is None:
            peak = max(peak, sum(map(anonymous, session(process.pid))))
            if kill_after is not None and time.perf_counter() - start > kill_after:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.2)
        said.seek(0)
        spent = _processor_seconds() - before
        return time.perf_counter() - start, spent, peak, process.returncode, said.read()


def _processor_seconds() -> float:
    """Return what the processes took that have ended, those that they waited for included."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def session(leader: int) -> list[int]:
    """Return the processes that a command consists of."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and os.getsid(int(entry.name)) == leader:
                found.append(int(entry.name))
        except OSError:
            continue
    return found


if __name__ == "__main__":
    sys.exit(main())

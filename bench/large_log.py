"""`python -m bench.large_log [GIGABYTES [FILES]]`: one very large log, and very many small ones, imported.

The large log is that of a solver that talks much and seldom finds something: the import holds none of it. The small
ones are imported once, then once more by a command that is killed half-way and given again; one of them cannot be read.
Prints seconds and the peak of anonymous memory of all processes of the command. Not part of `make bench`: it takes as
much disk as the log, and a quarter more for its columns (TMPDIR names the place). 0 leaves a part out.
"""

import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.large import anonymous

GIGABYTES, FILES = 20.0, 200_000
# A value stands among so many lines of talk.
TALK = (
    "c restarts 1234 conflicts 5678901 decisions 23456789 propagations 345678901 learnt 56789 lbd 4.56 memory 789 MB\n"
)
EVERY = 5
STOPPED_AT = 0.5
CODE = "import sys; from gapline.cli.app import run; sys.exit(run(sys.argv[1:]))"


def main() -> int:
    gigabytes, files = [float(text) for text in sys.argv[1:]] + [GIGABYTES, FILES][len(sys.argv) - 1 :]
    with tempfile.TemporaryDirectory(prefix="gapline-large-log-") as scratch:
        os.chdir(scratch)
        if gigabytes:
            one_log(gigabytes)
        if files:
            many_logs(int(files))
    return 0


def one_log(gigabytes: float) -> None:
    """Import one log of that size."""
    number, log = 0, Path("big.log")
    with log.open("w") as stream:
        while stream.tell() < gigabytes * 1e9:
            stream.writelines(f"{TALK * EVERY}o {10**12 - k} {k * 0.001:.3f}\n" for k in range(number, number + 10_000))
            number += 10_000
    size = log.stat().st_size / 1e9
    seconds, peak, code, said = measure(["big.log", "--arm", "a", "--instance", "i", "--horizon", "1e9", "-o", "one"])
    read = json.loads(said)["diagnostics"]["candidates"] if code == 0 else None
    print(
        f"one log of {size:.1f} GB, {number:,} values: exit {code}, {read} read, {seconds / size:.0f} s per GB, "
        f"peak of anonymous memory {peak / 1e6:.0f} MB",
        flush=True,
    )
    log.unlink()


def many_logs(files: int) -> None:
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
    seconds, peak, code, said = measure([*command, "-o", "whole"])
    left_out = len(json.loads(said)["left_out"])
    print(
        f"{files:,} logs: exit {code}, {left_out} left out, {seconds / files * 1e6:.0f} s per million, "
        f"peak of anonymous memory {peak / 1e6:.0f} MB",
        flush=True,
    )
    measure([*command, "-o", "again"], kill_after=seconds * STOPPED_AT)
    again, _, code, said = measure([*command, "-o", "again"])
    same = all(path.read_bytes() == (Path("again") / path.name).read_bytes() for path in Path("whole").glob("*.npy"))
    print(
        f"killed after {STOPPED_AT:.0%} of its time, and given again: exit {code}, "
        f"{json.loads(said)['kept']:,} files kept, {again / seconds:.2f} of the whole time, "
        f"columns {'the same' if same else 'DIFFER'}",
        flush=True,
    )


def measure(arguments: list[str], *, kill_after: float | None = None) -> tuple[float, int, int, str]:
    """Return the seconds of an import, the peak of anonymous memory of its processes, its exit code and its output."""
    start, peak = time.perf_counter(), 0
    with tempfile.TemporaryFile("w+") as said:
        command = [sys.executable, "-c", CODE, "import", *arguments, "--json"]
        process = subprocess.Popen(command, stdout=said, start_new_session=True)
        while process.poll() is None:
            peak = max(peak, sum(map(anonymous, session(process.pid))))
            if kill_after is not None and time.perf_counter() - start > kill_after:
                os.killpg(process.pid, signal.SIGKILL)
            time.sleep(0.2)
        said.seek(0)
        return time.perf_counter() - start, peak, process.returncode, said.read()


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

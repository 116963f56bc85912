"""`python -m torture`: every trial in full, with what it gave; exit code 1 where one failed.

A trial is a module with `trial(count, seed, scratch)`, which returns how often each outcome came and raises where one
may not be. The tests run the same trials in small. `python -m torture kills --share 0.01` runs a hundredth of one.
"""

import argparse
import shutil
import tempfile
import time
from importlib import import_module
from pathlib import Path

# What each trial does so many times: kills of runners, supervisors and scripts, damaged files, megabytes of
# output, seconds of watching.
TRIALS = {
    "journals": 10_000,
    "verdicts": 10_000,
    "campaigns": 10_000,
    "parts": 10_000,
    "traces": 10_000,
    "kills": 1_000,
    "recordings": 500,
    "flood": 100_000,
    "live": 1_200,
}


def main() -> int:
    """Run the trials whose names contain one of the words given, all where none is."""
    options = argparse.ArgumentParser(prog="python -m torture", description=__doc__)
    options.add_argument("words", nargs="*", help=f"of {', '.join(TRIALS)}")
    options.add_argument("--share", type=float, default=1.0, help="of the full count")
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    failed = 0
    for name, full in TRIALS.items():
        if given.words and not any(word in name for word in given.words):
            continue
        count = max(1, round(full * given.share))
        print(f"{name}: {count:,} (seed {given.seed})", flush=True)
        scratch, began = Path(tempfile.mkdtemp(prefix=f"gapline-torture-{name}-")), time.monotonic()
        try:
            outcomes = import_module(f"torture.{name}").trial(count, given.seed, scratch)
        except AssertionError as error:
            failed += 1
            print(f"  FAILED after {time.monotonic() - began:.0f} s: {error}\n  left in {scratch}", flush=True)
            continue
        shown = ", ".join(f"{outcome} {times:,}" for outcome, times in sorted(outcomes.items()))
        print(f"  {shown} ({time.monotonic() - began:.0f} s)", flush=True)
        shutil.rmtree(scratch, ignore_errors=True)
    print(f"{failed} trials failed" if failed else "every trial passed")
    return 1 if failed else 0


if __name__ == "__main__":
    raise SystemExit(main())

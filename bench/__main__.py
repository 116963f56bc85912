"""`python -m bench`: every benchmark, printed as ratios measured in one run; exit code 1 where a limit is broken.

A benchmark is a module `bench_<part>.py` with `run()`, which returns (what, ratio, limit or None) rows.
`python -m bench core` runs the parts whose name contains one of the words given.
"""

import sys
from importlib import import_module
from pathlib import Path


def main() -> int:
    words = sys.argv[1:]
    parts = sorted(path.stem for path in Path(__file__).parent.glob("bench_*.py"))
    broken = 0
    for part in parts:
        if words and not any(word in part for word in words):
            continue
        print(f"\n{part.removeprefix('bench_')}", flush=True)
        for what, ratio, limit in import_module(f"bench.{part}").run():
            verdict = "" if limit is None else f"at most {limit:g}" + ("" if ratio <= limit else "  BROKEN")
            broken += limit is not None and ratio > limit
            print(f"  {what:<90} {ratio:>9.3g}  {verdict}", flush=True)
    print(f"\n{broken} limits broken" if broken else "\nall limits kept")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())

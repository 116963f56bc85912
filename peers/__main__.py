"""Ask other tools the same as gapline, measure what it costs, and write docs/compared.md.

python -m peers --ipet CHECKOUT   uses a checkout of IPET, which is on no package index
"""

import argparse
import os
import sys
from pathlib import Path

from peers.costs import measure_costs
from peers.page import page_text
from peers.traces import draw_runs
from peers.values import SideBySide, compare_values


def main() -> int:
    """Write the page; return 1 where a value differs and nobody knows why."""
    options = argparse.ArgumentParser(prog="python -m peers", description=__doc__)
    options.add_argument("--page", type=Path, default=Path("docs/compared.md"), help="the page to write")
    options.add_argument("--ipet", type=Path, help="a checkout of IPET")
    options.add_argument("--runs", type=int, default=2000, help="runs on which costs are measured")
    given = options.parse_args()
    if given.ipet:
        # For this process, and for those that measure.
        sys.path.append(str(given.ipet.resolve()))
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [os.environ.get("PYTHONPATH"), sys.path[-1]]))
    runs = draw_runs(instances=6, seeds=5, steps=20)
    rows = list(compare_values(runs))
    given.page.write_text(page_text(rows, measure_costs(given.runs), runs=len(runs)), encoding="utf-8")
    print(f"written: {given.page}")
    unequal = [row for row in rows if isinstance(row, SideBySide) and not row.agrees]
    for row in unequal:
        print(f"{row.peer}: {row.measure}: {row.apart:g} apart, {row.explained} explained")
    return 1 if unequal else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Run the campaign of the documentation and write its page; what is done already is not run again.

python -m campaigns --folder campaign-runs --page docs/campaign.md
"""

import argparse
from pathlib import Path

from campaigns.page import write_page
from campaigns.studies import Scale, write_main, write_slices, write_threads
from gapline.run.campaign import run_study
from gapline.run.progress import progress_for_terminal
from gapline.run.where.pin import cores


def main() -> int:
    """Run all studies; return 1 when runs are left."""
    defaults = Scale()
    options = argparse.ArgumentParser(prog="python -m campaigns", description=__doc__)
    options.add_argument("--folder", type=Path, default=Path("campaign-runs"), help="where the studies are kept")
    options.add_argument("--page", type=Path, default=Path("docs/campaign.md"), help="the page to write")
    options.add_argument("--horizon", type=float, default=defaults.horizon, help="seconds of each run")
    options.add_argument("--instances", type=int, default=defaults.instances, help="instances per panel")
    options.add_argument("--sizes", type=int, nargs="+", default=list(defaults.sizes), help="customers, one panel each")
    options.add_argument("--seeds", type=int, nargs="+", default=list(defaults.seeds))
    options.add_argument("--arm", action="append", default=[], help="only these arms of the main study")
    options.add_argument("--on", help="where cells run, as in gapline run --on")
    given = options.parse_args()
    threads = tuple(count for count in (1, 2, 4, 8) if count <= len(cores()))
    scale = Scale(
        given.horizon, tuple(given.seeds), tuple(given.sizes), given.instances, threads=threads, arms=tuple(given.arm)
    )
    main_study = write_main(given.folder, scale)
    slices = write_slices(given.folder, main_study, scale)
    ladder = write_threads(given.folder, scale)
    left = 0
    for study in (main_study, slices, *ladder):
        print(f"{study}:", flush=True)
        report = run_study(study, on=given.on, progress=progress_for_terminal())
        for problem in report.problems:
            print(f"problem: {problem}")
        left += report.left
        if report.interrupted:
            return 130
    given.page.parent.mkdir(parents=True, exist_ok=True)
    write_page(given.page, main_study, slices, ladder)
    print(f"written: {given.page}")
    return 1 if left else 0


if __name__ == "__main__":
    raise SystemExit(main())

"""Run a study until no run of it was disturbed by other work."""

from pathlib import Path

import gapline as gl
from gapline.run.campaign import run_study
from gapline.run.progress import progress_for_terminal

# Two runs at a time first; where they or others still disturb each other, one at a time.
TOGETHER = 2


def run_undisturbed(study: Path, *, rounds: int) -> int:
    """Run what is missing, then what was disturbed again, so many times at most; return how many runs still are."""
    report = run_study(study, progress=progress_for_terminal())
    if report.left:
        raise SystemExit(f"{study}: {report.left} runs are left; go on with the same command")
    for attempt in range(rounds):
        left = disturbed(study)
        if not left:
            break
        print(f"{study}: {left} runs were disturbed and are run again", flush=True)
        alone = {"jobs": 1} if attempt >= TOGETHER else {}
        run_study(study, rerun_noisy=True, progress=progress_for_terminal(), **alone)
    return disturbed(study)


def disturbed(study: Path) -> int:
    """Count the runs that other work disturbed."""
    return sum(bool(words) for words in gl.open(study / "campaign").runs["disturbed"])

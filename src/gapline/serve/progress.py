"""How far a study is: cells by their stage, what failed and why, and about how long the rest takes."""

import contextlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from gapline.journal.cell_state import CellState
from gapline.journal.line import ERROR_LOG
from gapline.model.regular import open_regular
from gapline.run.resume import FAILURES
from gapline.serve.follow import Followed, Follower

# Of the standard error of a run that failed.
MOST_BYTES, MOST_LINES = 4096, 10
MOST_FAILURES = 50
LEFT = (CellState.MISSING, CellState.INTERRUPTED, CellState.QUARANTINED)


def count_stages(follower: Follower) -> Counter[CellState]:
    """Count cells by their stage."""
    found: Counter[CellState] = Counter()
    for (stage, _), number in follower.stages.items():
        found[stage] += number
    return found


def coverage_states(stages: Counter[CellState]) -> dict[str, int]:
    """Return the stages by the words of `Coverage`: what was changed afterwards has no whole attempt either."""
    return {
        "running": stages[CellState.RUNNING],
        "interrupted": stages[CellState.INTERRUPTED] + stages[CellState.QUARANTINED],
        "missing": stages[CellState.MISSING],
        "unchecked": stages[CellState.UNCHECKED],
    }


def seconds_left(follower: Follower, elapsed: dict[Followed, float]) -> tuple[float, float]:
    """Return the seconds of solving that are left, and about how long they take with as many runs at a time as now."""
    rests = [max(0.0, one.cell.horizon - elapsed.get(one, 0.0)) for one in follower.running()]
    # By horizons, which are few, and not by cells.
    waiting: Counter[float] = Counter()
    for (stage, horizon), number in follower.stages.items():
        waiting[horizon] += number if stage in LEFT else 0
    work = sum(rests) + sum(horizon * number for horizon, number in waiting.items())
    # The last ones do not spread over all slots: a run takes its horizon however many cores stand idle.
    return work, max(
        work / max(1, len(rests)), max([*rests, *(h for h, number in waiting.items() if number)], default=0.0)
    )


def failure_of(one: Followed) -> dict[str, Any] | None:
    """Return how a done run failed, with the last lines of its standard error; None where it did not."""
    counting = one.counting
    if counting is None or counting.outcome.status not in FAILURES or counting.outcome.ending is None:
        return None
    ending = counting.outcome.ending
    return {
        **one.key._asdict(),
        "status": counting.outcome.status.value,
        "cause": ending.signal or f"exit code {ending.exit_code}",
        "elapsed": ending.elapsed,
        "stderr": last_lines(counting.outcome.path.with_name(ERROR_LOG)),
    }


def last_lines(path: Path) -> list[str]:
    """Return the last lines of a log, few and short ones."""
    with contextlib.suppress(OSError), open_regular(path) as stream:
        size = stream.seek(0, 2)
        stream.seek(max(0, size - MOST_BYTES))
        text = stream.read(MOST_BYTES).decode("utf-8", "replace")
        lines = text.splitlines()
        # The first one is cut where the log is longer than what was read.
        return lines[-MOST_LINES:] if size <= MOST_BYTES or len(lines) == 1 else lines[1:][-MOST_LINES:]
    return []


def newest_failures(failures: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the failures that are shown, the newest first; all of them are counted beside."""
    return list(failures[::-1][:MOST_FAILURES])

"""Words for numbers: sentences that are true whichever way a campaign comes out."""

from typing import Any

import gapline as gl
from gapline.report.numbers import number


def means(scores: gl.Scores, *, weighting: str) -> dict[str, float]:
    """Return the mean score of each arm, the best first."""
    kernel = scores.kernels[0]
    frame = gl.summarise(scores, by="arm", weighting=weighting).frame.sort(kernel)
    return dict(frame.select("arm", kernel).iter_rows())


def ordered(found: dict[str, float]) -> str:
    """List arms with their means, the best first."""
    return ", ".join(f"{arm} {number(value)}" for arm, value in found.items())


def pair(study: gl.Study, better: str, other: str) -> dict[str, Any]:
    """Return the contrast of two arms: its difference is that of the first minus the second."""
    found = gl.contrasts(study.bootstrap, exploratory=[(better, other)], method=study.interval, level=study.level)
    return found.frame.row(0, named=True)


def difference_words(row: dict[str, Any]) -> str:
    """Say which of two arms is better, and whether the interval shows it."""
    if row["low"] is None:
        return f"{row['a']} minus {row['b']} is {number(row['difference'])}, without an interval ({row['reason']})"
    difference, low, high = (row[name] for name in ("difference", "low", "high"))
    if low <= 0 <= high:
        span = f"{number(difference)} [{number(low)}, {number(high)}]".replace("-", "−")
        return f"between {row['a']} and {row['b']} no difference is shown: {span}"
    verdict, (near, far) = ("better", (-high, -low)) if high < 0 else ("worse", (low, high))
    span = f"{number(abs(difference))} [{number(near)}, {number(far)}]"
    return f"{row['a']} is {verdict} than {row['b']} by {span}, shown on {row['instances']} instances"


def first_times(study: gl.Study) -> dict[str, float | None]:
    """Return the median time of the first valid candidate of each arm; None where most runs have none."""
    found: dict[str, float | None] = {}
    for arm in sorted(set(study.envelopes.runs["arm"])):
        times = study.scores[0].frame.filter(arm=arm)["first_time"].to_list()
        known = sorted(time for time in times if time is not None)
        middle = len(times) // 2
        found[arm] = known[middle] if middle < len(known) else None
    return found


def final_gaps(study: gl.Study) -> dict[str, float]:
    """Return the mean final gap of each arm over its runs that found something."""
    frame = study.summary.frame
    return dict(frame.select("arm", "final_gap").iter_rows())

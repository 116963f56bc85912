"""The one headline of page, `results.json`, macros and terminal: who is ahead, where the paired difference shows it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.model.reading import Coverage
from gapline.report.numbers import number, signed
from gapline.report.order import ArmOrder
from gapline.summary.cells import TIE

_NO_SCORE = (
    "Some run has no score: the raw kernel needs it to be feasible at time 0, "
    "a logarithmic weight needs a horizon beyond its cutoff."
)


@dataclass(frozen=True, slots=True)
class Headline:
    """One statement and the numbers behind it; `settled` where an arm is said to be ahead of another."""

    text: str
    detail: str
    settled: bool = False

    @property
    def sentences(self) -> str:
        """The statement and its numbers, to be pasted into a text."""
        return f"{self.text}. {self.detail.removesuffix('.')}."


def write_headline(
    order: ArmOrder,
    means: Mapping[str, float | None],
    contrasts: pl.DataFrame | None,
    /,
    *,
    kernel: str,
    level: float,
    coverage: Coverage | None = None,
    no_intervals: str | None = None,
) -> Headline:
    """Say who is ahead of the next one and by how much, or that nothing tells them apart, or why nothing is said.

    `contrasts` has rows a, b, difference (a minus b), low, high, instances, reason, a pair either way round. Where
    `coverage` lacks planned runs no order is stated; descriptive arms are never named. An arm is ahead only where the
    interval of the paired difference excludes 0 on its side. What is between them is counted from the smaller mean:

    >>> pair = {"a": "y", "b": "x", "difference": 0.2, "low": 0.1, "high": 0.3, "instances": 9, "reason": None}
    >>> order = ArmOrder(("x", "y"), (), {"x": 1, "y": 2})
    >>> write_headline(order, {"x": 0.1, "y": 0.3}, pl.DataFrame([pair]), kernel="squeezed", level=0.95).text
    'x is ahead of y by 0.20000, 95 % interval +0.10000 to +0.30000'
    >>> wide = pl.DataFrame([pair | {"low": -0.1}])
    >>> write_headline(order, {"x": 0.1, "y": 0.3}, wide, kernel="squeezed", level=0.95).text
    'x and y are not told apart: 0.20000 between them, 95 % interval −0.10000 to +0.30000'
    """
    # The order of these checks is the rule: what is missing is said before anything about who is ahead.
    ranked = [arm for arm in order.compared if means[arm] is not None]
    if not ranked:
        if order.descriptive and not order.compared:
            return Headline("No arm is compared here", "All arms are descriptive (tier 2).")
        return Headline(f"No mean {kernel} score exists here", _NO_SCORE)
    if coverage is not None and coverage.short:
        done = f"{coverage.runs - coverage.filled:,} of {coverage.planned or 0:,} planned runs"
        return Headline(f"{done}: no order is stated", f"{coverage}.")
    if order.unrankable is not None:
        return Headline(f"No ranking under {kernel}", order.unrankable)
    if len(ranked) == 1:
        return Headline(f"{ranked[0]}: mean {kernel} score {number(means[ranked[0]])}", "One arm is compared.")
    first, second = ranked[0], ranked[1]
    both = f"Mean {kernel} scores {number(means[first])} and {number(means[second])}."
    apart = (means[second] or 0.0) - (means[first] or 0.0)
    return _compare(first, second, _difference(contrasts, first, second), apart, both, level, no_intervals)


def _compare(
    first: str, second: str, found: dict[str, Any], apart: float, both: str, level: float, no_intervals: str | None
) -> Headline:
    value, low, high = (found.get(name) for name in ("difference", "low", "high"))
    # Level takes both: equal means over all instances, and no paired difference.
    tied = apart < TIE and (value is None or abs(value) < TIE)
    unsettled = f"{first} and {second} are {'level' if tied else 'not told apart'}"
    if value is None or low is None or high is None:
        reason = found.get("reason") or no_intervals or "none was computed"
        between = "" if tied else f": {number(apart)} between their means, no interval"
        return Headline(f"{unsettled}{between}", f"{both} No interval: {reason}.")
    # Turned to second minus first: what the first is ahead by is positive.
    span = f"{100 * level:g} % interval {signed(-high)} to {signed(-low)}"
    turned = f"of the difference {second} − {first}"
    if tied:
        return Headline(f"{unsettled}: {number(abs(value))} between them, {span}", f"{both} The interval is {turned}.")
    if value > TIE:
        # Means over all instances of an arm, and the paired difference over those that both ran, may disagree.
        return Headline(
            f"{unsettled}: their means and their paired difference disagree",
            f"{both} {first} has the smaller mean over the instances that it ran, {second} over the "
            f"{found['instances']:,} that both ran; {span} {turned}.",
        )
    if value < -TIE and high < 0:
        text = f"{first} is ahead of {second} by {number(-value)}, {span}"
        return Headline(text, f"{both} The interval {turned} excludes 0.", settled=True)
    # A bootstrap interval need not hold the difference that it is of; then it may lie above 0 entirely.
    zero = "includes 0" if low <= 0 <= high else "does not hold the difference itself"
    text = f"{unsettled}: {number(abs(value))} between them, {span}"
    return Headline(text, f"{both} The interval {turned} {zero}.")


def _difference(contrasts: pl.DataFrame | None, first: str, second: str) -> dict[str, Any]:
    """Find the pair, whichever way round it is stored, and turn it to first minus second; empty where there is none."""
    for row in () if contrasts is None else contrasts.iter_rows(named=True):
        if (row["a"], row["b"]) == (first, second):
            return row
        if (row["a"], row["b"]) == (second, first):
            # Turned round, the upper end of the interval is the lower one.
            turned = {"difference": row["difference"], "low": row["high"], "high": row["low"]}
            return row | {name: None if value is None else -value for name, value in turned.items()}
    return {}

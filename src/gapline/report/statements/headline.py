"""The headline of page, `results.json`, macros and terminal: what the differences of the ranked arms show.

`page/script/headline.js` applies the same rule to other choices in the page.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from gapline.contract.reading import Coverage
from gapline.errors import listing
from gapline.report.numbers import number, p_words, sentence, signed
from gapline.report.order import ArmOrder
from gapline.statistics.cells import TIE
from gapline.text import counted

# With at most this many instances, means are stated, but no arm is called better than another.
FEW_INSTANCES = 2
_NO_SCORE = (
    "Some run has no score: the raw kernel needs it to be feasible at time 0, "
    "a logarithmic weight needs a horizon beyond its cutoff."
)


@dataclass(frozen=True, slots=True)
class Headline:
    """One statement and the numbers behind it; `settled` if an arm is said to be better than another."""

    text: str
    detail: str
    settled: bool = False

    @property
    def sentences(self) -> str:
        """The statement and its numbers, ready to paste into a text."""
        return f"{self.text}. {self.detail.removesuffix('.')}."


@dataclass(frozen=True, slots=True)
class Evidence:
    """The facts behind a headline.

    Attributes
    ----------
    means
        The mean of every arm; None if it does not exist.
    instances
        The number of instances on which the arms are compared.
    ranking
        The rows of the ranking by arm (rank, rank_high, wins, losses); empty without a ranking.
    contrasts
        The rows of the contrasts, declared ones first.
    no_intervals
        Why there are no intervals at all.
    alarms
        The instance of each integrity alarm.
    empty
        Whether no run found a solution.
    """

    kernel: str
    level: float
    means: dict[str, float | None]
    instances: int
    ranking: dict[str, dict[str, Any]] = field(default_factory=dict)
    contrasts: Sequence[dict[str, Any]] = ()
    coverage: Coverage | None = None
    no_intervals: str | None = None
    alarms: Sequence[str] = ()
    empty: bool = False


def write_headline(order: ArmOrder, found: Evidence, /) -> Headline:
    """State what the declared contrasts show, then which arm has the lowest mean, and whether it is distinguishable.

    An arm is ahead only if the ranking, with its Holm adjustment, gives it the first place alone, and the difference
    from the next one is significant: for a declared contrast, after its own adjustment.

    >>> order = ArmOrder(("x", "y"), (), {"x": 1, "y": 2})
    >>> pair = {"a": "y", "b": "x", "declared": False, "difference": 0.2, "low": 0.1, "high": 0.3, "p": 0.001}
    >>> rows = {"x": {"rank": 1, "rank_high": 1, "wins": 9, "losses": 0}, "y": {"rank": 2, "wins": 0, "losses": 9}}
    >>> found = Evidence("squeezed", 0.95, {"x": 0.1, "y": 0.3}, 9, rows, [pair])
    >>> write_headline(order, found).text
    'x is ahead of y by 0.20000, 95 % interval +0.10000 to +0.30000'
    """
    return _withheld(order, found) or _compare([arm for arm in order.compared if found.means[arm] is not None], found)


def _withheld(order: ArmOrder, found: Evidence) -> Headline | None:
    """Return the headline that explains why no arms are compared; None if they are."""
    compared = (*order.compared, *order.others)
    known = [arm for arm in compared if found.means[arm] is not None]
    coverage, text, detail = found.coverage, "", ""
    # The order of these checks matters: a reason to withhold comes before any statement.
    if found.alarms:
        text = f"{counted(len(found.alarms), 'integrity alarm')}: no arm is called better"
        where, they = listing(sorted(set(found.alarms)), most=5), "it is" if len(found.alarms) == 1 else "they are"
        detail = f"No score on {where} can be trusted until {they} resolved."
    elif found.empty:
        text, detail = "No run found a solution", "Every run scores the worst value of its kernel."
    elif order.descriptive and not compared:
        text, detail = "No arm is compared here", "All arms are descriptive (tier 2)."
    elif not known:
        text, detail = f"No mean {found.kernel} score exists here", _NO_SCORE
    elif coverage is not None and coverage.short:
        planned = f"{coverage.runs - coverage.filled:,} of {coverage.planned or 0:,} planned runs"
        done = planned if coverage.planned is not None else str(coverage)
        text, detail = f"{done}: no arm is called better", f"{coverage}."
    elif order.unrankable is not None:
        text, detail = f"No ranking under {found.kernel}", order.unrankable
    elif len(compared) == 1:
        text = f"{known[0]}: mean {found.kernel} score {number(found.means[known[0]])}"
        detail = "One arm alone: no comparison."
    elif order.reason is not None:
        text, detail = "No arm is ranked", sentence(order.reason)
    elif len([arm for arm in order.compared if found.means[arm] is not None]) < 2:
        text, detail = f"Fewer than two of the ranked arms have a mean {found.kernel} score", _NO_SCORE
    return Headline(text, detail) if text else None


def _compare(ranked: Sequence[str], found: Evidence) -> Headline:
    means = f"Mean {found.kernel} scores: {listing((f'{arm} {number(found.means[arm])}' for arm in ranked), most=6)}"
    if found.ranking and not any(found.ranking[arm][name] for arm in ranked for name in ("wins", "losses")):
        return Headline(f"{len(ranked):,} arms: no difference in any cell", f"{means}.")
    if found.instances <= FEW_INSTANCES:
        few = counted(found.instances, "instance")
        return Headline(f"{means}; {few} only", "On so few instances no arm is called better than another.")
    if not found.ranking:
        return Headline(f"{means}; no intervals", f"No intervals: {found.no_intervals or 'none was computed'}.")
    pairs = [row for row in found.contrasts if {row["a"], row["b"]} <= set(ranked)]
    declared = [_declared(row, found.level) for row in pairs if row["declared"]]
    group = _group(ranked, found, pairs)
    if not declared:
        return Headline(group.text, f"{means}. {group.detail} Exploratory: no contrast was declared.", group.settled)
    if len(ranked) == 2:
        return Headline(group.text, f"{means}. {group.detail}", group.settled)
    return Headline(
        "; ".join([one.text for one in declared[:3]] + [f"{len(declared) - 3} more contrasts"] * (len(declared) > 3)),
        f"Exploratory: {group.text}. {means}. {group.detail}",
        group.settled or any(one.settled for one in declared),
    )


def _group(ranked: Sequence[str], found: Evidence, pairs: Sequence[dict[str, Any]]) -> Headline:
    """State which arm has the lowest mean, and how many arms cannot be distinguished from it."""
    size, leaders = len(ranked), [arm for arm in ranked if found.ranking[arm]["rank"] == 1]
    first, second = ranked[0], ranked[1 if len(leaders) == size else len(leaders)]
    worst = found.ranking[first]["rank_high"]
    # Arms with the same mean share the first place.
    level = (size if worst is None else worst) - len(leaders)
    pair = _difference(pairs, first, second)
    apart, low, high = abs(pair.get("difference") or 0.0), pair.get("low"), pair.get("high")
    if low is None or high is None:
        span, reason = "no interval", pair.get("reason") or found.no_intervals or "none was computed"
        detail = f"No interval of the difference {second} − {first}: {reason}."
    else:
        # Turned to second minus first: then the lead of the first is positive.
        span = f"{100 * found.level:g} % interval {signed(-high)} to {signed(-low)}"
        zero = "includes" if low <= 0 <= high else "excludes"
        detail = f"The interval of the difference {second} − {first} {zero} 0 (p {p_words(pair['p'])})."
    sure = worst == 1 and high is not None and high < 0 and is_shown(pair, found.level, distinguished=True)
    if size == 2:
        text = f"No significant difference between {first} and {second}: {number(apart)}, {span}"
        if sure:
            text = f"{first} is ahead of {second} by {number(apart)}, {span}"
        elif worst == 1:
            text = f"{first} has the lowest mean, by {number(apart)}; {span}"
        return Headline(text, detail, sure)
    adjusted = f"Arms are distinguished at {100 * (1 - found.level):g} %, Holm-adjusted."
    if sure:
        text = f"{first} is ahead of the {size - 1:,} other ranked arms"
        text += f"; of the next, {second}, by {number(apart)}, {span}"
        return Headline(text, f"{detail} {adjusted}", settled=True)
    text, them = f"{first} has the lowest mean", "it"
    if len(leaders) > 1:
        text, them = f"{listing(leaders, most=4)} share the lowest mean", "them"
    if level > 0:
        text += f"; {level:,} of {size:,} arms cannot be distinguished from {them}"
    return Headline(text, f"{second} is next, {number(apart)} behind, {span}. {detail} {adjusted}")


def _declared(row: dict[str, Any], level: float) -> Headline:
    """State what a declared contrast shows; with more than two arms, one pair puts no arm ahead."""
    value, low, high, p = (row[name] for name in ("difference", "low", "high", "p_holm"))
    text = f"Contrast {row['a']} against {row['b']}: {signed(value)}"
    if low is None or high is None:
        return Headline(f"{text}, no interval", str(row["reason"]))
    text += f", {100 * level:g} % interval {signed(low)} to {signed(high)}, Holm p {p_words(p)}"
    if not is_shown(row, level):
        return Headline(f"{text}; no significant difference", "")
    return Headline(f"{text}; {row['a'] if value < 0 else row['b']} is better", "", settled=True)


def is_shown(row: Mapping[str, Any], level: float, /, *, distinguished: bool = False) -> bool:
    """Return whether a difference is significant: its interval excludes 0, also after Holm's adjustment.

    A declared contrast is adjusted together with the other declared ones; for any other pair, the ranking decides
    whether it is `distinguished`.
    """
    low, high, p = row.get("low"), row.get("high"), row.get("p_holm")
    adjusted = distinguished if p is None else p <= 1 - level
    return adjusted and low is not None and high is not None and (low > TIE or high < -TIE)


def _difference(pairs: Sequence[dict[str, Any]], first: str, second: str) -> dict[str, Any]:
    """Return the pair as first minus second, in whichever order it is stored; empty if it does not exist."""
    for row in pairs:
        if (row["a"], row["b"]) == (first, second):
            return row
        if (row["a"], row["b"]) == (second, first):
            # After the reversal, the upper end of the interval is the lower one.
            turned = {"difference": row["difference"], "low": row["high"], "high": row["low"]}
            return row | {name: None if value is None else -value for name, value in turned.items()}
    return {}

"""Tables of paired differences: contrasts, and one comparison with its gate."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gapline.report.numbers import count, interval, number, p_value, p_words, signed
from gapline.report.table import Column, Table, Text, capital, one_part, part
from gapline.report.tables.means import sentence
from gapline.statistics.contrasts import Contrasts
from gapline.study.comparison import Comparison
from gapline.study.gate import NO_SOLUTION, POWER, Gate, Question, no_spread_words


def compared_rows(contrasts: Contrasts, descriptive: Sequence[str]) -> pl.DataFrame:
    """Return the contrasts of compared arms alone: a descriptive arm is never tested."""
    return contrasts.frame.filter(~(pl.col("a").is_in(list(descriptive)) | pl.col("b").is_in(list(descriptive))))


def contrast_table(contrasts: Contrasts, /, *, empties: Mapping[str, int], descriptive: Sequence[str] = ()) -> Table:
    """Return the differences of means, declared ones first; bold where the interval excludes 0."""
    rows = compared_rows(contrasts, descriptive)
    frame = rows.sort("declared", "a", "b", descending=[True, False, False])
    # Where pairs share other instances than the ranked arms do, each row says on how many.
    shared = bool((frame["instances"] != contrasts.reading.instance_set.instances).any())
    kinds = {
        name: [
            _contrast_row(row, empties, shared=shared) for row in frame.filter(pl.col("declared") == chosen).to_dicts()
        ]
        for name, chosen in (("declared", True), ("exploratory", False))
    }
    columns = (
        *capital("a", "b", text=True),
        *(capital("instances") if shared else ()),
        Column("mean a", "Mean A", spare=4),
        Column("mean b", "Mean B", spare=4),
        Column("a − b", "A $-$ B", spare=0),
        Column(f"{contrasts.level:.0%} interval", spare=0),
        Column("p", "$p$", spare=2),
        Column("Holm p", "Holm $p$"),
        Column("W/T/L", spare=3),
        Column("empty a/b", "empty A/B", spare=5),
    )
    return Table(
        name="contrasts",
        caption="Differences of mean scores; negative, the first arm is better",
        columns=columns,
        parts=tuple(part(name, rows) for name, rows in kinds.items() if rows),
        frame=frame,
        notes=(
            sentence(contrasts.caption()),
            *map(sentence, contrasts.notes()),
            *(
                ("Instances: those that both arms of a row ran; means and difference are over these.",)
                if shared
                else ()
            ),
            "Bold where the interval excludes 0. W/T/L: instances on which the first arm wins, ties, loses.",
        ),
    )


def _contrast_row(row: dict[str, Any], empties: Mapping[str, int], *, shared: bool) -> list[Text | str]:
    # The interval alone decides what is bold; Holm's p stands next to it.
    sure = row["low"] is not None and (row["low"] > 0 or row["high"] < 0)
    return [
        *(
            row["a"],
            row["b"],
            *([count(row["instances"])] if shared else []),
            number(row["mean_a"]),
            number(row["mean_b"]),
        ),
        Text(number(row["difference"]), sure),
        *(interval(row["low"], row["high"]), p_value(row["p"]), p_value(row["p_holm"])),
        "/".join(count(row[name]) for name in ("wins", "ties", "losses")),
        f"{count(empties.get(row['a'], 0))}/{count(empties.get(row['b'], 0))}",
    ]


def comparison_table(comparison: Comparison, /) -> Table:
    """Return the panels of a comparison and their whole; a differing machine is flagged on every line."""
    flag = "  [machines differ]" if comparison.machine_differs else ""
    scores, counts = ("first", "second", "difference", "low", "high"), ("wins", "ties", "losses")
    rows = []
    for row in comparison.frame.iter_rows(named=True):
        values = [number(row[name]) for name in scores]
        rows.append([f"{row['panel']}{flag}", count(row["instances"]), *values, *(count(row[name]) for name in counts)])
    whole = (*comparison.means, comparison.difference, comparison.low, comparison.high)
    totals = [count(int(comparison.frame[name].sum())) for name in counts]
    # Not "all", which is what a panel without a name is called.
    rows.append([f"all panels{flag}", count(comparison.instances), *map(number, whole), *totals])
    return Table(
        name="comparison",
        caption=f"first: {comparison.first}; second: {comparison.second}",
        columns=(
            Column("panel", text=True),
            Column("instances", spare=3),
            *(Column(name, spare=2) for name in scores[:2]),
            *(Column(name, spare=0) for name in scores[2:]),
            *(Column(name, spare=4) for name in counts),
        ),
        parts=one_part(rows),
        frame=comparison.frame,
        notes=(f"{comparison.caption()}.",),
    )


def verdict_line(comparison: Comparison, /) -> str:
    """Word the verdict in one line, in score units: a relative percentage would not survive a mean near zero."""
    flag = " [machines differ]" if comparison.machine_differs else ""
    if comparison.empty:
        return f"{comparison.second}: {comparison.verdict} ({NO_SOLUTION}){flag}"
    if comparison.low is None or comparison.high is None:
        alike = comparison.estimate.tied or comparison.estimate.flat
        reason = no_spread_words(comparison.estimate) if alike else comparison.reason
        p = f", p {p_words(comparison.p)}" if alike and not comparison.estimate.tied else ""
        return f"{comparison.second}: {comparison.verdict} ({reason}{p}) against {comparison.first}{flag}"
    level = f"{comparison.level:.0%}"
    return (
        f"{comparison.second}: {comparison.verdict}: {signed(comparison.difference)} ({level} interval "
        f"{signed(comparison.low)} to {signed(comparison.high)}, p {p_words(comparison.p)}) against "
        f"{comparison.first}{flag}"
    )


def suggestion_line(gate: Gate, /) -> str:
    """Say which limit a gate on runs like these can hold."""
    if gate.suggested is None:
        return "suggestion: none, since nothing can be judged"
    finds = {
        Question.WORSE: "finds one that is worse by twice that",
        Question.NON_INFERIOR: "passes one that does not differ",
        Question.SUPERIOR: "passes one that is better by twice that",
    }
    asked = Question(gate.question)
    return (
        f"suggestion: --{asked.option} {gate.suggested:.2g} {finds[asked]} in {POWER:.0%}; a smaller limit needs more "
        "instances (`gapline plan`)"
    )

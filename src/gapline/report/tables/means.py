"""Means: arms or other groups with their counts, scores, final gaps and attainment; panels; one reading for JSON."""

from collections.abc import Mapping, Sequence
from functools import partial
from math import isinf
from typing import Any

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.contract.transforms import shortest
from gapline.references.alarms import Alarm
from gapline.report.numbers import (
    count,
    goal_words,
    interval,
    number,
    number_or_overflow,
    percent,
    plain_numbers,
    sentence,
)
from gapline.report.order import ArmOrder, order_arms
from gapline.report.statements.remarks import EMPTY_RUNS
from gapline.report.table import Column, Field, Record, Table, Text, field, field_table, fields, one_part, smallest
from gapline.scoring.endpoints import attainment_name
from gapline.scoring.scores import Scores, goal_name
from gapline.statistics.bootstrap import ArmIntervals
from gapline.statistics.means import Summary, summarise

# The counts with the order in which a narrow terminal drops columns: first those that are mostly zero, then other
# kernels and goals, then runs.
_COUNTS = {"runs": 3, "empty": 5, "rejected": 6, "late": 6}
_OTHER_COLUMNS = 4
_KERNEL_LATEX = {
    "squeezed": r"$\Lambda$", "maxform": r"$\Lambda_B$", "berthold": "Berthold", "raw": r"raw $\bar g$",
}  # fmt: skip


def kernel_column(name: str, spare: int | None = None) -> Column:
    """Return the head of a kernel's column, as in the paper.

    >>> kernel_column("dimacs:1.1").latex
    'DIMACS 1.1'
    """
    head, _, parameter = name.partition(":")
    latex = _KERNEL_LATEX.get(name, f"DIMACS {parameter}" if head == "dimacs" else None)
    return Column(name, latex, spare=spare)


def reference_heading(name: str, label: ReferenceLabel) -> str:
    """Return the heading of the rows against one reference: its name in this analysis, and its description."""
    return name if name == label.policy else f"{name} ({label.policy})"


def digests_note(labels: Mapping[str, ReferenceLabel]) -> str:
    """Return the full digest of every reference of a table."""
    return f"References {'; '.join(f'{name}: {label.digest}' for name, label in labels.items())}."


def arm_parts(
    rows: Sequence[Record], ranked: int, others: int, heading: str | None = None
) -> list[tuple[str | None, Sequence[Record]]]:
    """Return the rows of arms in parts: the ranked ones, those that ran other instances, the descriptive ones."""
    # If no arm is ranked, a note gives the reason; a heading for all rows would be useless.
    first, rest = ranked or others, ranked + others
    found = [(heading, rows[:first]), ("other instances, not ranked", rows[first:rest])]
    found.append(("descriptive, not compared", rows[rest:]))
    return [(name, mine) for name, mine in found if mine or name == heading is not None]


def arm_frame(summary: Summary, order: ArmOrder, intervals: ArmIntervals | None) -> pl.DataFrame:
    """Return the means of the arms in their order, with rank, tier and the interval (`low`, `high`) of each."""
    placed = pl.DataFrame(
        [(arm, order.ranks.get(arm), order.tier(arm)) for arm in order.arms],
        schema={"arm": pl.String, "rank": pl.Int64, "tier": pl.Int64},
        orient="row",
    )
    frame = placed.join(summary.frame, on="arm", maintain_order="left").select(*summary.frame.columns, "rank", "tier")
    if intervals is not None:
        frame = frame.join(intervals.frame.select("arm", "low", "high"), on="arm", how="left", maintain_order="left")
    return frame


def arm_table(
    summary: Summary,
    order: ArmOrder,
    /,
    *,
    kernels: Sequence[str] | None = None,
    intervals: ArmIntervals | None = None,
    no_intervals: str | None = None,
) -> Table:
    """Return one row per arm: rank, counts, means (with the interval of the first), final gap, attainment.

    The best of the ranked arms is bold in each column. `kernels` are the columns of means; the CSV has all kernels.
    `no_intervals` is the reason if intervals were requested and do not exist.
    """
    frame, kernels = arm_frame(summary, order, intervals), tuple(kernels or summary.kernels)
    columns = _mean_fields(summary, kernels, order)
    if intervals is not None:
        # Directly after the mean of the first kernel, to which the interval belongs.
        head = Column(f"{intervals.level:.0%} interval", spare=1)
        columns.insert(len(_COUNTS) + 1, Field(head, lambda row: interval(row["low"], row["high"])))
    columns = [
        Field(Column("rank", "Rank", spare=2), lambda row: order.rank(row["arm"])),
        Field(Column("arm", "Arm", text=True), lambda row: order.label(row["arm"])),
        *columns,
    ]
    notes = [sentence(summary.caption()), EMPTY_RUNS, *order.notes()]
    notes += [f"No intervals: {no_intervals}."] if no_intervals else []
    caption = f"{summary.statistic.capitalize()} scores, smaller is better"
    parts = arm_parts(_printed(summary, frame), len(order.compared), len(order.others))
    return field_table("scores", caption, columns, parts, frame, notes)


def _printed(summary: Summary, frame: pl.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of means, with user-defined statistics already formatted by column."""
    own = (pl.Series(name, plain_numbers(frame[name].to_list()), dtype=pl.String) for name in summary.statistics)
    return frame.with_columns(*own).to_dicts()


def _mean_fields(summary: Summary, kernels: Sequence[str], order: ArmOrder | None = None) -> list[Field]:
    """Return counts, means, final gap and attainment; with an order, the best compared arm is bold."""
    outside = () if order is None else order.outside

    def may(row: Record) -> bool:
        return order is not None and row["arm"] in order.compared

    def is_full(row: Record) -> bool:
        # A mean over fewer runs is not comparable with one over all: only arms without empty runs compete.
        return may(row) and row["empty"] == 0

    found = [one for name, spare in _COUNTS.items() for one in fields(name, form=count, spare=spare)]
    for kernel in kernels:
        head = kernel_column(kernel, 0 if kernel == kernels[0] else _OTHER_COLUMNS)
        found.append(field(head, kernel, number, may=None if kernel in outside else may))
    # It is unknown whether larger or smaller is better for a user-defined statistic: nothing is bold.
    found += [field(Column(name, spare=2), name) for name in summary.statistics]
    found.append(field(Column("final gap", "Final gap", spare=2), "final_gap", percent, may=is_full))
    for goal in summary.goals:
        head = Column(f"≤ {goal_words(goal)}", spare=2 if goal == summary.goals[0] else _OTHER_COLUMNS)
        found.append(field(head, attainment_name(goal), partial(percent, digits=1), may=may, turn=-1.0))
    return found


def group_table(summary: Summary, /) -> Table:
    """Return one row per group of a summary that is not by arm: no ranks, nothing bold."""
    rows = sorted(_printed(summary, summary.frame), key=lambda row: _group_key(row, summary))
    columns = [*(field(Column(name, text=True), name) for name in summary.by), *_mean_fields(summary, summary.kernels)]
    caption = f"{summary.statistic.capitalize()} scores, smaller is better"
    notes = (sentence(summary.caption()), EMPTY_RUNS)
    return field_table("groups", caption, columns, [(None, rows)], summary.frame, notes)


def _group_key(row: dict[str, Any], summary: Summary) -> tuple[object, ...]:
    value = row[summary.kernels[0]]
    # Groups without a mean come last; None cannot be compared with a number.
    return (value is None, 0.0 if value is None else value, *(str(row[name]) for name in summary.by))


def score_table(
    summary: Summary,
    /,
    *,
    alarms: Sequence[Alarm] = (),
    intervals: ArmIntervals | None = None,
    no_intervals: str | None = None,
) -> Table:
    """Return one reading: the arms, best first, or the requested groups."""
    if summary.by != ("arm",):
        return group_table(summary)
    return arm_table(summary, order_arms(summary, alarms=alarms), intervals=intervals, no_intervals=no_intervals)


def panel_table(scores: Scores, order: ArmOrder, /) -> Table:
    """Return the mean of the declared kernel for every panel and arm, followed by the count of empty runs, if any."""
    kernel = scores.kernels[0]
    summary = summarise(scores, by=["panel", "arm"], weighting="instance")
    known = {(row["panel"], row["arm"]): row for row in summary.frame.iter_rows(named=True)}
    eligible = [arm in order.compared and kernel not in order.outside for arm in order.arms]
    rows = []
    for panel in sorted({panel for panel, _ in known}):
        mine = [known.get((panel, arm), {}) for arm in order.arms]
        best = smallest([row.get(kernel) if may else None for row, may in zip(mine, eligible, strict=True)])
        texts = [number(row.get(kernel)) + (f" ({row['empty']:,})" if row.get("empty") else "") for row in mine]
        rows.append([panel, *map(Text, texts, best)])
    return Table(
        name="panels",
        caption=f"Mean {kernel} scores by panel, smaller is better",
        columns=(Column("panel", "Panel", text=True), *map(Column, order.arms)),
        parts=one_part(rows),
        frame=summary.frame.sort("panel", "arm"),
        notes=(
            sentence(summary.caption()),
            "Empty runs in brackets; they score the worst value and stay in the mean.",
            *order.notes(),
        ),
    )


def score_document(
    scores: Scores, summary: Summary, /, *, per_run: bool, order: ArmOrder | None = None
) -> dict[str, Any]:
    """Return one reading for JSON; with an `order`, each arm has its tier and its rank (null without one)."""
    document: dict[str, Any] = {
        **summary.reading.document(),
        "statistic": summary.statistic,
        "arms": [_arm_document(row, summary, order) for row in summary.frame.iter_rows(named=True)],
        "notes": list(summary.notes),
    }
    if per_run:
        document["runs"] = [_run_document(row, scores) for row in scores.frame.iter_rows(named=True)]
    return document


def _arm_document(row: dict[str, Any], summary: Summary, order: ArmOrder | None) -> dict[str, Any]:
    placed = {} if order is None else {"tier": order.tier(row["arm"]), "rank": order.ranks.get(row["arm"])}
    return {
        **{name: row[name] for name in summary.by},
        **placed,
        **{name: row[name] for name in ("runs", "empty", "rejected", "late", "unchecked")},
        **_scores_document(row, summary.kernels, summary.statistics),
        "final_squeezed": row["final_squeezed"],
        "attainment": {shortest(goal): row[attainment_name(goal)] for goal in summary.goals},
    }


def _scores_document(row: dict[str, Any], kernels: Sequence[str], statistics: Sequence[str]) -> dict[str, Any]:
    """Return the scores, user-defined statistics if there are any, and the final gap."""
    scores = {kernel: number_or_overflow(row[kernel]) for kernel in kernels}
    own = {"statistics": {name: row[name] for name in statistics}} if statistics else {}
    return {"scores": scores, **own, "final_gap": number_or_overflow(row["final_gap"])}


def _run_document(row: dict[str, Any], scores: Scores) -> dict[str, Any]:
    # JSON has no infinity: a goal that was never attained has no time.
    hits = {shortest(goal): None if isinf(row[goal_name(goal)]) else row[goal_name(goal)] for goal in scores.goals}
    return {
        **{name: row[name] for name in ("arm", "instance", "panel", "seed", "horizon")},
        **_scores_document(row, scores.kernels, scores.statistics),
        **{name: row[name] for name in ("first_time", "steps", "rejected", "late", "status", "terminal_valid")},
        "best": row["best_raw"],
        # Only a hierarchical objective has parts.
        **{name: row[name] for name in ("best_primary", "best_secondary") if name in row},
        "hitting_times": hits,
    }

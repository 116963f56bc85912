"""Tables of means: arms or other groups with their counts, scores, final gaps and attainment; panels."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.report.numbers import count, goal_words, interval, number, percent
from gapline.report.order import ArmOrder
from gapline.report.table import Column, Part, Table, Text, bold_best, largest, one_part, smallest
from gapline.scoring.goals import attainment_name
from gapline.scoring.scores import Scores
from gapline.summary.bootstrap import ArmIntervals
from gapline.summary.means import Summary, summarise

COUNTS = ("runs", "empty", "rejected", "late")
EMPTY_NOTE = "Final gap over non-empty runs; an empty run scores the worst value and stays in every mean."
DESCRIPTIVE = "descriptive, not compared"
_KERNEL_LATEX = {
    "squeezed": r"$\Lambda$", "maxform": r"$\Lambda_B$", "berthold": "Berthold", "raw": r"raw $\bar g$",
}  # fmt: skip


def kernel_column(name: str) -> Column:
    """Return the head of a kernel's column, as the paper writes it.

    >>> kernel_column("dimacs:1.1").latex
    'DIMACS 1.1'
    """
    head, _, parameter = name.partition(":")
    return Column(name, _KERNEL_LATEX.get(name, f"DIMACS {parameter}" if head == "dimacs" else None))


def sentence(text: str) -> str:
    """Return a caption as a sentence of its own.

    >>> sentence("mean, panel-equal")
    'Mean, panel-equal.'
    """
    return f"{text[:1].upper()}{text[1:]}."


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

    Parameters
    ----------
    summary
        By arm.
    order
        Who is compared and how they rank; the best of them is bold in each column.
    kernels
        The columns of means, all of the summary where not given; the CSV has them all.
    intervals, no_intervals
        Of the first kernel; or why there are none, where somebody looked for them.
    """
    shown = tuple(kernels or summary.kernels)
    by_arm = {row["arm"]: row for row in summary.frame.iter_rows(named=True)}
    rows = [by_arm[arm] for arm in order.arms]
    spans = (
        {} if intervals is None else {r["arm"]: (r["low"], r["high"]) for r in intervals.frame.iter_rows(named=True)}
    )
    compared = [arm in order.compared for arm in order.arms]
    columns = [Column("rank", "Rank"), Column("arm", "Arm", text=True)]
    cells = [[Text(order.rank(arm)) for arm in order.arms], [Text(arm) for arm in order.arms]]
    columns += [Column(name, name.capitalize()) for name in COUNTS]
    cells += [[Text(count(row[name])) for row in rows] for name in COUNTS]
    for kernel in shown:
        columns.append(kernel_column(kernel))
        may = [here and kernel not in order.outside for here in compared]
        values = [row[kernel] for row in rows]
        cells.append(bold_best([number(value) for value in values], smallest(values, may)))
        if intervals is not None and kernel == shown[0]:
            columns.append(Column(f"{intervals.level:.0%} interval"))
            cells.append([Text(interval(*spans.get(arm, (None, None)))) for arm in order.arms])
    gaps = [row["final_gap"] for row in rows]
    # A mean over fewer runs is not comparable with one over all: only arms without empty runs compete.
    full = [here and row["empty"] == 0 for here, row in zip(compared, rows, strict=True)]
    columns.append(Column("final gap", "Final gap"))
    cells.append(bold_best([percent(gap) for gap in gaps], smallest(gaps, full)))
    for goal in summary.goals:
        rates = [row[attainment_name(goal)] for row in rows]
        columns.append(Column(f"≤ {goal_words(goal)}"))
        cells.append(bold_best([percent(rate, digits=1) for rate in rates], largest(rates, compared)))
    lines = list(zip(*cells, strict=True))
    frame = pl.DataFrame(rows, infer_schema_length=None, schema=summary.frame.schema).with_columns(
        rank=pl.Series([order.ranks.get(arm) for arm in order.arms], dtype=pl.Int64),
        tier=pl.Series([1 if here else 2 for here in compared], dtype=pl.Int64),
        **{
            end: pl.Series([spans.get(arm, (None, None))[k] for arm in order.arms], dtype=pl.Float64)
            for k, end in enumerate(("low", "high"))
            if intervals is not None
        },
    )
    return Table(
        name="scores",
        caption=f"{summary.statistic.capitalize()} scores, smaller is better",
        columns=tuple(columns),
        parts=_tiers(lines, len(order.compared)),
        frame=frame,
        notes=(
            sentence(summary.caption()),
            EMPTY_NOTE,
            *order.notes(),
            *((f"No intervals: {no_intervals}.",) if no_intervals else ()),
        ),
    )


def _tiers(lines: Sequence[tuple[Text, ...]], compared: int) -> tuple[Part, ...]:
    parts: list[Part] = [(None, tuple(lines[:compared]))] if compared else []
    if len(lines) > compared:
        parts.append((DESCRIPTIVE, tuple(lines[compared:])))
    return tuple(parts)


def group_table(summary: Summary, /) -> Table:
    """Return one row per group of a summary that is by something else than the arm: no ranks, nothing bold."""
    heads = [*summary.by, *COUNTS]
    rows = []
    for row in sorted(summary.frame.iter_rows(named=True), key=lambda row: _group_key(row, summary)):
        cells = [*(str(row[name]) for name in summary.by), *(count(row[name]) for name in COUNTS)]
        cells += [number(row[kernel]) for kernel in summary.kernels] + [percent(row["final_gap"])]
        cells += [percent(row[attainment_name(goal)], digits=1) for goal in summary.goals]
        rows.append([Text(cell) for cell in cells])
    return Table(
        name="groups",
        caption=f"{summary.statistic.capitalize()} scores, smaller is better",
        columns=(
            *(Column(head, text=head in summary.by) for head in heads),
            *map(kernel_column, summary.kernels),
            Column("final gap", "Final gap"),
            *(Column(f"≤ {goal_words(goal)}") for goal in summary.goals),
        ),
        parts=one_part(rows),
        frame=summary.frame,
        notes=(sentence(summary.caption()), EMPTY_NOTE),
    )


def _group_key(row: dict[str, Any], summary: Summary) -> tuple[object, ...]:
    value = row[summary.kernels[0]]
    return (value is None, 0.0 if value is None else value, *(str(row[name]) for name in summary.by))


def panel_table(scores: Scores, order: ArmOrder, /) -> Table:
    """Return the mean of the declared kernel for every panel and arm, the empty count beside each mean that has any."""
    kernel = scores.kernels[0]
    summary = summarise(scores, by=["panel", "arm"], weighting="instance")
    known = {(row["panel"], row["arm"]): row for row in summary.frame.iter_rows(named=True)}
    rows = []
    for panel in sorted({panel for panel, _ in known}):
        values = [known.get((panel, arm), {}).get(kernel) for arm in order.arms]
        best = smallest(values, [arm in order.compared and kernel not in order.outside for arm in order.arms])
        texts = []
        for arm, value in zip(order.arms, values, strict=True):
            empty = known.get((panel, arm), {}).get("empty", 0)
            texts.append(number(value) + (f" ({empty:,})" if empty else ""))
        rows.append([Text(panel), *bold_best(texts, best)])
    return Table(
        name="panels",
        caption=f"Mean {kernel} scores by panel, smaller is better",
        columns=(Column("panel", "Panel", text=True), *(Column(arm) for arm in order.arms)),
        parts=one_part(rows),
        frame=summary.frame.sort("panel", "arm"),
        notes=(
            sentence(summary.caption()),
            "Empty runs in brackets; they score the worst value and stay in the mean.",
            *order.notes(),
        ),
    )

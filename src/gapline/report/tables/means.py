"""Tables of means: arms or other groups with their counts, scores, final gaps and attainment; panels."""

from collections.abc import Collection, Sequence
from typing import Any

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.report.numbers import count, goal_words, interval, number, percent, plain_numbers
from gapline.report.order import ArmOrder
from gapline.report.table import Column, Table, Text, bold_best, capital, largest, one_part, part, smallest
from gapline.scoring.endpoints import attainment_name
from gapline.scoring.scores import Scores
from gapline.statistics.bootstrap import ArmIntervals
from gapline.statistics.means import Summary, summarise

COUNTS = ("runs", "empty", "rejected", "late")
# What a narrow terminal leaves out first: the counts that are mostly zero, then other kernels and goals, then runs.
_SPARED = {"runs": 3, "empty": 5, "rejected": 6, "late": 6}
_OTHERS = 4
EMPTY_NOTE = "Final gap over non-empty runs; an empty run scores the worst value and stays in every mean."
DESCRIPTIVE = "descriptive, not compared"
OTHERS = "other instances, not ranked"
_KERNEL_LATEX = {
    "squeezed": r"$\Lambda$", "maxform": r"$\Lambda_B$", "berthold": "Berthold", "raw": r"raw $\bar g$",
}  # fmt: skip


def kernel_column(name: str, spare: int | None = None) -> Column:
    """Return the head of a kernel's column, as the paper writes it.

    >>> kernel_column("dimacs:1.1").latex
    'DIMACS 1.1'
    """
    head, _, parameter = name.partition(":")
    latex = _KERNEL_LATEX.get(name, f"DIMACS {parameter}" if head == "dimacs" else None)
    return Column(name, latex, spare=spare)


def reference_heading(name: str, label: ReferenceLabel) -> str:
    """Return what stands above the rows against one reference: its name in this analysis, and what that amounts to."""
    return name if name == label.policy else f"{name} ({label.policy})"


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

    The best of the ranked arms is bold in each column. `kernels` are the columns of means; the CSV has them all.
    `no_intervals` says why there are none, where somebody looked for them.
    """
    by_arm = {row["arm"]: row for row in summary.frame.iter_rows(named=True)}
    rows = [by_arm[arm] for arm in order.arms]
    ends = {} if intervals is None else {r["arm"]: r for r in intervals.frame.iter_rows(named=True)}
    spans = [(ends.get(arm, {}).get("low"), ends.get(arm, {}).get("high")) for arm in order.arms]
    compared = [arm in order.compared for arm in order.arms]
    shown = tuple(kernels or summary.kernels)
    columns, cells = _mean_columns(summary, rows, shown, compared, order.outside)
    if intervals is not None:
        # Right after the mean of the first kernel, which it is the interval of.
        place = len(COUNTS) + 1
        columns.insert(place, Column(f"{intervals.level:.0%} interval", spare=1))
        cells.insert(place, [interval(*span) for span in spans])
    cells = [[order.rank(arm) for arm in order.arms], [order.label(arm) for arm in order.arms], *cells]
    frame = pl.DataFrame(rows, infer_schema_length=None, schema=summary.frame.schema).with_columns(
        rank=pl.Series([order.ranks.get(arm) for arm in order.arms], dtype=pl.Int64),
        tier=pl.Series([order.tier(arm) for arm in order.arms], dtype=pl.Int64),
    )
    if intervals is not None:
        frame = frame.with_columns(pl.DataFrame(spans, schema={"low": pl.Float64, "high": pl.Float64}, orient="row"))
    lines, best = list(zip(*cells, strict=True)), len(order.compared)
    rest = best + len(order.others)
    # Without any ranked arm the caption says why; one heading for all rows would say nothing.
    parts = [(None, lines[:best]), (OTHERS if best else None, lines[best:rest]), (DESCRIPTIVE, lines[rest:])]
    return Table(
        name="scores",
        caption=f"{summary.statistic.capitalize()} scores, smaller is better",
        columns=(*capital("rank", spare=2), *capital("arm", text=True), *columns),
        parts=tuple(part(heading, rows) for heading, rows in parts if rows),
        frame=frame,
        notes=(
            sentence(summary.caption()),
            EMPTY_NOTE,
            *order.notes(),
            *((f"No intervals: {no_intervals}.",) if no_intervals else ()),
        ),
    )


def _mean_columns(
    summary: Summary,
    rows: Sequence[dict[str, Any]],
    kernels: Sequence[str],
    compared: Sequence[bool],
    outside: Collection[str] = (),
) -> tuple[list[Column], list[Sequence[Text | str]]]:
    """Return counts, means, final gap and attainment of every row; the best of those that are compared is bold."""
    columns = [column._replace(spare=_SPARED[column.head]) for column in capital(*COUNTS)]
    cells: list[Sequence[Text | str]] = [[count(row[name]) for row in rows] for name in COUNTS]
    for kernel in kernels:
        values = [row[kernel] for row in rows]
        columns.append(kernel_column(kernel, 0 if kernel == kernels[0] else _OTHERS))
        cells.append(bold_best(map(number, values), smallest(values, [c and kernel not in outside for c in compared])))
    for name in summary.statistics:
        # Nobody says whether more of it is better: nothing is bold.
        columns.append(Column(name, spare=2))
        cells.append(plain_numbers([row[name] for row in rows]))
    # A mean over fewer runs is not comparable with one over all: only arms without empty runs compete.
    full = [here and row["empty"] == 0 for here, row in zip(compared, rows, strict=True)]
    gaps = [row["final_gap"] for row in rows]
    columns += capital("final gap", spare=2)
    cells.append(bold_best(map(percent, gaps), smallest(gaps, full)))
    for goal in summary.goals:
        rates = [row[attainment_name(goal)] for row in rows]
        columns.append(Column(f"≤ {goal_words(goal)}", spare=2 if goal == summary.goals[0] else _OTHERS))
        cells.append(bold_best([percent(rate, digits=1) for rate in rates], largest(rates, compared)))
    return columns, cells


def group_table(summary: Summary, /) -> Table:
    """Return one row per group of a summary that is by something else than the arm: no ranks, nothing bold."""
    rows = sorted(summary.frame.iter_rows(named=True), key=lambda row: _group_key(row, summary))
    columns, cells = _mean_columns(summary, rows, summary.kernels, [False] * len(rows))
    groups = [[str(row[name]) for row in rows] for name in summary.by]
    return Table(
        name="groups",
        caption=f"{summary.statistic.capitalize()} scores, smaller is better",
        columns=(*(Column(name, text=True) for name in summary.by), *columns),
        parts=one_part(zip(*groups, *cells, strict=True)),
        frame=summary.frame,
        notes=(sentence(summary.caption()), EMPTY_NOTE),
    )


def _group_key(row: dict[str, Any], summary: Summary) -> tuple[object, ...]:
    value = row[summary.kernels[0]]
    # Groups without a mean come last; None does not compare with a number.
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
        empties = [known.get((panel, arm), {}).get("empty", 0) for arm in order.arms]
        texts = [number(v) + (f" ({empty:,})" if empty else "") for v, empty in zip(values, empties, strict=True)]
        rows.append([panel, *bold_best(texts, best)])
    return Table(
        name="panels",
        caption=f"Mean {kernel} scores by panel, smaller is better",
        columns=(*capital("panel", text=True), *map(Column, order.arms)),
        parts=one_part(rows),
        frame=summary.frame.sort("panel", "arm"),
        notes=(
            sentence(summary.caption()),
            "Empty runs in brackets; they score the worst value and stay in the mean.",
            *order.notes(),
        ),
    )

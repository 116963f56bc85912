"""The score tables: arms with their means and intervals, panels, contrasts."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.report.input import ReportInput
from gapline.report.tables.table import Cell, Column, Table, bold_best, largest, one_part, smallest
from gapline.report.terminal import number, percent
from gapline.scoring.kernels import KernelCode, parse_kernel
from gapline.scoring.scores import Scores
from gapline.summary.means import summarise

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


def ranked_arms(study: ReportInput) -> list[str]:
    """Return the arms by the declared mean, best first; arms without one last."""
    kernel = study.kernels[0]
    return study.summary.frame.sort(kernel, "arm", nulls_last=True)["arm"].to_list()


def score_table(study: ReportInput, tier_one: Sequence[str]) -> Table:
    """Return one row per arm: counts, mean of the declared kernel with its interval, final gap, attainment.

    The other kernels are in the CSV and in the table of pooled means.
    """
    arms = ranked_arms(study)
    by_arm = {row["arm"]: row for row in study.summary.frame.iter_rows(named=True)}
    spans = {} if study.intervals is None else {r["arm"]: r for r in study.intervals.frame.iter_rows(named=True)}
    rows = [by_arm[arm] for arm in arms]
    eligible = [arm in tier_one for arm in arms]
    first = study.kernels[0]
    goals = [f"attainment:{goal:g}" for goal in study.goals]
    beaten = bool(study.scores[0].frame["beaten"].any())
    columns = [
        Column("arm", "Arm", text=True),
        *(Column(n, n.capitalize()) for n in ("runs", "empty", "rejected", "late")),
    ]
    cells = [[Cell(arm) for arm in arms]]
    cells += [[Cell(f"{row[name]:,}") for row in rows] for name in ("runs", "empty", "rejected", "late")]
    columns += [kernel_column(first), Column(f"{study.level:.0%} interval", None)]
    cells.append(_kernel_cells(first, rows, eligible, beaten=beaten))
    cells.append([Cell(interval(spans.get(arm))) for arm in arms])
    columns.append(Column("final gap", "Final gap"))
    gaps = [row["final_gap"] for row in rows]
    # A mean over fewer runs is not comparable with one over all: only arms without empty runs compete.
    full = [may and row["empty"] == 0 for may, row in zip(eligible, rows, strict=True)]
    cells.append(bold_best([percent(gap) for gap in gaps], smallest(gaps, full)))
    for goal, name in zip(study.goals, goals, strict=True):
        columns.append(Column(f"≤ {100 * goal:g} %"))
        rates = [row[name] for row in rows]
        cells.append(bold_best([percent(rate, digits=1) for rate in rates], largest(rates, eligible)))
    frame = pl.DataFrame([by_arm[arm] for arm in arms], infer_schema_length=None)
    ends = pl.DataFrame(
        [(spans.get(arm, {}).get("low"), spans.get(arm, {}).get("high")) for arm in arms],
        schema={"low": pl.Float64, "high": pl.Float64},
        orient="row",
    )
    return Table(
        name="scores",
        caption="Mean scores, smaller is better",
        columns=tuple(columns),
        parts=one_part(list(zip(*cells, strict=True))),
        frame=frame.hstack(ends),
        notes=(f"{_sentence(study.summary.caption())}.", *_score_notes(study, tier_one, beaten)),
    )


def panel_table(study: ReportInput, tier_one: Sequence[str]) -> Table:
    """Return the mean of the declared kernel for every panel and arm, the empty count beside each mean that has any."""
    kernel = study.kernels[0]
    summary = summarise(study.scores[0], by=["panel", "arm"], weighting="instance")
    known = {(row["panel"], row["arm"]): row for row in summary.frame.iter_rows(named=True)}
    arms = ranked_arms(study)
    panels = sorted({panel for panel, _ in known})
    rows = []
    for panel in panels:
        values = [known.get((panel, arm), {}).get(kernel) for arm in arms]
        best = smallest(values, [arm in tier_one for arm in arms])
        texts = []
        for arm, value in zip(arms, values, strict=True):
            empty = known.get((panel, arm), {}).get("empty", 0)
            texts.append(number(value) + (f" ({empty:,})" if empty else ""))
        rows.append([Cell(panel), *bold_best(texts, best)])
    return Table(
        name="panels",
        caption=f"Mean {kernel} scores by panel, smaller is better",
        columns=(Column("panel", "Panel", text=True), *(Column(arm) for arm in arms)),
        parts=one_part(rows),
        frame=summary.frame.sort("panel", "arm"),
        notes=(
            f"{_sentence(summary.caption())}.",
            "Empty runs in brackets; they score the worst value and stay in the mean.",
        ),
    )


def contrast_table(study: ReportInput) -> Table | None:
    """Return the paired differences, or None where there are no draws to judge them by."""
    if study.contrasts is None or not len(study.contrasts):
        return None
    frame = study.contrasts.frame.sort("declared", "a", "b", descending=[True, False, False])
    empties = dict(study.summary.frame.select("arm", "empty").iter_rows())
    parts = []
    for declared, kind in ((True, "declared"), (False, "exploratory")):
        rows = [
            _contrast_row(row, empties) for row in frame.filter(pl.col("declared") == declared).iter_rows(named=True)
        ]
        if rows:
            parts.append((kind, tuple(rows)))
    columns = (
        Column("a", "A", text=True),
        Column("b", "B", text=True),
        Column("mean a", "Mean A"),
        Column("mean b", "Mean B"),
        Column("a − b", "A $-$ B"),
        Column(f"{study.level:.0%} interval"),
        Column("Holm p", "Holm $p$"),
        Column("W/T/L"),
        Column("empty a/b", "empty A/B"),
    )
    return Table(
        name="contrasts",
        caption="Differences of mean scores; negative, the first arm is better",
        columns=columns,
        parts=tuple(parts),
        frame=frame,
        notes=(
            f"{_sentence(study.contrasts.caption())}; against {study.scores[0].reference}.",
            "Bold where the interval excludes 0. W/T/L: instances on which the first arm wins, ties, loses.",
        ),
    )


def _contrast_row(row: dict[str, Any], empties: dict[str, int]) -> tuple[Cell, ...]:
    sure = row["low"] is not None and (row["low"] > 0 or row["high"] < 0)
    return (
        Cell(row["a"]),
        Cell(row["b"]),
        Cell(number(row["mean_a"])),
        Cell(number(row["mean_b"])),
        Cell(number(row["difference"]), sure),
        Cell(interval(row)),
        Cell("–" if row["p_holm"] is None else f"{row['p_holm']:.2g}"),
        Cell(f"{row['wins']}/{row['ties']}/{row['losses']}"),
        Cell(f"{empties.get(row['a'], 0):,}/{empties.get(row['b'], 0):,}"),
    )


def run_table(scores: Scores) -> pl.DataFrame:
    """Return one row per run, for CSV."""
    keep = [
        "arm", "panel", "instance", "seed", "status", "horizon", "announced", "reference", *scores.kernels, "final_gap",
        "first_time", "best_raw", *(f"hit:{goal:g}" for goal in scores.goals), "captured", "steps", "rejected", "late",
        "unchecked", "terminal_valid", "beaten", "validation",
    ]  # fmt: skip
    rows = scores.frame.select(name for name in keep if name in scores.frame.columns)
    # A goal that was never attained has no time; `inf` would be a number to some readers of CSV and text to others.
    return rows.with_columns(pl.when(pl.col("^hit:.*$").is_finite()).then(pl.col("^hit:.*$")))


def interval(row: dict[str, float | None] | None) -> str:
    """Format two ends, a dash where there are none.

    >>> interval({"low": -0.1, "high": 0.25})
    '[-0.10000, 0.25000]'
    """
    if row is None or row["low"] is None:
        return "–"
    return f"[{number(row['low'])}, {number(row['high'])}]"


def _kernel_cells(
    kernel: str, rows: list[dict[str, float | None]], eligible: list[bool], *, beaten: bool
) -> list[Cell]:
    values = [row[kernel] for row in rows]
    # Berthold's gap under a beaten reference is out of its envelope: shown, never ranked.
    rankable = not (beaten and parse_kernel(kernel).code is KernelCode.BERTHOLD)
    return bold_best([number(value) for value in values], smallest(values, [may and rankable for may in eligible]))


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _score_notes(study: ReportInput, tier_one: Sequence[str], beaten: bool) -> list[str]:
    notes = ["Final gap over non-empty runs; an empty run scores the worst value and stays in every mean."]
    descriptive = [arm for arm in ranked_arms(study) if arm not in tier_one]
    if descriptive:
        notes.append(f"Descriptive, not compared: {', '.join(descriptive)}.")
    if beaten and parse_kernel(study.kernels[0]).code is KernelCode.BERTHOLD:
        notes.append("Some runs end below their reference, where berthold is out of its envelope: shown, not ranked.")
    if study.no_intervals:
        notes.append(f"No intervals: {study.no_intervals}.")
    return notes

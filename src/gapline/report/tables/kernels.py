"""Tables about kernels: saturated runs, signs, ratios of means, the scale of scores."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.contract.transforms import shortest
from gapline.report.numbers import DASH, count, number, plain_percents, sentence, share_decimals
from gapline.report.statements.remarks import OUT_OF_ENVELOPE
from gapline.report.table import Column, Table, capital, one_part, part
from gapline.report.tables.means import digests_note, kernel_column, reference_heading
from gapline.study.analyse import Analysis
from gapline.study.sensitivity import MetricSensitivity, mean_ratio

Labels = Mapping[str, ReferenceLabel]
Cell = tuple[str, str, str]
# More ratios are unreadable: of many arms, each is compared with the best one only.
MOST_PAIRS = 66


def kernel_tables(analysis: Analysis, /) -> list[Table]:
    """Return the tables that exist: saturation needs a threshold, ratios need a pair."""
    metric, labels = analysis.metrics, analysis.labels
    thresholds = metric.runs.drop_nulls("saturated").drop("negative", "zero", "positive")
    scored = metric.runs.filter(pl.col("kernel").is_in(scored_kernels(metric))).drop("saturated")
    words = "Saturated: the score is THETA - 1, because no candidate came below the threshold before the horizon."
    caption = "Runs that score as if empty under a threshold kernel"
    tables = [_count_table("saturation", caption, words, thresholds, labels)] if thresholds.height else []
    words = (
        "Below zero by more than the tolerance: what lies below the reference outweighs what lies above it. The CSV "
        "also has the runs at zero and above."
    )
    tables += [_count_table("signs", "Runs that score below zero", words, scored, labels)]
    resting = (sentence(analysis.main_words), digests_note(labels))
    return [replace(table, notes=(*table.notes, *resting)) for table in [*tables, *_ratio_tables(metric, labels)]]


def _count_table(name: str, caption: str, words: str, frame: pl.DataFrame, labels: Labels) -> Table:
    """Return a part per reference: each arm and the total, with runs and a count per kernel."""
    kernels = list(dict.fromkeys(frame["kernel"].to_list()))
    what = "saturated" if "saturated" in frame.columns else "negative"
    parts = []
    for reference, label in labels.items():
        mine = frame.filter(pl.col("reference") == reference)
        counts = {(row["arm"], row["kernel"]): row[what] for row in mine.iter_rows(named=True)}
        runs = dict(mine.select("arm", "runs").iter_rows())
        rows = [[arm, count(runs[arm]), *(count(counts[arm, kernel]) for kernel in kernels)] for arm in runs]
        sums = [count(sum(counts[arm, kernel] for arm in runs)) for kernel in kernels]
        parts.append(part(reference_heading(reference, label), [*rows, ["all arms", count(sum(runs.values())), *sums]]))
    columns = (*capital("arm", text=True), *capital("runs"), *map(kernel_column, kernels))
    return Table(name, caption, columns, tuple(parts), frame, (words,))


def _ratio_tables(metric: MetricSensitivity, labels: Labels) -> list[Table]:
    """Return the ratios of the means of two arms, and of the means of an arm under each kernel and the first one."""
    kernels, means = scored_kernels(metric), pooled_means(metric)
    outside = set(metric.pooled.filter("out_of_envelope").select("arm", "kernel", "reference").iter_rows())

    def ratio(below: Cell, above: Cell) -> str:
        return number(mean_ratio(means[below], means[above]), digits=2) + (" †" if {below, above} & outside else "")

    notes = [
        sentence(f"{metric.weighting}-equal means, weight {metric.weight}; a dash where a mean is zero or below"),
        *([OUT_OF_ENVELOPE] if outside else []),
    ]
    tables = []
    if every := metric.ratios.select("a", "b").unique().height:
        pairs = shown_pairs(metric, next(iter(labels)))
        few = [f"Of {every:,} pairs those with the smallest mean; the CSV has all."] if len(pairs) < every else []
        parts = [
            part(heading, ([a, b, *(ratio((b, k, name), (a, k, name)) for k in kernels)] for a, b in pairs))
            for name, heading in ((name, reference_heading(name, label)) for name, label in labels.items())
        ]
        columns = (*capital("arm", text=True), Column("over", "Over", True), *map(kernel_column, kernels))
        caption = "How many times the mean of one arm is that of another"
        tables.append(Table("ratios", caption, columns, tuple(parts), metric.ratios, (*few, *notes)))
    if len(kernels) > 1:
        first, *others = kernels
        parts = []
        for name, label in labels.items():
            arms = [arm for arm, kernel, reference in means if (kernel, reference) == (first, name)]
            rows = [[arm, *(ratio((arm, first, name), (arm, k, name)) for k in others)] for arm in arms]
            parts.append(part(reference_heading(name, label), rows))
        columns = (*capital("arm", text=True), *map(kernel_column, others))
        caption = f"How many times the mean under a kernel is that under {first}"
        tables.append(Table("kernel-ratios", caption, columns, tuple(parts), metric.kernel_ratios, tuple(notes)))
    return tables


def shown_pairs(metric: MetricSensitivity, reference: str) -> list[tuple[str, str]]:
    """Return the pairs of compared arms whose ratios are printed, larger mean first."""
    kernel, means = metric.lead, pooled_means(metric)
    pairs = list(dict.fromkeys(metric.ratios.select("a", "b").iter_rows()))
    found = [larger_first(a, b, means, kernel, reference) for a, b in pairs]
    if len(found) <= MOST_PAIRS:
        return found
    arms = dict.fromkeys(arm for pair in found for arm in pair)
    best = min(arms, key=lambda arm: (means[arm, kernel, reference] is None, means[arm, kernel, reference] or 0.0))
    return [pair for pair in found if best in pair]


def larger_first(a: str, b: str, means: Mapping[Cell, float | None], kernel: str, reference: str) -> tuple[str, str]:
    """Return both arms with the larger mean first, so that the ratio under this kernel is above 1."""
    one, other = means[a, kernel, reference] or 0.0, means[b, kernel, reference] or 0.0
    return (a, b) if one >= other else (b, a)


def pooled_means(metric: MetricSensitivity) -> dict[Cell, float | None]:
    """Return the pooled means by arm, kernel and reference."""
    return {(r["arm"], r["kernel"], r["reference"]): r["score"] for r in metric.pooled.iter_rows(named=True)}


def scored_kernels(metric: MetricSensitivity) -> list[str]:
    """Return the kernels under which some arm has a mean: `raw` has none if a run is not feasible at time 0."""
    known = metric.pooled.filter(pl.col("score").is_not_null())
    return list(dict.fromkeys(known["kernel"].to_list()))


def scale_reports(frame: pl.DataFrame, /) -> list[Table]:
    """Return the tables of `gapline scale`: a row per requested score or raw gap, a column per kernel."""
    return [
        _scale_table(asked, given)
        for given in ("score", "raw gap")
        if (asked := frame.filter(pl.col("given") == given)).height
    ]


def _scale_table(asked: pl.DataFrame, given: str) -> Table:
    kernels = list(dict.fromkeys(asked["kernel"].to_list()))
    of_score = given == "score"
    key = "score" if of_score else "raw_gap"
    values = list(dict.fromkeys(asked[key].to_list()))
    by_place = {(row[key], row["kernel"]): row for row in asked.to_dicts()}
    columns = [share_decimals([shortest(value) for value in values]) if of_score else plain_percents(values)]
    for kernel in kernels:
        found = [by_place[value, kernel] for value in values]
        columns.append(_raw_cells(found) if of_score else [_score_cell(row) for row in found])
    # Notes on omitted cells, each printed once.
    noted = asked.filter(pl.col("note").is_not_null())
    kinds = noted.group_by("note", maintain_order=True).agg(pl.col("kernel").unique(maintain_order=True))
    what = "Raw gap by score" if of_score else "Score by raw gap"
    return Table(
        name="scale-scores" if of_score else "scale-raw-gaps",
        caption=f"{what}, of a run that holds one gap from time 0 to the horizon",
        columns=(Column(given, spare=0), *map(Column, kernels)),
        parts=one_part(zip(*columns, strict=True)),
        frame=asked,
        notes=(
            "raw gap g = (z − z*) / z*; below 0 is better than the reference.",
            *(f"{', '.join(kernels)}: {note}." for note, kernels in kinds.iter_rows()),
        ),
    )


def _raw_cells(rows: Sequence[dict[str, Any]]) -> list[str]:
    above, below = ([row[name] for row in rows] for name in ("raw_gap", "raw_gap_below"))
    written = plain_percents([*above, *below])
    cells = []
    for row, high, low in zip(rows, written, written[len(rows) :], strict=False):
        sign = "≥ " if row["saturated"] and row["raw_gap"] is not None else ""
        cells.append(sign + high + (f" or {low}" if row["raw_gap"] is not None and low != DASH else ""))
    return cells


def _score_cell(row: dict[str, Any]) -> str:
    return number(row["score"]) + (" (saturated)" if row["saturated"] else "")

"""Tables about kernels: saturated runs, signs, ratios of means, the scale of scores."""

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.contract.transforms import shortest
from gapline.report.numbers import DASH, count, number, share_decimals
from gapline.report.table import Column, Part, Table, capital, one_part, part
from gapline.report.tables.means import kernel_column, reference_heading, sentence
from gapline.study.sensitivity import MetricSensitivity, mean_ratio

Labels = Mapping[str, ReferenceLabel]


def kernel_tables(metric: MetricSensitivity, labels: Labels, /, *, over: str) -> list[Table]:
    """Return the tables that there are: no threshold, no saturation; no pair, no ratio. `over` says which runs."""
    tables = (saturation_table, sign_table, ratio_table, kernel_ratio_table)
    return [table for make in tables if (table := make(metric, labels, over=over)) is not None]


def saturation_table(metric: MetricSensitivity, labels: Labels, /, *, over: str) -> Table | None:
    """Return how many runs of each arm score as an empty one under a threshold kernel."""
    frame = metric.runs.drop_nulls("saturated")
    if not frame.height:
        return None
    words = "Saturated: the score is THETA - 1, because no candidate came below the threshold before the horizon."
    return Table(
        name="saturation",
        caption="Runs that score as if empty under a threshold kernel",
        columns=_count_columns(frame),
        parts=_count_parts(frame, labels, "saturated"),
        frame=frame.drop("negative", "zero", "positive"),
        notes=(words, *_resting(labels, over)),
    )


def sign_table(metric: MetricSensitivity, labels: Labels, /, *, over: str) -> Table:
    """Return how many runs of each arm score below zero under each kernel."""
    frame = metric.runs.filter(pl.col("kernel").is_in(scored_kernels(metric)))
    words = (
        "Below zero by more than the tolerance: what lies below the reference outweighs what lies above it. The CSV "
        "also has the runs at zero and above."
    )
    return Table(
        name="signs",
        caption="Runs that score below zero",
        columns=_count_columns(frame),
        parts=_count_parts(frame, labels, "negative"),
        frame=frame.drop("saturated"),
        notes=(words, *_resting(labels, over)),
    )


def ratio_table(metric: MetricSensitivity, labels: Labels, /, *, over: str) -> Table | None:
    """Return how many times the pooled mean of one compared arm is that of another, under each kernel."""
    if not metric.ratios.height:
        return None
    kernels, means, outside = scored_kernels(metric), pooled_means(metric), _outside(metric)
    pairs = shown_pairs(metric, next(iter(labels)))
    every = metric.ratios.select("a", "b").unique().height
    few = [f"Of {every:,} pairs those with the smallest mean; the CSV has all."] if len(pairs) < every else []
    parts = []
    for name, label in labels.items():
        rows = [[a, b, *(_ratio((b, k, name), (a, k, name), means, outside) for k in kernels)] for a, b in pairs]
        parts.append(part(reference_heading(name, label), rows))
    return Table(
        name="ratios",
        caption="How many times the mean of one arm is that of another",
        columns=(*capital("arm", text=True), Column("over", "Over", True), *map(kernel_column, kernels)),
        parts=tuple(parts),
        frame=metric.ratios,
        notes=(*few, *_ratio_notes(metric), *_resting(labels, over)),
    )


def kernel_ratio_table(metric: MetricSensitivity, labels: Labels, /, *, over: str) -> Table | None:
    """Return how many times the pooled mean of an arm under each kernel is that under the first one."""
    kernels, means, outside = scored_kernels(metric), pooled_means(metric), _outside(metric)
    if len(kernels) < 2:
        return None
    parts: list[Part] = []
    for name, label in labels.items():
        arms = [arm for arm, kernel, reference in means if (kernel, reference) == (kernels[0], name)]
        rows = [
            [arm, *(_ratio((arm, kernels[0], name), (arm, k, name), means, outside) for k in kernels[1:])]
            for arm in arms
        ]
        parts.append(part(reference_heading(name, label), rows))
    return Table(
        name="kernel-ratios",
        caption=f"How many times the mean under a kernel is that under {kernels[0]}",
        columns=(*capital("arm", text=True), *map(kernel_column, kernels[1:])),
        parts=tuple(parts),
        frame=metric.kernel_ratios,
        notes=(*_ratio_notes(metric), *_resting(labels, over)),
    )


Cell = tuple[str, str, str]
# Nobody reads the ratios of more pairs: of many arms, each stands beside the best one.
MOST_PAIRS = 66


def shown_pairs(metric: MetricSensitivity, reference: str) -> list[tuple[str, str]]:
    """Return the pairs of compared arms whose ratios are printed, the larger mean of each first."""
    kernel, means = metric.lead, pooled_means(metric)
    pairs = list(dict.fromkeys(metric.ratios.select("a", "b").iter_rows()))
    found = [larger_first(a, b, means, kernel, reference) for a, b in pairs]
    if len(found) <= MOST_PAIRS:
        return found
    arms = dict.fromkeys(arm for pair in found for arm in pair)
    best = min(arms, key=lambda arm: (means[arm, kernel, reference] is None, means[arm, kernel, reference] or 0.0))
    return [pair for pair in found if best in pair]


def larger_first(a: str, b: str, means: Mapping[Cell, float | None], kernel: str, reference: str) -> tuple[str, str]:
    """Put the arm with the larger mean first, so that the ratio under this kernel is above 1."""
    one, other = means[a, kernel, reference] or 0.0, means[b, kernel, reference] or 0.0
    return (a, b) if one >= other else (b, a)


def pooled_means(metric: MetricSensitivity) -> dict[Cell, float | None]:
    """Return the pooled means by arm, kernel and reference."""
    return {(r["arm"], r["kernel"], r["reference"]): r["score"] for r in metric.pooled.iter_rows(named=True)}


def _ratio(below: Cell, above: Cell, means: Mapping[Cell, float | None], outside: set[Cell]) -> str:
    return number(mean_ratio(means[below], means[above]), digits=2) + (" †" if {below, above} & outside else "")


def _outside(metric: MetricSensitivity) -> set[Cell]:
    return set(metric.pooled.filter("out_of_envelope").select("arm", "kernel", "reference").iter_rows())


def _ratio_notes(metric: MetricSensitivity) -> list[str]:
    words = f"{metric.weighting}-equal means, weight {metric.weight}; a dash where a mean is zero or below"
    marked = ["† out of its envelope: some runs end below the reference."] if _outside(metric) else []
    return [sentence(words), *marked]


def scored_kernels(metric: MetricSensitivity) -> list[str]:
    """Return the kernels that some arm has a mean under: `raw` has none where a run is not feasible at time 0."""
    known = metric.pooled.filter(pl.col("score").is_not_null())
    return list(dict.fromkeys(known["kernel"].to_list()))


def _resting(labels: Labels, over: str) -> list[str]:
    digests = "; ".join(f"{name}: {label.digest}" for name, label in labels.items())
    return [sentence(over), f"References {digests}."]


def _count_columns(frame: pl.DataFrame) -> tuple[Column, ...]:
    kernels: Sequence[str] = list(dict.fromkeys(frame["kernel"].to_list()))
    return (*capital("arm", text=True), *capital("runs"), *map(kernel_column, kernels))


def _count_parts(frame: pl.DataFrame, labels: Labels, what: str) -> tuple[Part, ...]:
    """Return one part per reference: every arm and all together, with their runs and a count per kernel."""
    kernels = list(dict.fromkeys(frame["kernel"].to_list()))
    parts = []
    for name, label in labels.items():
        mine = frame.filter(pl.col("reference") == name)
        counts = {(row["arm"], row["kernel"]): row[what] for row in mine.iter_rows(named=True)}
        runs = dict(mine.select("arm", "runs").iter_rows())
        rows = [[arm, count(runs[arm]), *(count(counts[arm, kernel]) for kernel in kernels)] for arm in runs]
        sums = [count(sum(counts[arm, kernel] for arm in runs)) for kernel in kernels]
        parts.append(part(reference_heading(name, label), [*rows, ["all arms", count(sum(runs.values())), *sums]]))
    return tuple(parts)


_HELD = "of a run that holds one gap from time 0 to the horizon"


def scale_reports(frame: pl.DataFrame, /) -> list[Table]:
    """Return the tables of `gapline scale`: a row per score or raw gap that was asked for, a column per kernel."""
    found = []
    for given, caption, head in (
        ("score", f"Raw gap by score, {_HELD}", "score"),
        ("raw gap", f"Score by raw gap, {_HELD}", "raw gap"),
    ):
        asked = frame.filter(pl.col("given") == given)
        if asked.height:
            found.append(_table(asked, given, caption, head))
    return found


def _table(asked: pl.DataFrame, given: str, caption: str, head: str) -> Table:
    kernels = list(dict.fromkeys(asked["kernel"].to_list()))
    of_score = given == "score"
    values = list(dict.fromkeys(asked["score" if of_score else "raw_gap"].to_list()))
    by_place = {(row["score" if of_score else "raw_gap"], row["kernel"]): row for row in asked.to_dicts()}
    columns = [share_decimals([shortest(value) for value in values]) if of_score else raw_percents(values)]
    for kernel in kernels:
        found = [by_place[value, kernel] for value in values]
        columns.append(_raw_cells(found) if of_score else [_score_cell(row) for row in found])
    rows = list(zip(*columns, strict=True))
    return Table(
        name="scale-scores" if of_score else "scale-raw-gaps",
        caption=caption,
        columns=(Column(head, spare=0), *(Column(kernel) for kernel in kernels)),
        parts=one_part(rows),
        frame=asked,
        notes=("raw gap g = (z − z*) / z*; below 0 is better than the reference.", *_notes(asked)),
    )


def _notes(asked: pl.DataFrame) -> list[str]:
    """Say what the cells leave out, each once."""
    noted = asked.filter(pl.col("note").is_not_null())
    kinds = noted.group_by("note", maintain_order=True).agg(pl.col("kernel").unique(maintain_order=True))
    return [f"{', '.join(kernels)}: {note}." for note, kernels in kinds.iter_rows()]


def _raw_cells(rows: Sequence[dict[str, Any]]) -> list[str]:
    above, below = ([row[name] for row in rows] for name in ("raw_gap", "raw_gap_below"))
    written = raw_percents([*above, *below])
    cells = []
    for row, high, low in zip(rows, written, written[len(rows) :], strict=False):
        sign = "≥ " if row["saturated"] and row["raw_gap"] is not None else ""
        cells.append(sign + high + (f" or {low}" if row["raw_gap"] is not None and low != DASH else ""))
    return cells


def _score_cell(row: dict[str, Any]) -> str:
    return number(row["score"]) + (" (saturated)" if row["saturated"] else "")


def raw_percents(raws: Sequence[float | None]) -> list[str]:
    """Write the raw gaps of one column in per cent, all with the decimals that the finest of them needs.

    >>> raw_percents([0.10526, None, 0.5])
    ['10.53 %', '–', '50.00 %']
    """
    written = [DASH if raw is None else raw_percent(raw).removesuffix(" %") for raw in raws]
    digits = max((len(text.partition(".")[2]) for text in written if "e" not in text), default=0)
    return [
        DASH if raw is None else raw_percent(raw) if "e" in text else f"{100 * raw:z.{digits}f} %"
        for raw, text in zip(raws, written, strict=True)
    ]


def raw_percent(raw: float) -> str:
    """Write a raw gap in per cent by its leading digits: two decimals would hide a small one.

    >>> raw_percent(0.10526), raw_percent(-0.2), raw_percent(1e-6), raw_percent(2.0)
    ('10.53 %', '-20 %', '0.0001 %', '200 %')
    """
    return f"{100 * raw:.4g} %"

"""Tables of what other kernels, references and horizons would have said."""

from collections.abc import Mapping, Sequence

import polars as pl

from gapline.analysis.horizon_sweep import HorizonSweep
from gapline.analysis.metric_sensitivity import MetricSensitivity
from gapline.analysis.reference_sensitivity import ReferenceSensitivity
from gapline.analysis.robustness import Robustness
from gapline.model.reading import ReferenceLabel
from gapline.report.numbers import count, number, percent, plain_numbers
from gapline.report.table import Part, Table, Text, bold_best, capital, frame_table, part, smallest, text_table
from gapline.report.tables.means import DESCRIPTIVE, OTHERS, kernel_column, reference_heading, sentence

MOST_SWAPS = 3


def pooled_table(
    metric: MetricSensitivity, labels: Mapping[str, ReferenceLabel], empties: Mapping[str, int], /, *, over: str = ""
) -> Table:
    """Return the pooled means of every kernel, a part per reference; the best of the ranked arms in bold.

    `over` says which runs these are.
    """
    # A kernel that does not exist for some run (raw) has no mean to show.
    pooled = metric.pooled.filter(pl.col("score").is_not_null().any().over("kernel"))
    kernels = list(dict.fromkeys(pooled["kernel"].to_list()))
    parts: list[Part] = []
    for name, label in labels.items():
        mine = pooled.filter(pl.col("reference") == name)
        first = mine.filter(pl.col("kernel") == kernels[0])
        known = {(row["arm"], row["kernel"]): row for row in mine.iter_rows(named=True)}
        # Sorted by the first kernel in every part, so that a reader sees a reversal as numbers out of order.
        ranked = first.filter(pl.col("arm").is_in(list(metric.ranked)))
        best_first = ranked.sort("score", "arm", nulls_last=True)["arm"].to_list()
        rest = first.filter(~pl.col("arm").is_in(best_first)).sort("arm")
        others, described = (rest.filter(pl.col("tier") == tier)["arm"].to_list() for tier in (1, 2))
        arms = [*best_first, *others, *described]
        cells: list[Sequence[Text | str]] = [arms, [count(empties[arm]) for arm in arms]]
        for kernel in kernels:
            rows = [known[arm, kernel] for arm in arms]
            # One ranked arm below the reference is enough: then the kernel orders none.
            outside = any(row["out_of_envelope"] and row["arm"] in metric.ranked for row in rows)
            best = smallest(
                [row["score"] for row in rows], [row["arm"] in metric.ranked and not outside for row in rows]
            )
            texts = [number(row["score"]) + (" †" if row["out_of_envelope"] else "") for row in rows]
            cells.append(bold_best(texts, best))
        lines = list(zip(*cells, strict=True))
        heading, first_of = reference_heading(name, label), len(best_first) or len(others)
        parts.append(part(heading, lines[:first_of]))
        last = len(best_first) + len(others)
        for words, below in ((OTHERS, lines[first_of:last]), (DESCRIPTIVE, lines[last:])):
            if below:
                parts.append(part(words, below))
    digests = "; ".join(f"{name}: {label.digest}" for name, label in labels.items())
    marked = ("† out of its envelope: some runs end below the reference.",) if pooled["out_of_envelope"].any() else ()
    return Table(
        name="pooled",
        caption=f"Pooled {metric.weighting}-equal means under every kernel, weight {metric.weight}",
        columns=(*capital("arm", text=True), *capital("empty"), *map(kernel_column, kernels)),
        parts=tuple(parts),
        frame=pooled,
        notes=(
            "Smaller is better within a column; magnitudes are not compared between columns. DIMACS on the unitless "
            "gap scale.",
            *marked,
            *((sentence(over),) if over else ()),
            f"References {digests}.",
        ),
    )


def reversal_table(metric: MetricSensitivity, /) -> Table:
    """Return the panel orderings that another kernel or reference reverses."""
    counted = sum(not r.out_of_envelope for r in metric.reversals)
    rows = [
        (r.panel, r.a, r.b, f"{r.before.kernel} against {r.before.reference}",
         f"{r.after.kernel} against {r.after.reference}", "out of its envelope" if r.out_of_envelope else "")
        for r in metric.reversals
    ]  # fmt: skip
    note = f"{counted} inside the envelopes, all readings; {metric.pairs} non-tied orderings of ranked arms in each"
    header = ["panel", "a", "b", "from", "to", "mark"]
    return text_table("reversals", "Panel orderings that reverse", header, rows, text=6, notes=[note])


def shift_table(references: ReferenceSensitivity, /) -> Table:
    """Return what another reference does to the pooled scores."""
    return frame_table(
        "references",
        f"References: {references.before} against {references.after}",
        references.shift,
        text=("arm", "kernel"),
        notes=[
            f"{references.weighting}-equal means, weight {references.weight}; "
            f"{references.changed} of {references.instances} reference values differ; "
            f"{len(references.reversals)} panel orderings reverse"
        ],
    )


def robustness_table(robustness: Robustness, /, *, baseline: str) -> Table:
    """Return how far each contrast depends on the choices."""
    rows = [(r["a"], r["b"], r["text"], percent(r["share"], digits=0)) for r in robustness.summary.to_dicts()]
    notes = [f"one choice at a time is varied from: {baseline}"]
    notes += [f"left out: {'; '.join(robustness.left_out)}"] if robustness.left_out else []
    return text_table("robustness", "Robustness", ["a", "b", "verdict", "holds"], rows, text=3, notes=notes)


def swap_table(sweep: HorizonSweep, /, *, against: str) -> Table:
    """Return the first horizons at which two arms swap."""
    shown = [(a, b, swap) for (a, b), found in sweep.swaps.items() for swap in found[:MOST_SWAPS]]
    horizons = plain_numbers([swap.horizon for *_, swap in shown])
    rows = [(a, b, s.before, s.after, at) for (a, b, s), at in zip(shown, horizons, strict=True)]
    unit = "shares of each run's own horizon" if sweep.relative else "seconds"
    notes = [
        f"exact, in {unit}; {sweep.kernel} scores under the uniform weight, {sweep.weighting}-equal, "
        f"against {against}; the first {MOST_SWAPS} of a pair"
    ]
    header = ["a", "b", "lower mean before", "lower mean after", "horizon"]
    return text_table("swaps", "Horizons at which two arms swap", header, rows, text=4, notes=notes)

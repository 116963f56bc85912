"""Tables of what other kernels, references, horizons, cutoffs and transforms would change."""

from collections.abc import Mapping, Sequence

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.report.numbers import DASH, count, number, percent, plain_numbers, signed
from gapline.report.table import Column, Part, Table, Text, bold_best, capital, frame_table, part, smallest, text_table
from gapline.report.tables.means import DESCRIPTIVE, OTHERS, kernel_column, reference_heading, sentence
from gapline.study.cutoff_sweep import KINDS, CutoffSweep
from gapline.study.horizon_sweep import HorizonSweep
from gapline.study.robustness import Robustness
from gapline.study.sensitivity import MetricSensitivity, ReferenceSensitivity
from gapline.study.transform_sensitivity import TransformReversal, TransformSensitivity

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


MOST_CUTOFF_SWAPS = 6
_WORDS = {
    "early-log": "early-log, 1/t from the cutoff on",
    "end-log": "end-log, 1/(time left) until the cutoff before the end",
}


def cutoff_table(
    found: CutoffSweep, /, *, against: str, descriptive: Sequence[str] = (), ranked: str = "", unit: str = "s"
) -> Table:
    """Return the pooled scores, arms × cutoffs, a part per kind of weight, beside those under the declared weight.

    `ranked` says which arms are ranked, where not all of them are.
    """
    cutoffs = [f"{cutoff:g} {unit}" for cutoff in found.cutoffs]
    notes = [
        f"{found.kernel}, {found.weighting}-equal, against {against}; smaller is better within a column, and scores "
        "under two weights or cutoffs are not compared with each other.",
        *(_kind_note(found, kind, unit) for kind in KINDS),
        *([f"Descriptive, not compared: {', '.join(descriptive)}."] if descriptive else []),
        *([sentence(ranked)] if ranked else []),
    ]
    return Table(
        name="cutoffs",
        caption="Scores under logarithmic weights, by their cutoff",
        columns=(*capital("arm", text=True), Column(found.weight), *(Column(cutoff) for cutoff in cutoffs)),
        parts=tuple(_part(found, kind) for kind in KINDS),
        frame=found.scores,
        notes=tuple(notes),
    )


def _part(found: CutoffSweep, kind: str) -> Part:
    arms = list(found.baseline)
    columns = [list(found.baseline.values())]
    for cutoff in found.cutoffs:
        rows = found.scores.filter((pl.col("kind") == kind) & (pl.col("cutoff") == cutoff))
        by_arm = dict(rows.select("arm", "score").iter_rows())
        columns.append([by_arm[arm] for arm in arms])
    eligible = [arm in found.compared for arm in arms]
    cells = [bold_best(map(number, column), smallest(column, eligible)) for column in columns]
    return part(_WORDS[kind], [(Text(arm), *row) for arm, row in zip(arms, zip(*cells, strict=True), strict=True)])


def _kind_note(found: CutoffSweep, kind: str, unit: str) -> str:
    """Say which pairs change order over the cutoff: exactly where all horizons are one, else on the grid."""
    if found.swaps is None:
        rows = found.flips.filter(pl.col("kind") == kind)
        at = [f"{a} and {b} at {cutoff:g} {unit}" for _, cutoff, a, b in rows.iter_rows()]
        words = f"in another order than under {found.weight}"
        return f"{kind}: {words} are {_first(at)}." if at else f"{kind}: no two arms are {words} at these cutoffs."
    at = [
        f"{swap.cutoff:.4g} {unit} ({swap.below} better below, {swap.above} above)"
        for swap in found.swaps
        if swap.kind == kind
    ]
    span = f"from {found.cutoffs[0]:g} {unit} up to the horizon"
    return f"{kind}: two arms swap at {_first(at)}; exact, {span}." if at else f"{kind}: no two arms swap {span}."


def _first(words: list[str]) -> str:
    rest = f" and {len(words) - MOST_CUTOFF_SWAPS:,} more" if len(words) > MOST_CUTOFF_SWAPS else ""
    return ", ".join(words[:MOST_CUTOFF_SWAPS]) + rest


def transform_table(found: TransformSensitivity, /, *, against: str) -> Table:
    """Return the pooled means under each transform, the declared one first, and which orderings it reverses."""
    parts = []
    for (name,), rows in found.pooled.group_by("transform", maintain_order=True):
        base = name == found.base
        heading = f"{name} (declared)" if base else f"{name}: {_flips(found, str(name))}"
        scores = rows["score"].to_list()
        best = smallest(scores, [rank is not None for rank in rows["rank"]])
        ranks = [str(rank or DASH) for rank in rows["rank"]]
        shifts = ["" if base else signed(shift) for shift in rows["shift"]]
        parts.append(part(heading, zip(rows["arm"], bold_best(map(number, scores), best), ranks, shifts, strict=True)))
    described = found.pooled.filter(pl.col("tier") == 2)["arm"].unique(maintain_order=True).to_list()
    notes = [
        f"{found.kernel}, {found.weighting}-equal, weight {found.weight}, against {against}, transformed alike; "
        "smaller is better within a transform, magnitudes are not compared between them.",
        *map(_reversal, found.reversals),
        *(f"Cannot be scored under {one.transform}: {one.reason}." for one in found.unscored),
        *(f"{note[:1].upper()}{note[1:]}." for note in found.notes),
        *([f"Descriptive, not compared: {', '.join(described)}."] if described else []),
    ]
    return Table(
        name="transforms",
        caption="Scores under other transforms of the objective",
        columns=(*capital("arm", text=True), *capital("score", "rank"), Column("shift", "Shift")),
        parts=tuple(parts),
        frame=found.pooled.with_columns(declared=pl.col("transform") == found.base),
        notes=tuple(notes),
    )


def _flips(found: TransformSensitivity, name: str) -> str:
    flips = sum(r.transform == name and not r.out_of_envelope for r in found.reversals)
    return f"{flips} of {found.pairs} panel orderings reverse"


def _reversal(found: TransformReversal) -> str:
    marked = " (out of its envelope: not counted)" if found.out_of_envelope else ""
    return f"{found.transform}: {found.a} and {found.b} change order in {found.panel}{marked}."

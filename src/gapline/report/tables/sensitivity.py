"""Tables of the effect of other kernels, references, horizons, cutoffs, transforms and thresholds."""

from collections.abc import Collection, Sequence
from functools import partial

import polars as pl

from gapline.report.numbers import DASH, count, goal_words, number, percent, plain_numbers, sentence, signed
from gapline.report.statements.remarks import OUT_OF_ENVELOPE, descriptive_notes
from gapline.report.table import Column, Field, Record, Table, field, field_table, fields, frame_table, text_table
from gapline.report.tables.means import arm_parts, digests_note, kernel_column, reference_heading
from gapline.study.analyse import Analysis
from gapline.study.cutoff_sweep import KINDS, CutoffSweep
from gapline.study.transform_sensitivity import TransformReversal

_MOST_SWAPS = 3
_MOST_CUTOFF_SWAPS = 6


def pooled_table(analysis: Analysis, /, *, over: str | None = None) -> Table:
    """Return the pooled means of every kernel, a part per reference; the best of the ranked arms in bold.

    `over` describes the runs, if not as in the analysis.
    """
    metric, labels = analysis.metrics, analysis.labels
    empties = dict(analysis.health.frame.select("arm", "empty").iter_rows())
    # A kernel that does not exist for some run (raw) has no mean to show.
    pooled = metric.pooled.filter(pl.col("score").is_not_null().any().over("kernel"))
    kernels = list(dict.fromkeys(pooled["kernel"].to_list()))
    parts = []
    for name, label in labels.items():
        mine = pooled.filter(pl.col("reference") == name)
        known = {(row["arm"], row["kernel"]): row for row in mine.iter_rows(named=True)}
        # Sorted by the first kernel in every part: a reversal is visible as numbers out of order.
        first = mine.filter(pl.col("kernel") == kernels[0]).sort("score", "arm", nulls_last=True)
        ranked = [arm for arm in first["arm"] if arm in metric.ranked]
        rest = sorted((tier, arm) for arm, tier in first.select("arm", "tier").iter_rows() if arm not in ranked)
        # One ranked arm below the reference is enough: then the kernel ranks none.
        outside = {kernel for kernel in kernels if any(known[arm, kernel]["out_of_envelope"] for arm in ranked)}
        rows = [
            {"arm": arm, "empty": empties[arm], "competes": arm in ranked, "outside": outside}
            | {kernel: known[arm, kernel] for kernel in kernels}
            for arm in (*ranked, *(arm for _, arm in rest))
        ]
        others = sum(tier == 1 for tier, _ in rest)
        parts += arm_parts(rows, len(ranked), others, reference_heading(name, label))
    notes = [
        "Smaller is better within a column; magnitudes are not compared between columns. DIMACS on the unitless "
        "gap scale."
    ]
    notes += [OUT_OF_ENVELOPE] if pooled["out_of_envelope"].any() else []
    notes.append(sentence(analysis.main_words if over is None else over))
    columns = [*fields("arm", text=True), *fields("empty", form=count), *map(_pooled_field, kernels)]
    caption = f"Pooled {metric.weighting}-equal means under every kernel, weight {metric.weight}"
    return field_table("pooled", caption, columns, parts, pooled, [*notes, digests_note(labels)])


def _pooled_field(kernel: str) -> Field:
    def write(row: Record) -> str:
        return number(row[kernel]["score"]) + (" †" if row[kernel]["out_of_envelope"] else "")

    def value(row: Record) -> float | None:
        return row[kernel]["score"] if row["competes"] and kernel not in row["outside"] else None

    return Field(kernel_column(kernel), write, value)


def reversal_table(analysis: Analysis, /) -> Table:
    """Return the panel orderings that another kernel or reference reverses."""
    metric = analysis.metrics
    counted = sum(not r.out_of_envelope for r in metric.reversals)
    rows = [
        (r.panel, r.a, r.b, f"{r.before.kernel} against {r.before.reference}",
         f"{r.after.kernel} against {r.after.reference}", "out of its envelope" if r.out_of_envelope else "")
        for r in metric.reversals
    ]  # fmt: skip
    note = f"{counted} inside the envelopes, all readings; {metric.pairs} non-tied orderings of ranked arms in each"
    header = ["panel", "a", "b", "from", "to", "mark"]
    return text_table("reversals", "Panel orderings that reverse", header, rows, text=6, notes=[note])


def reference_table(analysis: Analysis, /) -> Table | None:
    """Return the effect of another reference on the pooled scores; None if there is only one reference."""
    references = analysis.references
    if references is None:
        return None
    caption = f"References: {references.before} against {references.after}"
    note = (
        f"{references.weighting}-equal means, weight {references.weight}; "
        f"{references.changed} of {references.instances} reference values differ; "
        f"{len(references.reversals)} panel orderings reverse"
    )
    return frame_table("references", caption, references.shift, text=("arm", "kernel"), notes=[note])


def robustness_table(analysis: Analysis, /) -> Table:
    """Return how much each contrast depends on the choices."""
    robustness = analysis.robustness
    rows = [(r["a"], r["b"], r["text"], percent(r["share"], digits=0)) for r in robustness.summary.to_dicts()]
    notes = [f"one choice at a time is varied from: {analysis.study.reading.line()}"]
    notes += [f"left out: {'; '.join(robustness.left_out)}"] if robustness.left_out else []
    return text_table("robustness", "Robustness", ["a", "b", "verdict", "holds"], rows, text=3, notes=notes)


def swap_table(analysis: Analysis, /) -> Table | None:
    """Return the first horizons at which two arms swap; None if no two do."""
    sweep = analysis.horizon
    shown = [(a, b, swap) for (a, b), found in sweep.swaps.items() for swap in found[:_MOST_SWAPS]]
    if not shown:
        return None
    horizons = plain_numbers([swap.horizon for *_, swap in shown])
    rows = [(a, b, s.before, s.after, at) for (a, b, s), at in zip(shown, horizons, strict=True)]
    unit = "shares of each run's own horizon" if sweep.relative else "seconds"
    notes = [
        f"exact, in {unit}; {sweep.kernel} scores under the uniform weight, {sweep.weighting}-equal, "
        f"against {analysis.study.references[0].label}; the first {_MOST_SWAPS} of a pair"
    ]
    header = ["a", "b", "lower mean before", "lower mean after", "horizon"]
    return text_table("swaps", "Horizons at which two arms swap", header, rows, text=4, notes=notes)


_KIND_WORDS = {
    "early-log": "early-log, 1/t from the cutoff on",
    "end-log": "end-log, 1/(time left) until the cutoff before the end",
}


def cutoff_table(analysis: Analysis, /) -> Table:
    """Return the pooled scores, arms × cutoffs, a part per kind of weight, next to those under the declared weight."""
    found, reading = analysis.cutoffs, analysis.study.reading
    unit, ranked = reading.time_unit, str(reading.instance_set)
    scores = {tuple(key): score for *key, score in found.scores.select("kind", "cutoff", "arm", "score").iter_rows()}
    parts = [
        (_KIND_WORDS[kind], [
            {"arm": arm, "declared": base} | {f"{at:g} {unit}": scores[kind, at, arm] for at in found.cutoffs}
            for arm, base in found.baseline.items()
        ])
        for kind in KINDS
    ]  # fmt: skip
    may = partial(_is_compared, found.compared)
    columns = [*fields("arm", text=True), field(Column(found.weight), "declared", number, may=may)]
    columns += [field(Column(at), at, number, may=may) for at in (f"{cutoff:g} {unit}" for cutoff in found.cutoffs)]
    notes = [
        f"{found.kernel}, {found.weighting}-equal, against {reading.reference}; smaller is better within a column, and "
        "scores under two weights or cutoffs are not compared with each other.",
        *(_kind_note(found, kind, unit) for kind in KINDS),
        *descriptive_notes(reading.tier_two),
        *([sentence(ranked)] if ranked else []),
    ]
    caption = "Scores under logarithmic weights, by their cutoff"
    return field_table("cutoffs", caption, columns, parts, found.scores, notes)


def _is_compared(arms: Collection[str], row: Record) -> bool:
    return row["arm"] in arms


def _kind_note(found: CutoffSweep, kind: str, unit: str) -> str:
    """Return a note on the pairs that change order over the cutoff: exact for a common horizon, else on the grid."""
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
    rest = f" and {len(words) - _MOST_CUTOFF_SWAPS:,} more" if len(words) > _MOST_CUTOFF_SWAPS else ""
    return ", ".join(words[:_MOST_CUTOFF_SWAPS]) + rest


def transform_table(analysis: Analysis, /) -> Table | None:
    """Return the pooled means under each transform, the declared one first, and the orderings that it reverses."""
    found, against = analysis.transforms, analysis.study.references[0].label
    if found is None:
        return None
    parts = []
    for (name,), rows in found.pooled.group_by("transform", maintain_order=True):
        base = name == found.base
        flips = sum(r.transform == name and not r.out_of_envelope for r in found.reversals)
        heading = f"{name} (declared)" if base else f"{name}: {flips} of {found.pairs} panel orderings reverse"
        parts.append((heading, [row | {"shift": None if base else signed(row["shift"])} for row in rows.to_dicts()]))
    notes = [
        f"{found.kernel}, {found.weighting}-equal, weight {found.weight}, against {against}, transformed alike; "
        "smaller is better within a transform, magnitudes are not compared between them.",
        *map(_reversal, found.reversals),
        *(f"Cannot be scored under {one.transform}: {one.reason}." for one in found.unscored),
        *map(sentence, found.notes),
        *descriptive_notes(found.pooled.filter(pl.col("tier") == 2)["arm"].unique(maintain_order=True).to_list()),
    ]
    columns = [
        *fields("arm", text=True),
        field(Column("score", "Score"), "score", number, may=lambda row: row["rank"] is not None),
        *fields("rank", form=lambda rank: str(rank or DASH)),
        *fields("shift", form=lambda shift: shift or ""),
    ]
    frame = found.pooled.with_columns(declared=pl.col("transform") == found.base)
    return field_table("transforms", "Scores under other transforms of the objective", columns, parts, frame, notes)


def _reversal(found: TransformReversal) -> str:
    marked = " (out of its envelope: not counted)" if found.out_of_envelope else ""
    return f"{found.transform}: {found.a} and {found.b} change order in {found.panel}{marked}."


def pairs_table(analysis: Analysis, /) -> Table:
    """Return the pairs of arms with similar scores but different ends, in the paper's layout, closest scores first."""
    found, descriptive = analysis.complementarity, analysis.study.tier_two
    goal = goal_words(found.goal)

    def named(arm: str) -> str:
        return arm + (" (descriptive)" if arm in descriptive else "")

    columns = [
        *fields("panel", text=True),
        field(Column("arm a", "Arm A", text=True), "a", named),
        field(Column("arm b", "Arm B", text=True), "b", named),
        field(Column("|Δ score|", r"$|\Delta\Lambda|$"), "d_score", number),
        field(Column("|Δ final gap|", r"$|\Delta g_{\mathrm{final}}|$"), "d_final", number),
        Field(
            Column(f"|Δ attainment of {goal}| (points)", rf"$|\Delta A_{{{goal.removesuffix(' %')}\%}}|$"),
            lambda row: number(100 * row["d_attainment"], digits=1),
        ),
    ]
    counts = [int(n) for n in found.grid["count"]]
    words = (
        f"{found.contrasts.height} of {found.pairs.height} pairs within a panel; {found.kernel} scores against "
        f"{analysis.study.folded.label}; an exploratory screen. Final gaps over non-empty runs. With halved and "
        f"doubled thresholds {min(counts)} to {max(counts)} pairs."
    )
    caption = "Pairs of arms with similar scores that end elsewhere or reach the goal at other rates"
    rows, notes = found.contrasts.to_dicts(), (words, *descriptive_notes(descriptive))
    return field_table("pairs", caption, columns, [(None, rows)], found.contrasts, notes)


def grid_table(analysis: Analysis, /) -> Table:
    """Return how many pairs nearby thresholds would select."""
    found, against = analysis.complementarity, analysis.study.folded.label
    grid = found.grid
    thresholds = grid["min_attainment"].unique().sort().to_list()
    # Each threshold is halved, kept and doubled: the middle one is that of the report.
    middle = [sorted(grid[name].unique())[1] for name in ("max_score", "min_final", "min_attainment")]
    heads = {f"{100 * least:g} points": least for least in thresholds}
    blocks: dict[float, list[Record]] = {}
    for (score, final), line in grid.partition_by("max_score", "min_final", as_dict=True, maintain_order=True).items():
        counts = dict(line.select("min_attainment", "count").iter_rows())
        row = {"score": score, "final": final} | {head: counts[least] for head, least in heads.items()}
        blocks.setdefault(score, []).append(row)
    columns = [
        field(Column("max |Δ score|", r"max.\ $|\Delta\Lambda|$"), "score", "{:.4f}".format),
        field(Column("min |Δ final gap|", r"min.\ $|\Delta g_{\mathrm{final}}|$"), "final", "{:.3f}".format),
        *(field(Column(head), head, may=partial(_is_rule, middle, least)) for head, least in heads.items()),
    ]
    note = (
        f"Of {found.pairs.height} pairs within a panel, {found.kernel} scores against {against}; in bold "
        "the rule of the report."
    )
    caption, parts = "Pairs that other thresholds would select", [(None, rows) for rows in blocks.values()]
    return field_table("grid", caption, columns, parts, grid, [note])


def _is_rule(middle: Sequence[float], least: float, row: Record) -> bool:
    return [row["score"], row["final"], least] == middle

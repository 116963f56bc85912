"""What other cutoffs of logarithmic weights would have said."""

from collections.abc import Sequence

import polars as pl

from gapline.analysis.cutoff_sweep import KINDS, CutoffSweep
from gapline.report.numbers import number
from gapline.report.table import Column, Part, Table, Text, bold_best, capital, part, smallest
from gapline.report.tables.means import sentence

MOST_SWAPS = 6
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
    rest = f" and {len(words) - MOST_SWAPS:,} more" if len(words) > MOST_SWAPS else ""
    return ", ".join(words[:MOST_SWAPS]) + rest

"""What other shift constants or multipliers M would have said."""

import polars as pl

from gapline.analysis.transform_sensitivity import TransformReversal, TransformSensitivity
from gapline.report.numbers import DASH, number, signed
from gapline.report.table import Column, Table, bold_best, capital, part, smallest


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

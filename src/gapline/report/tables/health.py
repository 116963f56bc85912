"""Tables of what was captured and what was left out."""

from typing import Any

import polars as pl

from gapline.analysis.health import Health
from gapline.model.reading import vouched
from gapline.report.numbers import DASH, count
from gapline.report.table import Column, Table, capital, frame_table, one_part
from gapline.report.tables.means import sentence

# Column of the health frame -> its head in words and in LaTeX.
_HEADS = {
    "runs": ("runs", "Runs"),
    "captured": ("captured", "Captured"),
    "rejected": ("rejected", "Invalid captured"),
    "terminal_invalid": ("invalid at the end", "Invalid terminal"),
    "empty": ("empty", "No valid incumbent"),
    "late": ("late", "Late"),
    "unchecked": ("unchecked", "Unchecked"),
    "crashed": ("crashed or killed", "Crashed"),
    "unknown": ("unknown end", "Unknown end"),
}
# Columns that are shown only where they count something.
_RARE = ("unchecked", "unknown")


def health_table(health: Health, /, *, validation: str, checker: str | None = None, over: str = "") -> Table:
    """Return the counts of each group; `over` says which runs these are."""
    heads = {n: head for n, head in _HEADS.items() if n not in _RARE or health.frame[n].sum()}
    rows = [
        [*(str(row[group]) for group in health.by), *(_count(row, n) for n in heads)]
        for row in health.frame.iter_rows(named=True)
    ]
    notes = [
        f"{sentence(vouched(validation, checker))} Invalid candidates stay out of the envelope; a run without a "
        "valid incumbent scores the worst value and stays in every denominator. A candidate that is rejected and late "
        "counts in both columns; what is neither, nor unchecked, was accepted or did not improve."
    ]
    if unknown := int(health.frame["unknown"].sum()):
        notes.append(f"Of {unknown:,} runs the source does not say how they ended.")
    if over:
        notes.append(sentence(over))
    return Table(
        name="health",
        caption="Health: what was captured, and what was left out",
        columns=(*capital(*health.by, text=True), *(Column(*head) for head in heads.values())),
        parts=one_part(rows),
        frame=health.frame,
        notes=tuple(notes),
    )


def _count(row: dict[str, Any], name: str) -> str:
    # Where nobody says how any run ended, nobody knows that none crashed.
    return DASH if name == "crashed" and row["unknown"] == row["runs"] else count(row[name])


def reason_table(health: Health, /) -> Table:
    """Return the rejections of each group by their reason."""
    return frame_table("rejections", "Rejected, by reason", health.reasons, text=(*health.by, "reason"))


def completeness_table(completeness: pl.DataFrame, /, *, planned: bool) -> Table:
    """Return the arms and panels that lack runs: planned ones, or without a plan those that other arms have."""
    short = completeness.filter(pl.col("present") < pl.col("expected"))
    caption = "Planned runs that are not there" if planned else "Runs that other arms have"
    return frame_table("completeness", caption, short, text=("arm", "panel"))

"""Runs worth a look by name, where a page cannot list them all: best, worst, rejected, failed or empty."""

import polars as pl

from gapline.model.tables import RUN_KEY
from gapline.report.numbers import count, number, percent
from gapline.report.table import Table, capital, one_part
from gapline.report.tables.means import kernel_column, sentence
from gapline.scoring.scores import Scores

MOST = 20
FAILED = ("crashed", "killed", "memory-limit", "lost")


def telling_tables(scores: Scores, /, *, most: int = MOST) -> list[Table]:
    """Return up to four tables of at most `most` runs each; one that would be empty is left out."""
    frame, kernel = scores.frame, scores.kernels[0]
    scored = frame.filter(pl.col(kernel).is_not_null() & (pl.col("steps") > 0))
    rejected = frame.filter(pl.col("rejected") > 0)
    failed = frame.filter(pl.col("status").is_in(FAILED) | (pl.col("steps") == 0))
    best = scored.sort(kernel, *RUN_KEY)
    worst = scored.sort(kernel, *RUN_KEY, descending=[True, False, False, False])
    tables = [
        _named("best-runs", "Best scores", best, scores, most, f"{scored.height:,} runs have a score and a candidate"),
        _named("worst-runs", "Worst scores of runs that found something", worst, scores, most, ""),
        _named(
            "rejected-runs",
            "Most candidates rejected",
            rejected.sort("rejected", *RUN_KEY, descending=[True, False, False, False]),
            scores,
            most,
            f"{rejected.height:,} of {frame.height:,} runs have rejected candidates",
        ),
        _named(
            "failed-runs",
            "Failed, or without a valid candidate",
            failed.sort(*RUN_KEY),
            scores,
            most,
            f"{failed.height:,} of {frame.height:,} runs failed or are empty",
        ),
    ]
    return [table for table in tables if table.rows]


def _named(name: str, caption: str, frame: pl.DataFrame, scores: Scores, most: int, note: str) -> Table:
    kernel, shown = scores.kernels[0], frame.head(most)
    rows = []
    for row in shown.iter_rows(named=True):
        first = "–" if row["first_time"] is None else f"{row['first_time']:.3f}"
        cells = [row["arm"], row["instance"], row["panel"], str(row["seed"]), row["status"], number(row[kernel])]
        rows.append([*cells, percent(row["final_gap"]), first, *(count(row[n]) for n in ("steps", "rejected", "late"))])
    left = frame.height - shown.height
    notes = [note[:1].upper() + note[1:]] if note else []
    notes += [f"The first {shown.height:,}; tables/runs.csv has all"] if left else []
    return Table(
        name=name,
        caption=caption,
        columns=(
            *capital("arm", "instance", "panel", text=True),
            *capital("seed"),
            *capital("status", text=True),
            kernel_column(kernel),
            *capital("final gap", "first", "steps", "rejected", "late"),
        ),
        parts=one_part(rows),
        frame=shown.select(*RUN_KEY, "panel", "status", kernel, "final_gap", "first_time", "steps", "rejected", "late"),
        notes=tuple(map(sentence, [*notes, scores.caption()])),
    )

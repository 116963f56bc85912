"""The table of the evaluation design: which runs were meant to be made."""

import polars as pl

from gapline.report.numbers import count
from gapline.report.table import Column, Table, capital, one_part

# Columns that say something only where runs differ from the rest or are limited.
_RARE = {"steps": "", "memory": ""}


def design_table(design: pl.DataFrame, /) -> Table:
    """Return one row per tier and ladder."""
    shown = [name for name in design.columns if name != "runs_each" and any(v != _RARE.get(name) for v in design[name])]
    rows = []
    for row in design.iter_rows(named=True):
        # 4 × 1,760: as many runs of each arm; where arms differ, the sum alone says it.
        each = row["runs_each"]
        runs = f"{row['arms']} × {each}" if row["arms"] > 1 and ", " not in each else count(row["runs"])
        words = {"runs": runs, "arms": count(row["arms"]), "instances": count(row["instances"])}
        rows.append([words.get(name, str(row[name])) for name in shown])
    return Table(
        name="design",
        caption=f"Evaluation design: {count(int(design['runs'].sum()))} runs",
        columns=(Column("evidence", "Evidence", True), *capital(*shown[1:], text=True)),
        parts=one_part(rows),
        frame=design,
    )

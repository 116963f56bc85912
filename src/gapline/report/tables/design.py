"""The table of the evaluation design: which runs were meant to be made."""

from collections.abc import Sequence

import polars as pl

from gapline.analysis.analyse import Analysis
from gapline.report.numbers import count
from gapline.report.table import Column, Table, one_part
from gapline.report.tables.means import sentence

# Columns that say something only where runs differ from the rest or are limited.
_RARE = {"steps": "", "memory": ""}
_WORDS = ("evidence", "steps")


def design_table(design: pl.DataFrame, /, *, notes: Sequence[str] = ()) -> Table:
    """Return one row per tier and ladder; where the design counts them, with the runs that are done."""
    shown = [name for name in design.columns if name != "runs_each" and any(v != _RARE.get(name) for v in design[name])]
    rows = []
    for row in design.iter_rows(named=True):
        # 4 × 1,760: as many runs of each arm; where arms differ, the sum alone says it.
        each = row["runs_each"]
        runs = f"{row['arms']} × {each}" if row["arms"] > 1 and ", " not in each else count(row["runs"])
        words = {name: count(row[name]) for name in ("arms", "instances", "done") if name in shown} | {"runs": runs}
        rows.append([words.get(name, str(row[name])) for name in shown])
    return Table(
        name="design",
        caption=f"Evaluation design: {count(int(design['runs'].sum()))} runs",
        columns=tuple(Column(name, name.capitalize(), name in _WORDS) for name in shown),
        parts=one_part(rows),
        frame=design,
        notes=tuple(notes),
    )


def design_tables(analysis: Analysis, /) -> list[Table]:
    """Return the design of a study and what of it is done; none where nothing was planned."""
    if analysis.design is None:
        return []
    return [design_table(analysis.design, notes=[sentence(str(analysis.study.coverage))])]

"""One row per run: a listing to read, and the whole for CSV."""

from collections.abc import Sequence

import polars as pl

from gapline.reference.alarm import Alarm
from gapline.report.numbers import count, number, percent, plain_numbers
from gapline.report.order import ALARMED
from gapline.report.table import Column, Table, capital, one_part
from gapline.report.tables.means import kernel_column, sentence
from gapline.scoring.scores import Scores, goal_name

MOST = 200


def run_table(scores: Scores, /, *, most: int = MOST, alarms: Sequence[Alarm] = ()) -> Table:
    """Return the first `most` runs as a table; its CSV has them all. Instances of which an alarm rings are marked."""
    alarmed = {alarm.instance for alarm in alarms}
    shown = scores.frame.head(most)
    parts = [name for name in ("best_primary", "best_secondary") if name in shown.columns]
    sized = {name: plain_numbers(shown[name].to_list()) for name in (*scores.statistics, *parts)}
    rows = []
    for place, row in enumerate(shown.iter_rows(named=True)):
        first = "–" if row["first_time"] is None else f"{row['first_time']:.3f}"
        instance = f"{row['instance']}{ALARMED}" if row["instance"] in alarmed else row["instance"]
        cells = [row["arm"], instance, row["status"], str(row["seed"])]
        cells += [number(row[kernel]) for kernel in scores.kernels]
        cells += [sized[name][place] for name in scores.statistics]
        cells += [percent(row["final_gap"]), first, *(count(row[name]) for name in ("steps", "rejected", "late"))]
        cells += [sized[name][place] for name in parts]
        rows.append(cells)
    left = scores.frame.height - most
    return Table(
        name="runs",
        caption="Runs",
        columns=(
            *capital("arm", "instance", text=True),
            *capital("status", text=True, spare=3),
            *capital("seed", spare=0),
            *(kernel_column(kernel, 0 if kernel == scores.kernels[0] else 2) for kernel in scores.kernels),
            *map(Column, scores.statistics),
            *capital("final gap"),
            *capital("first", "steps", spare=4),
            *capital("rejected", "late", spare=5),
            *((Column("best K", "$K$"), Column("best C", "$C$")) if parts else ()),
        ),
        parts=one_part(rows),
        frame=run_frame(scores),
        notes=(sentence(scores.caption()), *((f"{left:,} more runs: use --json",) if left > 0 else ())),
    )


def run_frame(scores: Scores, /) -> pl.DataFrame:
    """Return one row per run, for CSV."""
    keep = [
        "arm", "panel", "instance", "seed", "status", "horizon", "announced", "reference", *scores.kernels,
        *scores.statistics, "time_scale", "final_gap",
        "first_time", "best_raw", "best_primary", "best_secondary", *map(goal_name, scores.goals), "captured", "steps",
        "rejected", "late", "unchecked", "terminal_valid", "beaten", "validation", "tier", "solver", "solver_version",
        "attempts", "leftover",
    ]  # fmt: skip
    rows = scores.frame.select(name for name in keep if name in scores.frame.columns)
    # A goal that was never attained has no time; `inf` would be a number to some readers of CSV and text to others.
    return rows.with_columns(pl.when(pl.col("^hit:.*$").is_finite()).then(pl.col("^hit:.*$")))

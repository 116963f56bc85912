"""Tables of the evaluation design and of a plan for more runs."""

from collections.abc import Sequence

import polars as pl

from gapline.report.numbers import DASH, count, plain_numbers, sentence
from gapline.report.table import Column, Field, Record, Table, field_table, fields
from gapline.statistics.power import PowerTable
from gapline.study.analyse import Analysis

# Columns that say something only where runs differ from the rest or are limited.
_RARE = {"steps": "", "memory": ""}


def design_table(design: pl.DataFrame, /, *, notes: Sequence[str] = ()) -> Table:
    """Return one row per tier and ladder; where the design counts them, with the runs that are done."""
    shown = [name for name in design.columns if name != "runs_each" and any(v != _RARE.get(name) for v in design[name])]
    columns = [
        Field(Column("runs", "Runs"), _runs)
        if name == "runs"
        else fields(name, form=_design_cell, text=name in ("evidence", "steps"))[0]
        for name in shown
    ]
    caption = f"Evaluation design: {count(int(design['runs'].sum()))} runs"
    return field_table("design", caption, columns, [(None, design.to_dicts())], design, notes)


def _design_cell(value: object) -> str:
    return count(value) if isinstance(value, int) else str(value)


def _runs(row: Record) -> str:
    # 4 × 1,760: as many runs of each arm; where arms differ, the sum alone says it.
    each = row["runs_each"]
    return f"{row['arms']} × {each}" if row["arms"] > 1 and ", " not in each else count(row["runs"])


def design_tables(analysis: Analysis, /) -> list[Table]:
    """Return the design of a study and what of it is done; none where nothing was planned."""
    if analysis.design is None:
        return []
    return [design_table(analysis.design, notes=[sentence(str(analysis.study.coverage))])]


# The largest number of instances that an interval names: beyond it the pilot says nothing.
_MOST_INSTANCES = 10_000


def plan_table(plan: PowerTable, /) -> Table:
    """Return the instances, runs and hours that each difference takes; what cannot be said is a dash, with a note."""
    # One decimal, or as many as the shortest campaign needs to be no zero; no run says how long evaluations take.
    shortest = plan.frame["hours"].min()
    digits = 1 if not isinstance(shortest, float) or shortest >= 0.1 else 3
    deltas = plain_numbers(plan.frame["delta"].to_list())
    rows = [row | {"difference": delta} for row, delta in zip(plan.frame.to_dicts(), deltas, strict=True)]
    columns = [
        *fields("a", "b", text=True),
        *fields("difference", spare=0),
        *fields("seeds", "instances", form=_counted, spare=0),
        Field(Column(f"{plan.level:.0%} between", spare=2), _between),
        Field(Column("per panel", text=True, spare=3), lambda row: row["per_panel"] or DASH),
        *fields("runs", form=_counted),
        *(
            fields("hours", form=lambda hours: DASH if hours is None else f"{hours:,.{digits}f}")
            if shortest is not None
            else ()
        ),
    ]
    worth = (
        f"Between: where the true number may lie ({plan.level:.0%} interval of the pilot's variance); a pilot of few "
        "instances knows its own spread poorly."
    )
    reasons = dict.fromkeys(reason for reason in plan.frame["reason"] if reason is not None)
    notes = [sentence(plan.caption()), worth, *(f"{DASH}: {reason}" for reason in reasons)]
    caption = f"Instances that show a difference in {plan.power:.0%} of campaigns"
    return field_table("plan", caption, columns, [(None, rows)], plan.frame, notes)


def _counted(value: int | None) -> str:
    return DASH if value is None else count(value)


def _between(row: Record) -> str:
    if row["instances"] is None:
        return DASH
    most = (
        count(row["instances_high"]) if row["instances_high"] <= _MOST_INSTANCES else f"over {count(_MOST_INSTANCES)}"
    )
    return f"{count(row['instances_low'])} and {most}"

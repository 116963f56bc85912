"""Tables of the evaluation design and of a plan for more runs."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.report.numbers import DASH, count, plain_numbers
from gapline.report.table import Column, Table, capital, one_part
from gapline.report.tables.means import sentence
from gapline.statistics.power import PowerTable
from gapline.study.analyse import Analysis

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


# The largest number of instances that an interval names.
_TOLD = 10_000


def plan_table(plan: PowerTable, /) -> Table:
    """Return the instances, runs and hours that each difference takes; what cannot be said is a dash, with a note."""
    timed = plan.frame["hours"].null_count() < plan.frame.height
    columns = (
        *capital("a", "b", text=True), *capital("difference", "seeds", "instances", spare=0),
        Column(f"{plan.level:.0%} between", spare=2), Column("per panel", text=True, spare=3),
        *capital("runs", *(["hours"] if timed else [])),
    )  # fmt: skip
    worth = (
        f"Between: where the true number may lie ({plan.level:.0%} interval of the pilot's variance); a pilot of few "
        "instances knows its own spread poorly."
    )
    deltas = plain_numbers(plan.frame["delta"].to_list())
    # One decimal, or as many as the shortest campaign needs to be no zero.
    shortest = plan.frame["hours"].min() if timed else None
    digits = 1 if not isinstance(shortest, float) or shortest >= 0.1 else 3
    reasons = dict.fromkeys(reason for reason in plan.frame["reason"] if reason is not None)
    return Table(
        name="plan",
        caption=f"Instances that show a difference in {plan.power:.0%} of campaigns",
        columns=columns,
        parts=one_part(
            _row(row, delta, digits if timed else None)
            for row, delta in zip(plan.frame.iter_rows(named=True), deltas, strict=True)
        ),
        frame=plan.frame,
        notes=(sentence(plan.caption()), worth, *(f"{DASH}: {reason}" for reason in reasons)),
    )


def _row(row: dict[str, Any], delta: str, digits: int | None) -> list[str]:
    """Return the cells of a row; `digits` are those of the hours, None where no run says how long it took."""
    head = [row["a"], row["b"], delta, count(row["seeds"])]
    if row["instances"] is None:
        return [*head, *[DASH] * (4 if digits is None else 5)]
    # Beyond that the pilot says nothing, and digits would pretend that it did.
    most = count(row["instances_high"]) if row["instances_high"] <= _TOLD else f"over {count(_TOLD)}"
    between = f"{count(row['instances_low'])} and {most}"
    hours = [] if digits is None else [f"{row['hours']:,.{digits}f}"]
    return [*head, count(row["instances"]), between, row["per_panel"], count(row["runs"]), *hours]

"""Tables of the evaluation design: its tiers, its ladders of settings step by step, and a plan for more runs."""

from collections.abc import Collection, Sequence

import polars as pl

from gapline.contract.reading import vouched
from gapline.report.numbers import DASH, count, goal_words, number, percent, plain_numbers, sentence
from gapline.report.statements.remarks import EMPTY_RUNS
from gapline.report.table import Column, Field, Record, Table, field, field_table, fields
from gapline.report.tables.health import health_fields
from gapline.report.tables.means import kernel_column
from gapline.scoring.endpoints import attainment_name
from gapline.statistics.power import PowerTable
from gapline.study.analyse import Analysis
from gapline.study.ladders import Ladder
from gapline.text import counted

# Columns that are only shown if runs differ from the rest or are limited.
_RARE = {"steps": "", "memory": ""}


def design_table(design: pl.DataFrame, /, *, notes: Sequence[str] = ()) -> Table:
    """Return one row per tier and ladder; with the completed runs if the design counts them."""
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
    # 4 × 1,760 means as many runs for each arm; if arms differ, print only the sum.
    each = row["runs_each"]
    return f"{row['arms']} × {each}" if row["arms"] > 1 and ", " not in each else count(row["runs"])


def design_tables(analysis: Analysis, /) -> list[Table]:
    """Return the design of a study and its progress; empty if nothing was planned."""
    if analysis.design is None:
        return []
    return [design_table(analysis.design, notes=[sentence(str(analysis.study.coverage))])]


def ladder_tables(ladders: Collection[Ladder], /) -> list[Table]:
    """Return the tables of validity and of means, with a part per ladder; empty without ladders."""
    if not ladders:
        return []
    reading = next(iter(ladders)).reading
    # Shown if there are late candidates: a valid one that came too late leaves its run empty too.
    late = ["late"] if any(ladder.frame["late"].sum() for ladder in ladders) else []
    half = f"alf valid by ({reading.time_unit})"
    validity = [
        *health_fields("runs", "captured", "rejected", "terminal_invalid", *late, "empty"),
        # Without a run there is no time either: both are a dash.
        Field(Column(f"h{half}", f"H{half}"), lambda row: number(row["first_valid"], digits=3)),
    ]
    words = (
        f"{sentence(vouched(reading.validation, reading.checker))} The more states a solver shows, the more can be "
        "rejected: such a count is no rate. Half valid by: when half of the runs of a step have a valid incumbent, "
        "empty ones included; a dash where fewer than half ever have one."
    )
    kernel, goal = reading.kernels[0], attainment_name(reading.goals[0])
    means = [
        *fields("runs", "empty", form=count),
        *fields("rank", form=lambda rank: str(rank or DASH)),
        field(kernel_column(kernel), kernel, number),
        *fields("final gap", form=percent),
        Field(Column(f"≤ {goal_words(reading.goals[0])}"), lambda row: percent(row[goal], digits=1)),
    ]
    return [
        _ladder_table("ladder-validity", "Validity along the ladders", ladders, validity, words),
        _ladder_table("ladder-means", "Mean scores along the ladders, smaller is better", ladders, means, EMPTY_RUNS),
    ]


def _ladder_table(name: str, caption: str, ladders: Collection[Ladder], columns: Sequence[Field], note: str) -> Table:
    parts, frames = [], []
    for ladder in ladders:
        rows = ladder.frame.to_dicts()
        steps = [", ".join(f"{setting} {_plain(row[setting])}" for setting in ladder.settings) for row in rows]
        low, *_, high = sorted(row["instances"] or 0 for row in rows * 2)
        on = counted(low, "instance") if low == high else f"{low} to {high} instances"
        stepped = [row | {"step": step} for row, step in zip(rows, steps, strict=True)]
        parts.append((f"{ladder.name}: {on} each", stepped))
        named = ladder.frame.drop(ladder.settings).with_columns(
            ladder=pl.lit(ladder.name), setting=pl.Series(steps, dtype=pl.String)
        )
        frames.append(named.select("ladder", "setting", pl.exclude("ladder", "setting")))
    said = {ladder.name: ladder.reading.line() for ladder in ladders}
    # A single note if all ladders have the same basis.
    several = len(set(said.values())) > 1
    resting = [f"{which}: {line}" for which, line in said.items()] if several else list(said.values())[:1]
    shown = [*fields("arm", "step", text=True), *columns]
    return field_table(
        name, caption, shown, parts, pl.concat(frames, how="diagonal_relaxed"), [note, *map(sentence, resting)]
    )


def _plain(value: object) -> str:
    if value is None:
        return DASH
    return f"{value:g}" if isinstance(value, float) else str(value)


# The largest number of instances in an interval: above it, the pilot allows no estimate.
_MOST_INSTANCES = 10_000


def plan_table(plan: PowerTable, /) -> Table:
    """Return the instances, runs and hours for each difference; unknown numbers are a dash, with a note."""
    # One decimal, or enough to print the shortest campaign as nonzero; evaluation times are not recorded.
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

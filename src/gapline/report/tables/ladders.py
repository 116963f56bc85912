"""Tables along ladders of settings: what the checker says of each step, and what it scores."""

from collections.abc import Collection, Sequence

import polars as pl

from gapline.contract.reading import vouched
from gapline.report.numbers import DASH, count, goal_words, number, percent, sentence
from gapline.report.statements.remarks import EMPTY_RUNS
from gapline.report.table import Column, Field, Table, field, field_table, fields
from gapline.report.tables.health import health_fields
from gapline.report.tables.means import kernel_column
from gapline.scoring.endpoints import attainment_name
from gapline.study.ladders import Ladder
from gapline.text import counted


def ladder_tables(ladders: Collection[Ladder], /) -> list[Table]:
    """Return the table of validity and that of means, a part per ladder; none where there are no ladders."""
    if not ladders:
        return []
    reading = next(iter(ladders)).reading
    # Shown where there are any: a valid candidate that came too late leaves its run empty too.
    late = ["late"] if any(ladder.frame["late"].sum() for ladder in ladders) else []
    half = f"alf valid by ({reading.time_unit})"
    validity = [
        *health_fields("runs", "captured", "rejected", "terminal_invalid", *late, "empty"),
        # With no run there is no time either: a dash says both.
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
    # One line where all ladders rest on the same.
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

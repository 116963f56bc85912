"""Tables along ladders of settings: what the checker says of each step, and what it scores."""

from collections.abc import Callable, Collection
from typing import Any

import polars as pl

from gapline.contract.reading import vouched
from gapline.report.numbers import DASH, count, goal_words, number, percent
from gapline.report.table import Column, Part, Table, capital, part
from gapline.report.tables.means import EMPTY_NOTE, kernel_column, sentence
from gapline.scoring.endpoints import attainment_name
from gapline.study.ladders import Ladder
from gapline.text import counted


def ladder_tables(ladders: Collection[Ladder], /) -> list[Table]:
    """Return the table of validity and that of means, a part per ladder; none where there are no ladders."""
    return [validity_table(ladders), step_means_table(ladders)] if ladders else []


def validity_table(ladders: Collection[Ladder], /) -> Table:
    """Return what was captured, rejected and never valid at each step, as the paper's table of ladder validity."""
    first = next(iter(ladders)).reading
    # Shown where there are any: a valid candidate that came too late leaves its run empty too.
    late = ["late"] if any(ladder.frame["late"].sum() for ladder in ladders) else []

    def cells(row: dict[str, Any]) -> list[str]:
        names = ("runs", "captured", "rejected", "terminal_invalid", *late, "empty")
        # With no run there is no time either: a dash says both.
        seen = number(row["first_valid"], digits=3)
        return [*(count(row[name]) for name in names), seen]

    unit = first.time_unit
    columns = (
        Column("runs", "Runs"),
        Column("captured", "Captured"),
        Column("rejected", "Invalid captured"),
        Column("invalid at the end", "Invalid terminal"),
        *capital(*late),
        Column("empty", "No valid incumbent"),
        Column(f"half valid by ({unit})", f"Half valid by ({unit})"),
    )
    notes = (
        f"{sentence(vouched(first.validation, first.checker))} The more states a solver shows, the more can be "
        "rejected: such a count is no rate. Half valid by: when half of the runs of a step have a valid incumbent, "
        "empty ones included; a dash where fewer than half ever have one.",
    )
    return _table("ladder-validity", "Validity along the ladders", ladders, columns, cells, notes)


def step_means_table(ladders: Collection[Ladder], /) -> Table:
    """Return the means of each step, as in the table of scores."""
    reading = next(iter(ladders)).reading
    kernel, goal = reading.kernels[0], reading.goals[0]

    def cells(row: dict[str, Any]) -> list[str]:
        rank = DASH if row["rank"] is None else str(row["rank"])
        means = [rank, number(row[kernel]), percent(row["final_gap"]), percent(row[attainment_name(goal)], digits=1)]
        return [count(row["runs"]), count(row["empty"]), *means]

    columns = (
        *capital("runs", "empty", "rank"),
        kernel_column(kernel),
        *capital("final gap"),
        Column(f"≤ {goal_words(goal)}"),
    )
    return _table(
        "ladder-means", "Mean scores along the ladders, smaller is better", ladders, columns, cells, (EMPTY_NOTE,)
    )


def _table(
    name: str,
    caption: str,
    ladders: Collection[Ladder],
    columns: tuple[Column, ...],
    cells: Callable[[dict[str, Any]], list[str]],
    notes: tuple[str, ...],
) -> Table:
    parts: list[Part] = []
    frames = []
    for ladder in ladders:
        rows = list(ladder.frame.iter_rows(named=True))
        settings = [", ".join(f"{setting} {_plain(row[setting])}" for setting in ladder.settings) for row in rows]
        lines = [[row["arm"], step, *cells(row)] for row, step in zip(rows, settings, strict=True)]
        instances = sorted({row["instances"] or 0 for row in rows})
        on = (
            counted(instances[0], "instance") if len(instances) == 1 else f"{instances[0]} to {instances[-1]} instances"
        )
        parts.append(part(f"{ladder.name}: {on} each", lines))
        named = ladder.frame.drop(ladder.settings).with_columns(
            ladder=pl.lit(ladder.name), setting=pl.Series(settings, dtype=pl.String)
        )
        frames.append(named.select("ladder", "setting", pl.exclude("ladder", "setting")))
    said = {ladder.name: ladder.reading.line() for ladder in ladders}
    # One line where all ladders rest on the same.
    several = len(set(said.values())) > 1
    resting = [f"{which}: {line}" for which, line in said.items()] if several else list(said.values())[:1]
    return Table(
        name=name,
        caption=caption,
        columns=(*capital("arm", "step", text=True), *columns),
        parts=tuple(parts),
        frame=pl.concat(frames, how="diagonal_relaxed"),
        notes=(*notes, *map(sentence, resting)),
    )


def _plain(value: object) -> str:
    if value is None:
        return DASH
    return f"{value:g}" if isinstance(value, float) else str(value)

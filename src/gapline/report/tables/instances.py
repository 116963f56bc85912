"""The per-instance table as in papers: reference, and for each arm best, mean, gap, score and empty runs."""

from collections.abc import Callable, Sequence
from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from gapline.report.numbers import count, number, objective, percent, sentence
from gapline.report.order import ALARMED, ArmOrder
from gapline.report.table import MOST_ROWS, Column, Table, Text, capital, part, smallest
from gapline.report.tables.health import PARTS
from gapline.report.tables.means import kernel_column
from gapline.study import Study


def instance_frame(study: Study, order: ArmOrder) -> pl.DataFrame:
    """Return one row per instance and arm: reference, runs, empty, best, mean, gap, score.

    `best` and `mean` are final objectives as stated by the solver, over non-empty runs; `gap` is the mean raw final gap
    over the same runs; `score` is the mean of the declared kernel over all runs. For a hierarchical objective,
    `best_primary` (K) and `best_secondary` (C) are its two parts in the best run.
    """
    place = {arm: k for k, arm in enumerate(order.arms)}
    # Objectives are printed as the solvers state them, so the reference must not be transformed either.
    stated = {name: entry.value for name, entry in study.references[0].snapshot.values.items()}
    filled = pl.col("steps") > 0
    scores = study.scores[0].frame
    parts = {
        # Sort by the scored objective: the parts of M·K + C belong to the best sum, not to the best part.
        name: pl.col(name).filter(filled).sort_by(pl.col("best").filter(filled)).first()
        for name in PARTS
        if name in scores.columns
    }
    return (
        scores.group_by("panel", "instance", "arm")
        .agg(
            reference=pl.col("reference").first(),
            runs=pl.len().cast(pl.Int64),
            empty=(~filled).sum().cast(pl.Int64),
            best=pl.col("best_raw").filter(filled).min(),
            mean=pl.col("best_raw").filter(filled).sort().mean(),
            gap=pl.col("final_gap").filter(filled).sort().mean(),
            score=pl.col(study.kernels[0]).sort().mean(),
            # A mean over only some of the runs is no mean of the arm.
            known=pl.col(study.kernels[0]).is_not_null().all(),
            **parts,
        )
        .with_columns(
            score=pl.when("known").then("score"),
            reference=pl.col("instance")
            .replace_strict(stated, default=None, return_dtype=pl.Float64)
            .fill_null(pl.col("reference")),
            _order=pl.col("arm").replace_strict(place, return_dtype=pl.Int64),
        )
        .sort("panel", "instance", "_order")
        .drop("known", "_order")
    )


def instance_table(study: Study, order: ArmOrder) -> Table:
    """Return the table with a part per panel; the best of each instance is bold.

    If there are very many instances, it shows those on which the compared arms differ most; the frame has all of them.
    """
    frame = instance_frame(study, order)
    shown = _telling(frame, order, max(1, MOST_ROWS // max(1, len(order.arms))))
    stated = pl.concat([frame["reference"], frame["best"]]).drop_nulls()
    # Integer costs have no decimals, as routing papers print them.
    digits = 0 if (stated == stated.round()).all() else 2
    # Outside of 1 to 10⁹ fixed decimals would only show zeros, or digits that a double does not have.
    fixed = bool(((stated == 0) | stated.abs().is_between(1, 1e9, closed="left")).all())
    alarmed = {alarm.instance for alarm in study.alarms}
    panels: dict[str, list[Sequence[Text | str]]] = {}
    # One pass over the rows, sorted by panel and instance: a frame per instance would cost more than the rest.
    for (panel, instance), block in groupby(shown.iter_rows(named=True), itemgetter("panel", "instance")):
        name = f"{instance}{ALARMED}" if instance in alarmed else instance
        turn = -1.0 if study.envelopes.scale.of(instance).maximises else 1.0
        ranks = study.kernels[0] not in order.outside
        rows = _block(name, list(block), order.compared, turn, digits if fixed else None, ranks=ranks)
        panels.setdefault(f"panel {panel}", []).extend(rows)
    parts = [letter for name, letter in PARTS.items() if name in frame.columns]
    notes = [
        sentence(study.summary.caption()),
        "Best, mean and gap of the final objective over non-empty runs; score: mean over all runs of an arm.",
        *(["K and C: the two parts of the objective at the best run."] if parts else []),
        *order.notes(),
    ]
    if shown.height < frame.height:
        some, every = (table.select("panel", "instance").n_unique() for table in (shown, frame))
        words = "on which the compared arms differ most; instances.csv has all."
        notes.insert(0, f"Of {every:,} instances the {some:,} {words}")
    columns = (
        *capital("instance", text=True),
        *capital("reference"),
        *capital("arm", text=True),
        *capital("runs", "empty", spare=3),
        *capital("best", "mean", "gap"),
        kernel_column(study.kernels[0], 0),
        *(Column(f"best {letter}", f"Best ${letter}$") for letter in parts),
    )
    named = tuple(part(*panel) for panel in panels.items())
    return Table("instances", "Results by instance", columns, named, frame, tuple(notes))


def _telling(frame: pl.DataFrame, order: ArmOrder, most: int) -> pl.DataFrame:
    """Keep the rows of the instances on which the compared arms' scores differ most, in their order."""
    score = pl.col("score").filter(pl.col("arm").is_in(list(order.compared or order.others)))
    spread = frame.group_by("panel", "instance", maintain_order=True).agg(spread=score.max() - score.min())
    if spread.height <= most:
        return frame
    # Instances without a mean of any compared arm have no spread, and come last.
    kept = spread.sort("spread", descending=True, nulls_last=True, maintain_order=True).head(most)
    return frame.join(kept, on=["panel", "instance"], how="semi", maintain_order="left")


def _block(
    name: str, rows: Sequence[dict[str, Any]], arms: Sequence[str], turn: float, digits: int | None, *, ranks: bool
) -> list[tuple[Text | str, ...]]:
    """Return the rows of one instance; a mean over fewer runs than others have is never the best."""
    compared = [row["arm"] in arms for row in rows]
    full = [may and row["empty"] == 0 for may, row in zip(compared, rows, strict=True)]

    def best(key: str, form: Callable[[float | None], str], may: Sequence[bool], turn: float = 1.0) -> list[Text]:
        values = [turn * row[key] if use and row[key] is not None else None for row, use in zip(rows, may, strict=True)]
        return [Text(form(row[key]), mark) for row, mark in zip(rows, smallest(values), strict=True)]

    decimals = None if digits is None else max(digits, 1)
    cells: list[Sequence[Text | str]] = [
        [name, *[""] * (len(rows) - 1)],
        [objective(rows[0]["reference"], digits), *[""] * (len(rows) - 1)],
        [row["arm"] for row in rows],
        *([count(row[key]) for row in rows] for key in ("runs", "empty")),
        best("best", lambda value: objective(value, digits), compared, turn),
        best("mean", lambda value: objective(value, decimals), full, turn),
        best("gap", percent, full),
        best("score", number, [may and ranks for may in compared]),
        *([objective(row[key], digits) for row in rows] for key in PARTS if key in rows[0]),
    ]
    return list(zip(*cells, strict=True))

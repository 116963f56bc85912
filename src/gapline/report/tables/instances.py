"""The per-instance table as papers print it: reference, and for each arm best, mean, gap, score and empty runs."""

from itertools import groupby
from operator import itemgetter
from typing import Any

import polars as pl

from gapline.report.numbers import count, number, objective, percent
from gapline.report.order import ALARMED, ArmOrder
from gapline.report.table import MOST_ROWS, Column, Table, Text, capital, part, smallest
from gapline.report.tables.means import kernel_column, sentence
from gapline.study import Study

# The parts of a hierarchical objective M·K + C, where the runs have them.
PARTS = {"best_primary": ("best K", "Best $K$"), "best_secondary": ("best C", "Best $C$")}


def instance_frame(study: Study, order: ArmOrder) -> pl.DataFrame:
    """Return one row per instance and arm: reference, runs, empty, best, mean, gap, score.

    `best` and `mean` are final objectives as the solver states them, over non-empty runs; `gap` is the mean raw final
    gap over the same runs; `score` the mean of the declared kernel over all runs. A hierarchical objective has its two
    parts at the best run, `best_primary` (K) and `best_secondary` (C).
    """
    place = {arm: k for k, arm in enumerate(order.arms)}
    # Objectives are printed as the solvers state them, so the reference is too, not as the transform has it.
    stated = {name: entry.value for name, entry in study.references[0].snapshot.values.items()}
    filled = pl.col("steps") > 0
    scores = study.scores[0].frame
    parts = {
        # By the scored objective: of M·K + C the parts belong to the best whole, not to the best part.
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
            # A mean over some of the runs is no mean of the arm.
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
    """Return the table, a part per panel; the best of each instance is bold.

    Of more instances than anybody reads, those are printed on which the compared arms differ most; all are in the
    frame.
    """
    frame = instance_frame(study, order)
    shown = _telling(frame, order, max(1, MOST_ROWS // max(1, len(order.arms))))
    stated = pl.concat([frame["reference"], frame["best"]]).drop_nulls()
    # Integer costs without decimals, as routing papers print them.
    digits = 0 if (stated == stated.round()).all() else 2
    # Outside of 1 to 10⁹ fixed decimals would show zeros alone, or digits that a double does not hold.
    fixed = bool(((stated == 0) | stated.abs().is_between(1, 1e9, closed="left")).all())
    alarmed = {alarm.instance for alarm in study.alarms}
    panels: dict[str, list[list[Text | str]]] = {}
    # One pass over the rows, which are in the order of panel and instance: a frame for each would cost more than it.
    for (panel, instance), block in groupby(shown.iter_rows(named=True), itemgetter("panel", "instance")):
        maximised = study.envelopes.scale.of(instance).maximises
        name = f"{instance}{ALARMED}" if instance in alarmed else instance
        rows = _block(
            [row | {"instance": name} for row in block],
            order,
            study.kernels[0],
            maximised=maximised,
            digits=digits if fixed else None,
        )
        panels.setdefault(f"panel {panel}", []).extend(rows)
    columns = (
        *capital("instance", text=True),
        *capital("reference"),
        *capital("arm", text=True),
        *capital("runs", "empty", spare=3),
        *capital("best", "mean", "gap"),
        kernel_column(study.kernels[0], 0),
        *(Column(head, latex) for name, (head, latex) in PARTS.items() if name in frame.columns),
    )
    return Table(
        name="instances",
        caption="Results by instance",
        columns=columns,
        parts=tuple(part(*panel) for panel in panels.items()),
        frame=frame,
        notes=(
            *_left_out(frame, shown),
            sentence(study.summary.caption()),
            "Best, mean and gap of the final objective over non-empty runs; score: mean over all runs of an arm.",
            *(("K and C: the two parts of the objective at the best run.",) if set(PARTS) & set(frame.columns) else ()),
            *order.notes(),
        ),
    )


def _telling(frame: pl.DataFrame, order: ArmOrder, most: int) -> pl.DataFrame:
    """Keep the rows of the instances on which the compared arms differ most in their score, in their order."""
    score = pl.col("score").filter(pl.col("arm").is_in(list(order.compared or order.others)))
    spread = frame.group_by("panel", "instance", maintain_order=True).agg(spread=score.max() - score.min())
    if spread.height <= most:
        return frame
    # What no compared arm has a mean on has no spread, and comes last.
    kept = spread.sort("spread", descending=True, nulls_last=True, maintain_order=True).head(most)
    return frame.join(kept, on=["panel", "instance"], how="semi", maintain_order="left")


def _left_out(frame: pl.DataFrame, shown: pl.DataFrame) -> tuple[str, ...]:
    if shown.height == frame.height:
        return ()
    some, all_of_them = (part.select("panel", "instance").n_unique() for part in (shown, frame))
    return (
        f"Of {all_of_them:,} instances the {some:,} on which the compared arms differ most; instances.csv has all.",
    )


def _block(
    block: list[dict[str, Any]], order: ArmOrder, kernel: str, *, maximised: bool, digits: int | None
) -> list[list[Text | str]]:
    compared = [row["arm"] in order.compared for row in block]
    full = [may and row["empty"] == 0 for may, row in zip(compared, block, strict=True)]
    turn = -1.0 if maximised else 1.0
    marks = {
        "best": smallest([None if row["best"] is None else turn * row["best"] for row in block], compared),
        "mean": smallest([None if row["mean"] is None else turn * row["mean"] for row in block], full),
        "gap": smallest([row["gap"] for row in block], full),
        "score": smallest([row["score"] for row in block], [may and kernel not in order.outside for may in compared]),
    }
    return [
        [
            *((row["instance"], objective(row["reference"], digits)) if k == 0 else ("", "")),
            *(row["arm"], count(row["runs"]), count(row["empty"])),
            Text(objective(row["best"], digits), marks["best"][k]),
            Text(objective(row["mean"], None if digits is None else max(digits, 1)), marks["mean"][k]),
            Text(percent(row["gap"]), marks["gap"][k]),
            Text(number(row["score"]), marks["score"][k]),
            *(objective(row[name], digits) for name in PARTS if name in row),
        ]
        for k, row in enumerate(block)
    ]

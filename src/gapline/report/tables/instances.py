"""The per-instance table as papers print it: reference, and for each arm best, mean, gap, score and empty runs."""

import polars as pl

from gapline.report.input import ReportInput
from gapline.report.tables.scores import ranked_arms
from gapline.report.tables.table import Cell, Column, Table, smallest
from gapline.report.terminal import number, percent


def instance_frame(study: ReportInput) -> pl.DataFrame:
    """Return one row per instance and arm: reference, runs, empty, best, mean, gap, score.

    `best` and `mean` are final objectives as the solver states them, over non-empty runs; `gap` is the mean raw final
    gap over the same runs; `score` the mean of the declared kernel over all runs.
    """
    order = {arm: k for k, arm in enumerate(ranked_arms(study))}
    # Objectives are printed as the solvers state them, so the reference is too, not as the transform has it.
    stated = {name: entry.value for name, entry in study.snapshots[0].snapshot.values.items()}
    filled = pl.col("steps") > 0
    return (
        study.scores[0]
        .frame.group_by("panel", "instance", "arm")
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
        )
        .with_columns(
            score=pl.when("known").then("score"),
            reference=pl.col("instance")
            .replace_strict(stated, default=None, return_dtype=pl.Float64)
            .fill_null(pl.col("reference")),
            _order=pl.col("arm").replace_strict(order, return_dtype=pl.Int64),
        )
        .sort("panel", "instance", "_order")
        .drop("known", "_order")
    )


def instance_table(study: ReportInput, tier_one: tuple[str, ...]) -> Table:
    """Return the table, a part per panel; the best of each instance is bold."""
    frame = instance_frame(study)
    maximised = study.envelopes.transform.maximises
    stated = pl.concat([frame["reference"], frame["best"]]).drop_nulls()
    digits = 0 if (stated == stated.round()).all() else 2
    parts = []
    for (panel,), group in frame.partition_by("panel", as_dict=True, maintain_order=True).items():
        rows: list[tuple[Cell, ...]] = []
        for block in group.partition_by("instance", maintain_order=True):
            rows += _block(block, tier_one, maximised=maximised, digits=digits)
        parts.append((f"panel {panel}", tuple(rows)))
    columns = (
        Column("instance", "Instance", text=True), Column("reference", "Reference"), Column("arm", "Arm", text=True),
        Column("runs", "Runs"), Column("empty", "Empty"), Column("best", "Best"), Column("mean", "Mean"),
        Column("gap", "Gap"), Column(study.kernels[0], r"$\Lambda$" if study.kernels[0] == "squeezed" else None),
    )  # fmt: skip
    return Table(
        name="instances",
        caption="Results by instance",
        columns=columns,
        parts=tuple(parts),
        frame=frame,
        notes=(
            f"Best, mean and gap of the final objective over non-empty runs; score over all runs, against "
            f"{study.scores[0].reference}.",
        ),
    )


def _block(block: pl.DataFrame, tier_one: tuple[str, ...], *, maximised: bool, digits: int) -> list[tuple[Cell, ...]]:
    compared = [arm in tier_one for arm in block["arm"]]
    full = [may and empty == 0 for may, empty in zip(compared, block["empty"], strict=True)]
    turn = -1.0 if maximised else 1.0
    marks = {
        "best": smallest([None if v is None else turn * v for v in block["best"]], compared),
        "mean": smallest([None if v is None else turn * v for v in block["mean"]], full),
        "gap": smallest(block["gap"].to_list(), full),
        "score": smallest(block["score"].to_list(), compared),
    }
    rows: list[tuple[Cell, ...]] = []
    for k, row in enumerate(block.iter_rows(named=True)):
        rows.append(
            (
                Cell(row["instance"] if k == 0 else ""),
                Cell(_objective(row["reference"], digits) if k == 0 else ""),
                Cell(row["arm"]),
                Cell(f"{row['runs']:,}"),
                Cell(f"{row['empty']:,}"),
                Cell(_objective(row["best"], digits), marks["best"][k]),
                Cell(_objective(row["mean"], max(digits, 1)), marks["mean"][k]),
                Cell(percent(row["gap"]), marks["gap"][k]),
                Cell(number(row["score"]), marks["score"][k]),
            )
        )
    return rows


def _objective(value: float | None, digits: int) -> str:
    """Format an objective, as routing papers do; very small and large ones by their leading digits.

    >>> _objective(2345.0, 0), _objective(2345.678, 2), _objective(0.00123, 2)
    ('2345', '2345.68', '0.00123')
    """
    if value is None:
        return "–"
    return f"{value:.{digits}f}" if value == 0 or 1 <= abs(value) < 1e9 else f"{value:.6g}"

"""A reading in the published JSON shape, and as the lines below a table."""

import math
from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.contract.tables import RUN_KEY, RunKey
from gapline.contract.transforms import shortest
from gapline.references.alarms import negative_notes
from gapline.report.order import ArmOrder
from gapline.scoring.endpoints import attainment_name
from gapline.scoring.scores import Scores, goal_name
from gapline.statistics.means import Summary
from gapline.text import printable


def score_document(
    scores: Scores, summary: Summary, /, *, per_run: bool, order: ArmOrder | None = None
) -> dict[str, Any]:
    """Return one reading for JSON; with an `order`, each arm has its tier and its rank (null where it has none)."""
    document: dict[str, Any] = {
        **summary.reading.document(),
        "statistic": summary.statistic,
        "arms": [_arm_document(row, summary, order) for row in summary.frame.iter_rows(named=True)],
        "notes": list(summary.notes),
    }
    if per_run:
        document["runs"] = [_run_document(row, scores) for row in scores.frame.iter_rows(named=True)]
    return document


def number_or_overflow(value: float | None) -> float | str | None:
    """Return a number that JSON can hold; one that overflowed is said to have."""
    return "overflow" if value is not None and math.isinf(value) else value


def _arm_document(row: dict[str, Any], summary: Summary, order: ArmOrder | None) -> dict[str, Any]:
    placed = {}
    if order is not None:
        placed = {"tier": order.tier(row["arm"]), "rank": order.ranks.get(row["arm"])}
    return {
        **{name: row[name] for name in summary.by},
        **placed,
        **{name: row[name] for name in ("runs", "empty", "rejected", "late", "unchecked")},
        "scores": {kernel: number_or_overflow(row[kernel]) for kernel in summary.kernels},
        **_own(row, summary.statistics),
        "final_gap": number_or_overflow(row["final_gap"]),
        "final_squeezed": row["final_squeezed"],
        "attainment": {shortest(goal): row[attainment_name(goal)] for goal in summary.goals},
    }


def _own(row: dict[str, Any], names: tuple[str, ...]) -> dict[str, Any]:
    """Return the user's own numbers, where there are any."""
    return {"statistics": {name: row[name] for name in names}} if names else {}


def _run_document(row: dict[str, Any], scores: Scores) -> dict[str, Any]:
    names = ("arm", "instance", "panel", "seed", "horizon")
    # Only a hierarchical objective has parts.
    more = [name for name in ("best_primary", "best_secondary") if name in row]
    hits = {shortest(goal): row[goal_name(goal)] for goal in scores.goals}
    return {
        **{name: row[name] for name in names},
        "scores": {kernel: number_or_overflow(row[kernel]) for kernel in scores.kernels},
        **_own(row, scores.statistics),
        "final_gap": number_or_overflow(row["final_gap"]),
        **{name: row[name] for name in ("first_time", "steps", "rejected", "late", "status", "terminal_valid")},
        "best": row["best_raw"],
        **{name: row[name] for name in more},
        # JSON has no infinity: a goal that was never attained has no time.
        "hitting_times": {goal: None if math.isinf(hit) else hit for goal, hit in hits.items()},
    }


def negative_lines(scores: Scores, /) -> list[str]:
    """List the runs that score below zero by more than the tolerance, with what that may mean."""
    kernel = scores.kernels[0]
    # A run that equals its reference may score below zero by rounding, here or in the print of its source.
    below = scores.frame.filter(pl.col("beaten") & (pl.col(kernel) < -scores.reading.tolerance))
    return negative_notes([(str(RunKey(*row[:3])), row[3]) for row in below.select(*RUN_KEY, kernel).iter_rows()])


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return notes for the terminal."""
    return [f"note: {printable(note)}" for note in notes]

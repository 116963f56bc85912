"""The score table: arms ranked by their mean, with counts of what failed beside every mean."""

import math
from typing import Any

from gapline.errors import listing
from gapline.model.transform import shortest
from gapline.report.terminal import number, percent, print_table, shown
from gapline.scoring.scores import Scores
from gapline.summary.means import Summary


def print_scores(summary: Summary) -> None:
    """Print one reading: a row per group, best first."""
    goals = [f"attainment:{shortest(goal)}" for goal in summary.goals]
    header = [
        *summary.by, "runs", "empty", "rejected", "late", *summary.kernels, "final gap",
        *(f"≤ {100 * goal:g} %" for goal in summary.goals),
    ]  # fmt: skip
    rows = []
    for row in sorted(summary.frame.iter_rows(named=True), key=lambda row: _rank(row, summary)):
        rows.append(
            [
                *(str(row[name]) for name in summary.by),
                *(f"{row[name]:,}" for name in ("runs", "empty", "rejected", "late")),
                *(number(row[kernel]) for kernel in summary.kernels),
                percent(row["final_gap"]),
                *(percent(row[name], digits=1) for name in goals),
            ]
        )
    print_table(
        f"{summary.statistic.capitalize()} score, smaller is better",
        header,
        rows,
        text_columns=len(summary.by),
        caption=summary.caption() + "\nfinal gap over non-empty runs; an empty run scores the worst value and stays in",
    )


def _rank(row: dict[str, Any], summary: Summary) -> tuple[float, str]:
    value = row[summary.kernels[0]]
    return (math.inf if value is None else value, str(row[summary.by[0]]) if summary.by else "")


def print_runs(scores: Scores, *, most: int = 200) -> None:
    """Print one row per run."""
    header = ["arm", "instance", "seed", "status", *scores.kernels, "final gap", "first", "steps", "rejected", "late"]
    rows = []
    for row in scores.frame.head(most).iter_rows(named=True):
        first = "–" if row["first_time"] is None else f"{row['first_time']:.3f}"
        rows.append(
            [
                row["arm"],
                row["instance"],
                str(row["seed"]),
                row["status"],
                *(number(row[kernel]) for kernel in scores.kernels),
                percent(row["final_gap"]),
                first,
                *(f"{row[n]:,}" for n in ("steps", "rejected", "late")),
            ]
        )
    more = f"{scores.frame.height - most:,} more runs: use --json" if scores.frame.height > most else ""
    print_table("Runs", header, rows, text_columns=2, caption=more)


def score_document(scores: Scores, summary: Summary, *, per_run: bool) -> dict[str, Any]:
    """Return one reading for JSON, in the published shape."""
    document: dict[str, Any] = {
        "reference": {
            "policy": scores.reference.policy,
            "name": scores.reference.name,
            "digest": scores.reference.digest,
        },
        "weight": scores.weight,
        "weighting": summary.weighting,
        "statistic": summary.statistic,
        "validation": scores.validation,
        "transform": scores.transform,
        "kernels": list(scores.kernels),
        "horizons": _horizons(scores),
        "arms": [_arm_document(row, summary) for row in summary.frame.iter_rows(named=True)],
        "notes": list(summary.notes),
    }
    if per_run:
        document["runs"] = [_run_document(row, scores) for row in scores.frame.iter_rows(named=True)]
    return document


def _horizons(scores: Scores) -> dict[str, list[float]]:
    frame = scores.frame
    return {
        "announced": sorted(frame["announced"].drop_nulls().unique().to_list()),
        "scored": sorted(frame["horizon"].unique().to_list()),
    }


def finite(value: float | None) -> float | str | None:
    """Return a number that JSON can hold; one that overflowed is said to have."""
    return "overflow" if value is not None and math.isinf(value) else value


def _arm_document(row: dict[str, Any], summary: Summary) -> dict[str, Any]:
    return {
        **{name: row[name] for name in summary.by},
        **{name: row[name] for name in ("runs", "empty", "rejected", "late", "unchecked")},
        "scores": {kernel: finite(row[kernel]) for kernel in summary.kernels},
        "final_gap": finite(row["final_gap"]),
        "final_squeezed": row["final_squeezed"],
        "attainment": {shortest(goal): row[f"attainment:{shortest(goal)}"] for goal in summary.goals},
    }


def _run_document(row: dict[str, Any], scores: Scores) -> dict[str, Any]:
    names = ("arm", "instance", "panel", "seed", "horizon")
    more = [name for name in ("best_primary", "best_secondary") if name in row]
    return {
        **{name: row[name] for name in names},
        "scores": {kernel: finite(row[kernel]) for kernel in scores.kernels},
        "final_gap": finite(row["final_gap"]),
        **{name: row[name] for name in ("first_time", "steps", "rejected", "late", "status", "terminal_valid")},
        "best": row["best_raw"],
        **{name: row[name] for name in more},
        "hitting_times": {
            shortest(goal): None if math.isinf(row[f"hit:{shortest(goal)}"]) else row[f"hit:{shortest(goal)}"]
            for goal in scores.goals
        },
    }


def note_lines(notes: tuple[str, ...] | list[str]) -> list[str]:
    """Return notes for the terminal."""
    return [f"note: {shown(note)}" for note in notes]


def unread_line(problems: tuple[str, ...], count: int) -> str:
    """Return one line on candidates that a reader could not use."""
    return f"{count:,} candidates could not be read: {listing(map(shown, problems), most=3)}"

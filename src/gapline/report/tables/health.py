"""Tables of runs: what was captured, what was left out, how each run ended."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.contract.reading import vouched
from gapline.contract.tables import FAILED, RUN_KEY
from gapline.references.alarms import Alarm
from gapline.report.numbers import DASH, count, number, percent, plain_numbers
from gapline.report.order import ALARMED
from gapline.report.table import Column, Table, capital, frame_table, one_part
from gapline.report.tables.means import kernel_column, sentence
from gapline.scoring.scores import Scores, goal_name
from gapline.study.health import Health

# Column of the health frame -> its head in words and in LaTeX.
_HEADS = {
    "runs": ("runs", "Runs"),
    "captured": ("captured", "Captured"),
    "rejected": ("rejected", "Invalid captured"),
    "terminal_invalid": ("invalid at the end", "Invalid terminal"),
    "empty": ("empty", "No valid incumbent"),
    "late": ("late", "Late"),
    "unchecked": ("unchecked", "Unchecked"),
    "crashed": ("crashed or killed", "Crashed"),
    "unknown": ("unknown end", "Unknown end"),
}
# Columns that are shown only where they count something.
_RARE = ("unchecked", "unknown")


def health_table(health: Health, /, *, validation: str, checker: str | None = None, over: str = "") -> Table:
    """Return the counts of each group; `over` says which runs these are."""
    heads = {n: head for n, head in _HEADS.items() if n not in _RARE or health.frame[n].sum()}
    rows = [
        [*(str(row[group]) for group in health.by), *(_count(row, n) for n in heads)]
        for row in health.frame.iter_rows(named=True)
    ]
    notes = [
        f"{sentence(vouched(validation, checker))} Invalid candidates stay out of the envelope; a run without a "
        "valid incumbent scores the worst value and stays in every denominator. A candidate that is rejected and late "
        "counts in both columns; what is neither, nor unchecked, was accepted or did not improve."
    ]
    if unknown := int(health.frame["unknown"].sum()):
        notes.append(f"Of {unknown:,} runs the source does not say how they ended.")
    if over:
        notes.append(sentence(over))
    return Table(
        name="health",
        caption="Health: what was captured, and what was left out",
        columns=(*capital(*health.by, text=True), *(Column(*head) for head in heads.values())),
        parts=one_part(rows),
        frame=health.frame,
        notes=tuple(notes),
    )


def _count(row: dict[str, Any], name: str) -> str:
    # Where nobody says how any run ended, nobody knows that none crashed.
    return DASH if name == "crashed" and row["unknown"] == row["runs"] else count(row[name])


def reason_table(health: Health, /) -> Table:
    """Return the rejections of each group by their reason."""
    return frame_table("rejections", "Rejected, by reason", health.reasons, text=(*health.by, "reason"))


def completeness_table(completeness: pl.DataFrame, /, *, planned: bool) -> Table:
    """Return the arms and panels that lack runs: planned ones, or without a plan those that other arms have."""
    short = completeness.filter(pl.col("present") < pl.col("expected"))
    caption = "Planned runs that are not there" if planned else "Runs that other arms have"
    return frame_table("completeness", caption, short, text=("arm", "panel"))


MOST = 200


def run_table(scores: Scores, /, *, most: int = MOST, alarms: Sequence[Alarm] = ()) -> Table:
    """Return the first `most` runs as a table; its CSV has them all. Instances of which an alarm rings are marked."""
    alarmed = {alarm.instance for alarm in alarms}
    shown = scores.frame.head(most)
    parts = [name for name in ("best_primary", "best_secondary") if name in shown.columns]
    sized = {name: plain_numbers(shown[name].to_list()) for name in (*scores.statistics, *parts)}
    rows = []
    for place, row in enumerate(shown.iter_rows(named=True)):
        first = "–" if row["first_time"] is None else f"{row['first_time']:.3f}"
        instance = f"{row['instance']}{ALARMED}" if row["instance"] in alarmed else row["instance"]
        cells = [row["arm"], instance, row["status"], str(row["seed"])]
        cells += [number(row[kernel]) for kernel in scores.kernels]
        cells += [sized[name][place] for name in scores.statistics]
        cells += [percent(row["final_gap"]), first, *(count(row[name]) for name in ("steps", "rejected", "late"))]
        cells += [sized[name][place] for name in parts]
        rows.append(cells)
    left = scores.frame.height - most
    return Table(
        name="runs",
        caption="Runs",
        columns=(
            *capital("arm", "instance", text=True),
            *capital("status", text=True, spare=3),
            *capital("seed", spare=0),
            *(kernel_column(kernel, 0 if kernel == scores.kernels[0] else 2) for kernel in scores.kernels),
            *map(Column, scores.statistics),
            *capital("final gap"),
            *capital("first", "steps", spare=4),
            *capital("rejected", "late", spare=5),
            *((Column("best K", "$K$"), Column("best C", "$C$")) if parts else ()),
        ),
        parts=one_part(rows),
        frame=run_frame(scores),
        notes=(sentence(scores.caption()), *((f"{left:,} more runs: use --json",) if left > 0 else ())),
    )


def run_frame(scores: Scores, /) -> pl.DataFrame:
    """Return one row per run, for CSV."""
    keep = [
        "arm", "panel", "instance", "seed", "status", "horizon", "announced", "reference", *scores.kernels,
        *scores.statistics, "time_scale", "final_gap",
        "first_time", "best_raw", "best_primary", "best_secondary", *map(goal_name, scores.goals), "captured", "steps",
        "rejected", "late", "unchecked", "terminal_valid", "beaten", "validation", "tier", "solver", "solver_version",
        "attempts", "leftover",
    ]  # fmt: skip
    rows = scores.frame.select(name for name in keep if name in scores.frame.columns)
    # A goal that was never attained has no time; `inf` would be a number to some readers of CSV and text to others.
    return rows.with_columns(pl.when(pl.col("^hit:.*$").is_finite()).then(pl.col("^hit:.*$")))


MOST = 20


def telling_tables(scores: Scores, /, *, most: int = MOST) -> list[Table]:
    """Return up to four tables of at most `most` runs each; one that would be empty is left out."""
    frame, kernel = scores.frame, scores.kernels[0]
    scored = frame.filter(pl.col(kernel).is_not_null() & (pl.col("steps") > 0))
    rejected = frame.filter(pl.col("rejected") > 0)
    failed = frame.filter(pl.col("status").is_in(FAILED) | (pl.col("steps") == 0))
    best = scored.sort(kernel, *RUN_KEY)
    worst = scored.sort(kernel, *RUN_KEY, descending=[True, False, False, False])
    tables = [
        _named("best-runs", "Best scores", best, scores, most, f"{scored.height:,} runs have a score and a candidate"),
        _named("worst-runs", "Worst scores of runs that found something", worst, scores, most, ""),
        _named(
            "rejected-runs",
            "Most candidates rejected",
            rejected.sort("rejected", *RUN_KEY, descending=[True, False, False, False]),
            scores,
            most,
            f"{rejected.height:,} of {frame.height:,} runs have rejected candidates",
        ),
        _named(
            "failed-runs",
            "Failed, or without a valid candidate",
            failed.sort(*RUN_KEY),
            scores,
            most,
            f"{failed.height:,} of {frame.height:,} runs failed or are empty",
        ),
    ]
    return [table for table in tables if table.rows]


def _named(name: str, caption: str, frame: pl.DataFrame, scores: Scores, most: int, note: str) -> Table:
    kernel, shown = scores.kernels[0], frame.head(most)
    rows = []
    for row in shown.iter_rows(named=True):
        first = "–" if row["first_time"] is None else f"{row['first_time']:.3f}"
        cells = [row["arm"], row["instance"], row["panel"], str(row["seed"]), row["status"], number(row[kernel])]
        rows.append([*cells, percent(row["final_gap"]), first, *(count(row[n]) for n in ("steps", "rejected", "late"))])
    left = frame.height - shown.height
    notes = [note[:1].upper() + note[1:]] if note else []
    notes += [f"The first {shown.height:,}; tables/runs.csv has all"] if left else []
    return Table(
        name=name,
        caption=caption,
        columns=(
            *capital("arm", "instance", "panel", text=True),
            *capital("seed"),
            *capital("status", text=True),
            kernel_column(kernel),
            *capital("final gap", "first", "steps", "rejected", "late"),
        ),
        parts=one_part(rows),
        frame=shown.select(*RUN_KEY, "panel", "status", kernel, "final_gap", "first_time", "steps", "rejected", "late"),
        notes=tuple(map(sentence, [*notes, scores.caption()])),
    )

"""Tables of runs: captured and omitted data, and how each run ended."""

from collections.abc import Sequence
from functools import partial

import polars as pl

from gapline.contract.reading import vouched
from gapline.contract.tables import FAILED, RUN_KEY
from gapline.references.alarms import Alarm
from gapline.report.numbers import DASH, count, number, percent, plain_numbers, sentence
from gapline.report.order import ALARMED
from gapline.report.statements.remarks import unknown_ends
from gapline.report.table import Column, Field, Record, Table, field, field_table, fields, frame_table
from gapline.report.tables.means import kernel_column
from gapline.scoring.scores import Scores, goal_name
from gapline.study.health import Health

# Maps columns of the counts to their heads in text and in LaTeX, the latter as in the paper.
HEALTH_COLUMNS = {
    "runs": Column("runs", "Runs"),
    "captured": Column("captured", "Captured"),
    "rejected": Column("rejected", "Invalid captured"),
    "terminal_invalid": Column("invalid at the end", "Invalid terminal"),
    "empty": Column("empty", "No valid incumbent"),
    "late": Column("late", "Late"),
    "unchecked": Column("unchecked", "Unchecked"),
    "crashed": Column("crashed or killed", "Crashed"),
    "unknown": Column("unknown end", "Unknown end"),
}
# Columns that are only shown if a count is not zero.
_RARE = ("unchecked", "unknown")
# The two parts of a hierarchical objective M·K + C, if the runs have them.
PARTS = {"best_primary": "K", "best_secondary": "C"}


def health_fields(*names: str) -> list[Field]:
    """Return columns for the counts of a group of runs."""
    return [Field(HEALTH_COLUMNS[name], partial(_count, name)) for name in names]


def _count(name: str, row: Record) -> str:
    # If it is unknown how all runs ended, it is also unknown whether any crashed.
    return DASH if name == "crashed" and row["unknown"] == row["runs"] else count(row[name])


def health_table(health: Health, /, *, validation: str, checker: str | None = None, over: str = "") -> Table:
    """Return the counts of each group; `over` describes the runs."""
    shown = [name for name in HEALTH_COLUMNS if name not in _RARE or health.frame[name].sum()]
    notes = [
        f"{sentence(vouched(validation, checker))} Invalid candidates stay out of the envelope; a run without a "
        "valid incumbent scores the worst value and stays in every denominator. A candidate that is rejected and late "
        "counts in both columns; what is neither, nor unchecked, was accepted or did not improve."
    ]
    notes += [*unknown_ends(int(health.frame["unknown"].sum())), *([sentence(over)] if over else [])]
    columns = [*fields(*health.by, text=True), *health_fields(*shown)]
    caption = "Health: what was captured, and what was left out"
    return field_table("health", caption, columns, [(None, health.frame.to_dicts())], health.frame, notes)


def reason_table(health: Health, /) -> Table:
    """Return the rejections of each group by their reason."""
    return frame_table("rejections", "Rejected, by reason", health.reasons, text=(*health.by, "reason"))


def completeness_table(completeness: pl.DataFrame, /, *, planned: bool) -> Table:
    """Return the arms and panels that lack runs: planned ones, or without a plan those that other arms have."""
    short = completeness.filter(pl.col("present") < pl.col("expected"))
    caption = "Planned runs that are not there" if planned else "Runs that other arms have"
    return frame_table("completeness", caption, short, text=("arm", "panel"))


MOST_RUNS = 200
MOST_TELLING_RUNS = 20


def run_table(scores: Scores, /, *, most: int = MOST_RUNS, alarms: Sequence[Alarm] = ()) -> Table:
    """Return the first `most` runs as a table, all of them in its CSV; instances with an alarm are marked."""
    alarmed, shown = {alarm.instance for alarm in alarms}, scores.frame.head(most)
    parts = [name for name in PARTS if name in shown.columns]
    sized = {name: plain_numbers(shown[name].to_list()) for name in (*scores.statistics, *parts)}
    rows = [row | {name: sized[name][k] for name in sized} for k, row in enumerate(shown.iter_rows(named=True))]

    def instance(row: Record) -> str:
        return f"{row['instance']}{ALARMED if row['instance'] in alarmed else ''}"

    columns = [
        *fields("arm", text=True),
        Field(Column("instance", "Instance", text=True), instance),
        *fields("status", text=True, spare=3),
        *fields("seed", spare=0),
        *(_score(kernel, 0 if kernel == scores.kernels[0] else 2) for kernel in scores.kernels),
        *(field(Column(name), name) for name in scores.statistics),
        *_outcome_fields(4, 5),
        *(field(Column(f"best {PARTS[name]}", f"${PARTS[name]}$"), name) for name in parts),
    ]
    left = scores.frame.height - most
    notes = [sentence(scores.caption()), *([f"{left:,} more runs: use --json"] if left > 0 else [])]
    return field_table("runs", "Runs", columns, [(None, rows)], run_frame(scores), notes)


def _score(kernel: str, spare: int | None = None) -> Field:
    return field(kernel_column(kernel, spare), kernel, number)


def _outcome_fields(few: int | None = None, fewer: int | None = None) -> list[Field]:
    """Return the columns for the outcome of a run."""
    return [
        *fields("final gap", form=percent),
        Field(Column("first", "First", spare=few), lambda row: number(row["first_time"], digits=3)),
        *fields("steps", form=count, spare=few),
        *fields("rejected", "late", form=count, spare=fewer),
    ]


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
    # A goal that was never attained has no time; CSV readers disagree on whether `inf` is a number.
    return rows.with_columns(pl.when(pl.col("^hit:.*$").is_finite()).then(pl.col("^hit:.*$")))


def telling_tables(scores: Scores, /, *, most: int = MOST_TELLING_RUNS) -> list[Table]:
    """Return up to four tables of at most `most` runs each; one that would be empty is left out."""
    frame, kernel = scores.frame, scores.kernels[0]
    scored = frame.filter(pl.col(kernel).is_not_null() & (pl.col("steps") > 0)).sort(kernel, *RUN_KEY)
    worst = scored.sort(kernel, *RUN_KEY, descending=[True, False, False, False])
    rejected = frame.filter(pl.col("rejected") > 0).sort("rejected", *RUN_KEY, descending=[True, False, False, False])
    failed = frame.filter(pl.col("status").is_in(FAILED) | (pl.col("steps") == 0)).sort(*RUN_KEY)
    every = f"of {frame.height:,} runs"
    return [
        _telling_table(scores, runs.head(most), *words, left=runs.height > most)
        for runs, *words in (
            (scored, "best-runs", "Best scores", f"{scored.height:,} runs have a score and a candidate"),
            (worst, "worst-runs", "Worst scores of runs that found something", ""),
            (rejected, "rejected-runs", "Most candidates rejected",
             f"{rejected.height:,} {every} have rejected candidates"),
            (failed, "failed-runs", "Failed, or without a valid candidate",
             f"{failed.height:,} {every} failed or are empty"),
        )
        if runs.height
    ]  # fmt: skip


def _telling_table(scores: Scores, shown: pl.DataFrame, name: str, caption: str, note: str, *, left: bool) -> Table:
    kernel = scores.kernels[0]
    columns = [*fields("arm", "instance", "panel", text=True), *fields("seed"), *fields("status", text=True)]
    columns += [_score(kernel), *_outcome_fields()]
    cut = f"The first {shown.height:,}; tables/runs.csv has all" if left else ""
    notes = [sentence(text) for text in (note, cut, scores.caption()) if text]
    frame = shown.select(*RUN_KEY, "panel", "status", kernel, "final_gap", "first_time", "steps", "rejected", "late")
    return field_table(name, caption, columns, [(None, shown.to_dicts())], frame, notes)

"""What the commands print on a terminal: the same tables as in a report, and the lines below them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import polars as pl

from gapline.model.tables import RUN_KEY, RunKey
from gapline.model.text import printable
from gapline.reference.alarm import Alarm, negative_notes
from gapline.report.order import order_arms
from gapline.report.table import Table
from gapline.report.tables.means import arm_table, group_table
from gapline.report.writers.terminal import print_table
from gapline.scoring.scores import Scores
from gapline.summary.means import Summary

if TYPE_CHECKING:
    # Whoever prints scores does without all that is in an analysis.
    from gapline.summary.bootstrap import ArmIntervals


def score_table(
    summary: Summary,
    /,
    *,
    alarms: Sequence[Alarm] = (),
    intervals: "ArmIntervals | None" = None,
    no_intervals: str | None = None,
) -> Table:
    """Return one reading: the arms, best first, or the groups that were asked for."""
    if summary.by != ("arm",):
        return group_table(summary)
    order = order_arms(summary, alarms=alarms)
    return arm_table(summary, order, intervals=intervals, no_intervals=no_intervals)


def print_scores(summary: Summary, /) -> None:
    """Print one reading: the arms, best first, or the groups that were asked for."""
    print_table(score_table(summary))


def negative_lines(scores: Scores, /) -> list[str]:
    """List the runs that score below zero by more than the tolerance, with what that may mean."""
    kernel = scores.kernels[0]
    # A run that equals its reference may score below zero by rounding, here or in the print of its source.
    below = scores.frame.filter(pl.col("beaten") & (pl.col(kernel) < -scores.reading.tolerance))
    return negative_notes([(str(RunKey(*row[:3])), row[3]) for row in below.select(*RUN_KEY, kernel).iter_rows()])


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return notes for the terminal."""
    return [f"note: {printable(note)}" for note in notes]

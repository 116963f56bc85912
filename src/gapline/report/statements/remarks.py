"""Sentences next to the numbers that several outputs share."""

from collections.abc import Iterable, Sequence

import polars as pl

from gapline.contract.tables import RUN_KEY, RunKey
from gapline.errors import listing
from gapline.references.alarms import Alarm, negative_notes
from gapline.scoring.scores import Scores
from gapline.text import counted, printable

EMPTY_RUNS = "Final gap over non-empty runs; an empty run scores the worst value and stays in every mean."
OUT_OF_ENVELOPE = "† out of its envelope: some runs end below the reference."


def descriptive_notes(arms: Sequence[str]) -> list[str]:
    """Return notes on arms that a table describes without comparing them."""
    return [f"Descriptive, not compared: {listing(arms)}."] if arms else []


def unknown_ends(runs: int) -> list[str]:
    """Return a note on the number of runs whose end was not recorded."""
    return [f"Of {counted(runs, 'run')} the source does not say how they ended."] if runs else []


def first_lines(alarms: Iterable[Alarm], scores: Scores) -> list[str]:
    """Return the lines that precede every number: alarms, then how many runs beat their references."""
    return [*(f"ALARM {alarm}" for alarm in alarms), *([] if scores.beaten is None else [f"{scores.beaten}."])]


def negative_lines(scores: Scores, /) -> list[str]:
    """List the runs that score below zero by more than the tolerance, with possible reasons."""
    kernel = scores.kernels[0]
    # A run that equals its reference may score below zero by rounding, here or in its printed source.
    below = scores.frame.filter(pl.col("beaten") & (pl.col(kernel) < -scores.reading.tolerance))
    return negative_notes([(str(RunKey(*row[:3])), row[3]) for row in below.select(*RUN_KEY, kernel).iter_rows()])


def note_lines(notes: Sequence[str]) -> list[str]:
    """Return notes for the terminal."""
    return [f"note: {printable(note)}" for note in notes]

"""How far a cell of a study is: one rule for `status`, `watch`, `serve` and the runs that `score` counts."""

from collections.abc import Iterable
from enum import StrEnum

from gapline.journal.attempts import Attempt, CellRecord
from gapline.journal.read import JournalState, Outcome
from gapline.journal.verdicts import Judge, VerdictFacts, verdicts_of


class CellState(StrEnum):
    """How far a cell is."""

    DONE = "done"
    UNCHECKED = "unchecked"  # run whole, but candidates wait for a verdict
    NOISY = "noisy"  # run whole, but disturbed, and asked to be run again
    RUNNING = "running"
    INTERRUPTED = "interrupted"  # attempts were made, none is whole
    QUARANTINED = "quarantined"  # as interrupted, and a journal was changed after it was written
    MISSING = "missing"  # not begun


def cell_state(record: CellRecord[Attempt], *, waits: bool = False) -> CellState:
    """Say how far a cell is that nobody works on; `waits` where its run waits for a verdict."""
    if record.counting is not None:
        return CellState.UNCHECKED if waits else CellState.DONE
    if not record.interrupted:
        return CellState.MISSING
    changed = any(journal.state is JournalState.QUARANTINED for journal in record.attempts)
    return CellState.QUARANTINED if changed else CellState.INTERRUPTED


def waits_for_verdict(run: Outcome, stored: Iterable[VerdictFacts], judge: Judge | None) -> bool:
    """Say whether a whole run has candidates without a verdict of the one whose verdicts count.

    A run that counts by its solver's word waits for nobody, and neither does one without a solution to check.
    """
    if run.order is None or run.order.carried.get("validation") != "checker" or not run.asked:
        return False
    found = verdicts_of(stored, lambda head: head.judge == judge)
    return found is None or found.unchecked > 0 or found.candidates != run.asked

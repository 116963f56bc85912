"""Cells that somebody else has: another runner, or the processes that a dead one left behind."""

import time
from collections.abc import Callable, Iterator, Sequence

from gapline.errors import listing
from gapline.model.plan import Cell
from gapline.run.cell import CLEAR_WITHIN, CellResult, RunSettings
from gapline.run.claim import holder, is_claimed, wake_orphans

LOOK_EVERY = 0.2

RunCells = Callable[[Sequence[Cell]], Iterator[tuple[Cell, CellResult]]]


def run_and_wait(
    cells: Sequence[Cell],
    run: RunCells,
    settings: RunSettings,
    *,
    stopping: Callable[[], bool],
    say: Callable[[str], None],
) -> Iterator[tuple[Cell, CellResult]]:
    """Run cells; wait for those that others have, and run what they leave undone.

    A run of another takes its horizon, its grace and some seconds more. What is held longer than that comes back as
    "busy", with the holder's name.
    """
    while True:
        held: list[Cell] = []
        for cell, result in run(cells):
            if result.outcome == "busy":
                held.append(cell)
            else:
                yield cell, result
        if not held or not _one_is_free(held, settings, stopping=stopping, say=say):
            break
        cells = held
    for cell in held:
        yield cell, CellResult(cell.key, "busy", problems=(held_by(cell, settings),))


def _one_is_free(
    cells: list[Cell], settings: RunSettings, *, stopping: Callable[[], bool], say: Callable[[str], None]
) -> bool:
    """Wait until one of the cells is free; False when that takes too long, or once `stopping` says so."""
    directories = [cell.directory(settings.study) for cell in cells]
    longest = max(cell.horizon for cell in cells) + settings.grace + settings.kill_after + CLEAR_WITHIN
    start = time.monotonic()
    told = False
    while all(map(is_claimed, directories)):
        waited = time.monotonic() - start
        if stopping() or waited > longest:
            return False
        if not told:
            told = True
            say(f"waiting for {listing((held_by(cell, settings) for cell in cells), most=3)}")
        for directory in directories:
            # A supervisor whose runner died ends by itself, unless it was stopped.
            wake_orphans(directory, kill=waited > CLEAR_WITHIN)
        time.sleep(LOOK_EVERY)
    return True


def held_by(cell: Cell, settings: RunSettings) -> str:
    """Say which cell it is and who has it."""
    return f"{cell.key}: held by {holder(cell.directory(settings.study))}"

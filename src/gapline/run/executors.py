"""Where cells run: any `concurrent.futures.Executor`, by default threads of this process with one slot each."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from queue import SimpleQueue

from gapline.run.cell import CellResult, RunSettings, run_cell
from gapline.run.control import Control
from gapline.run.pin import Slot
from gapline.run.plan import Cell

# How often a runner looks whether it was asked to stop.
LOOK_EVERY = 0.2


class SlotRunner:
    """Runs a cell in a free slot of this machine."""

    def __init__(self, settings: RunSettings, slots: Sequence[Slot], control: Control) -> None:
        self._settings = settings
        self._control = control
        self._free: SimpleQueue[Slot] = SimpleQueue()
        for slot in slots:
            self._free.put(slot)

    def __call__(self, cell: Cell) -> CellResult:
        """Wait for a slot, run the cell in it."""
        with self._lease() as slot:
            return run_cell(cell, self._settings, slot, self._control)

    @contextmanager
    def _lease(self) -> Iterator[Slot]:
        slot = self._free.get()
        try:
            yield slot
        finally:
            self._free.put(slot)


def run_cells(
    cells: Sequence[Cell], executor: Executor, run_one: Callable[[Cell], CellResult], *, stopping: Callable[[], bool]
) -> Iterator[tuple[Cell, CellResult]]:
    """Yield cells as they come back; once `stopping` says so, those not begun are given up.

    An exception of a cell stops the launching, lets the running ones finish, and is raised then.
    """
    pending: dict[Future[CellResult], Cell] = {executor.submit(run_one, cell): cell for cell in cells}
    failure: BaseException | None = None
    while pending:
        finished, _ = wait(pending, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
        for future in finished:
            cell = pending.pop(future)
            if future.cancelled():
                continue
            if error := future.exception():
                failure = failure or error
            else:
                yield cell, future.result()
        if failure is not None or stopping():
            for future in list(pending):
                if future.cancel():
                    del pending[future]
    if failure is not None:
        raise failure

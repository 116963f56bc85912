"""Where cells run: any `concurrent.futures.Executor`, by default threads of this process with cores of their own."""

from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from dataclasses import dataclass

from gapline.model.plan import Cell
from gapline.model.tables import RunKey, RunStatus
from gapline.run.cell import CellResult, RunSettings, run_cell
from gapline.run.process.control import Control
from gapline.run.where.lease import lease_cores
from gapline.run.where.worker import CalledBackError, WorkerLostError

# How often a runner looks whether it was asked to stop.
LOOK_EVERY = 0.2
# A cell that takes its worker down each time must not take all of them.
MOST_LOST = 3


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Runs a cell on cores of this machine that no other run has, whichever runner or study it belongs to."""

    settings: RunSettings
    control: Control
    pin: bool = True
    say: Callable[[str], None] = lambda _text: None

    def __call__(self, cell: Cell) -> CellResult:
        """Wait for cores, run the cell on them."""
        with lease_cores(cell.threads, stopping=lambda: self.control.stopping, say=self.say) as lease:
            if lease is None:
                return CellResult(cell.key, "left")
            slot, held = lease
            return run_cell(cell, self.settings, slot if self.pin else (), self.control, held=held)


def run_cells(
    cells: Sequence[Cell],
    executor: Executor,
    run_one: Callable[[Cell], CellResult],
    *,
    stopping: Callable[[], bool],
    width: Callable[[], int] | None = None,
) -> Iterator[tuple[Cell, CellResult]]:
    """Yield cells as they come back; once `stopping` says so, those not begun are given up.

    A cell whose worker is lost is given to another one, a few times; one whose job somebody called back is left. Any
    other exception of a cell stops the launching, lets the running ones finish, and is raised then. `width` says how
    many cells may be out at a time, all when left out; it is asked again and again, as a cluster grows and shrinks.
    """
    waiting = deque(cells)
    pending: dict[Future[CellResult], Cell] = {}
    lost: Counter[RunKey] = Counter()
    failure: BaseException | None = None
    while pending or (waiting and failure is None and not stopping()):
        # At least one: a cluster that has no workers at this moment may get some.
        room = len(cells) if width is None else max(1, width())
        while waiting and len(pending) < room and failure is None and not stopping():
            cell = waiting.popleft()
            pending[executor.submit(run_one, cell)] = cell
        finished, _ = wait(pending, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
        for future in finished:
            cell = pending.pop(future)
            if future.cancelled() or (stopping() and isinstance(future.exception(), CalledBackError)):
                continue
            error = future.exception()
            if error is None:
                yield cell, future.result()
            elif isinstance(error, WorkerLostError) and lost[cell.key] < MOST_LOST:
                lost[cell.key] += 1
                # At the end: a cell that kills its workers must not hold up the others.
                waiting.append(cell)
            elif isinstance(error, WorkerLostError | CalledBackError):
                yield cell, _given_up(cell, error)
            else:
                failure = failure or error
        if failure is not None or stopping():
            for future in list(pending):
                if future.cancel():
                    del pending[future]
    if failure is not None:
        raise failure


def _given_up(cell: Cell, error: WorkerLostError | CalledBackError) -> CellResult:
    if isinstance(error, CalledBackError):
        return CellResult(cell.key, "left", problems=(f"{cell.key}: {error}; the next `gapline run` makes it again",))
    problem = f"{cell.key}: {MOST_LOST + 1} workers were lost with it, the last one: {error}"
    return CellResult(cell.key, "interrupted", RunStatus.LOST, problems=(problem,))

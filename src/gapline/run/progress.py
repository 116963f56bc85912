"""Progress of a campaign: a bar with the time left on a terminal, plain lines in a log."""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import IO, TYPE_CHECKING

from gapline.contract.plan import Cell
from gapline.run.cell import CellResult
from gapline.terminal import console, say
from gapline.text import printable

if TYPE_CHECKING:
    from gapline.executors.slurm_queue import Standing

    Asked = Callable[[], Standing] | None


class Progress:
    """Display of a running campaign; this base class is silent, for use as a library."""

    def start(self, cells: Sequence[Cell], *, done: int, slots: int, standing: "Asked" = None) -> None:
        """Start the display: the cells to run, the number done before, and how many run at a time.

        For a queue, `slots` is how many jobs may be in it, and `standing` returns how many of them run.
        """

    def advance(self, cell: Cell, result: CellResult) -> None:
        """Show the result of a cell."""

    def say(self, message: str) -> None:
        """Show a message without disturbing the display."""

    def stop(self) -> None:
        """End the display."""


def describe(result: CellResult) -> str:
    """Return a line that describes a result."""
    name = printable(result.key)
    if result.outcome == "done":
        unchecked = f", {result.unchecked} unchecked" if result.unchecked else ""
        noisy = ", noisy host" if result.noisy else ""
        return f"{name}: {result.status}, {result.events} events in {result.elapsed:.2f} s{unchecked}{noisy}"
    return f"{name}: {result.outcome}"


def _at_a_time(slots: int, standing: "Asked") -> str:
    return f"{slots} at a time" if standing is None else f"at most {slots} jobs in the queue"


class PlainProgress(Progress):
    """Lines for a log: one per cell, with the time left."""

    def __init__(self, stream: IO[str] | None = None) -> None:
        self._stream = sys.stderr if stream is None else stream

    def start(self, cells: Sequence[Cell], *, done: int, slots: int, standing: "Asked" = None) -> None:
        """Print and remember the amount of work."""
        self._total, self._count = len(cells), 0
        self._seconds, self._slots = sum(cell.horizon for cell in cells), slots
        self._standing = standing
        self.say(f"{len(cells)} runs to make, {done} made before, {_at_a_time(slots, standing)}")

    def advance(self, cell: Cell, result: CellResult) -> None:
        """Print a line for the cell."""
        self._count += 1
        # By horizons, not by the pace so far: after solvers that stop early, the pace would be too optimistic.
        self._seconds = max(0.0, self._seconds - cell.horizon)
        # The last runs cannot spread over all slots: a run takes its horizon even if other cores are idle.
        # For a queue, the number of running jobs decides, not the number that may be in it.
        now = None if self._standing is None else self._standing()
        width = self._slots if now is None else max(1, now.running)
        left = max(self._seconds / width, cell.horizon if self._count < self._total else 0.0)
        queue = f"; {now}" if now is not None and any(now) else ""
        self.say(f"[{self._count}/{self._total}] {describe(result)}{queue}; about {left:.0f} s of solving left")

    def say(self, message: str) -> None:
        """Print the message."""
        say(message, file=self._stream)


class BarProgress(Progress):
    """A bar with the runs made, the time left and the last run."""

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bar
        from rich.table import Column

        # On a narrow terminal, the names are cut, not the time left.
        last = TextColumn("{task.fields[last]}", markup=False, table_column=Column(no_wrap=True, overflow="ellipsis"))
        eta = TimeRemainingColumn(table_column=Column(no_wrap=True, min_width=7))
        columns = (BarColumn(bar_width=20), MofNCompleteColumn(table_column=Column(no_wrap=True)), eta, last)
        self._bar = Bar(*columns, console=console(err=True))

    def start(self, cells: Sequence[Cell], *, done: int, slots: int, standing: "Asked" = None) -> None:
        """Show the bar."""
        self._standing = standing
        note = f"{done} made before" if done else _at_a_time(slots, standing)
        self._task = self._bar.add_task("runs", total=len(cells), last=note)
        if cells:
            self._bar.start()

    def advance(self, cell: Cell, result: CellResult) -> None:  # noqa: ARG002  the bar counts runs
        """Move the bar."""
        now = None if self._standing is None else self._standing()
        queue = f"{now}; " if now is not None and any(now) else ""
        self._bar.update(self._task, advance=1, last=f"{queue}{describe(result)}")

    def say(self, message: str) -> None:
        """Print the message above the bar."""
        self._bar.console.print(message, markup=False, highlight=False)

    def stop(self) -> None:
        """Stop the display and leave the bar on the screen."""
        self._bar.stop()


def progress_for_terminal() -> Progress:
    """Return a bar for a terminal, and lines for a log."""
    return BarProgress() if sys.stderr.isatty() else PlainProgress()


@contextmanager
def task_progress(what: str) -> Iterator[Callable[[int, int], None]]:
    """Show how many tasks are done: a bar on a terminal, a line for every tenth in a log."""
    if not sys.stderr.isatty():
        yield _TenthByTenth(what)
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    columns = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bar(*columns, console=console(err=True), transient=True) as bar:
        task = bar.add_task(what, total=None)
        yield lambda done, whole: bar.update(task, completed=done, total=whole)


@contextmanager
def phase_progress() -> Iterator[Callable[[str, int, int], None]]:
    """Show the progress of several phases that run one after the other, by name."""
    with ExitStack() as shown:
        bars: dict[str, Callable[[int, int], None]] = {}

        def tell(what: str, done: int, whole: int) -> None:
            # One bar at a time: a new phase begins after the previous one has ended.
            if what not in bars:
                shown.close()
                bars[what] = shown.enter_context(task_progress(what))
            bars[what](done, whole)

        yield tell


class _TenthByTenth:
    """Prints the progress at most ten times."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._tenth = 0

    def __call__(self, done: int, whole: int) -> None:
        tenth = 10 * done // max(whole, 1)
        if done == 0:
            self._tenth = 0
        elif tenth > self._tenth:
            self._tenth = tenth
            say(f"{self._what}: {done} of {whole}", err=True)

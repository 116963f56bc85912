"""Open the place that `--on` names as an executor of runs, on this machine or on others."""

import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gapline.campaign.store import file_digest
from gapline.contract.contract import Arm
from gapline.contract.layout import CONTRACT_FILE, JOURNALS
from gapline.contract.plan import Cell
from gapline.contract.tables import RunStatus
from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError
from gapline.executors.core_leases import cores, lease_cores, make_slots
from gapline.executors.executors import MOST_LOST, Unfinished, run_tasks
from gapline.executors.heartbeat import heartbeat_file, heartbeat_sender, heartbeat_watch
from gapline.executors.place import MOST_JOBS, Place
from gapline.executors.worker_requirements import CalledBackError, WorkerLostError
from gapline.process.control import Control
from gapline.run.cell import CellResult, RunSettings, run_cell
from gapline.solvers import arms_lack

if TYPE_CHECKING:
    from gapline.executors.slurm_queue import Standing


@dataclass(frozen=True, slots=True)
class ReadyPlace:
    """An open place; `width` returns how many cells it currently takes at a time.

    If cells wait in a queue, `standing` returns how many of them run. `clear` removes files that were kept for the case
    of a failure.
    """

    executor: Executor
    run_one: Callable[[Cell], CellResult]
    width: Callable[[], int]
    standing: Callable[[], "Standing"] | None = None
    clear: Callable[[], None] = lambda: None


@contextmanager
def open_place(
    place: Place,
    settings: RunSettings,
    cells: Sequence[Cell],
    control: Control,
    *,
    pin: bool = True,
    executor: Executor | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Iterator[ReadyPlace]:
    """Open a place for a campaign; a given `executor` replaces the threads of a local place.

    `say` prints messages on the queue.
    """
    if place.kind == "local":
        slots = local_slots(cells, place.jobs)
        told: list[str] = []

        def say_once(text: str) -> None:
            # Each cell waits for itself; one message is enough for all.
            if not told:
                told.append(text)
                say(text)

        with _local(executor, slots, control) as threads:
            yield ReadyPlace(threads, LocalRunner(settings, control, pin, say_once), lambda: slots)
        return
    # The name of this campaign: a claim of one of its lost workers is waited for, a claim of another campaign is not.
    runner = uuid.uuid4().hex[:12]
    run_one = WorkerRunner(settings, runner, pin)
    if place.kind == "dask":
        from gapline.executors.dask_cluster import dask_executor

        with dask_executor(place.address) as dask, heartbeat_sender(settings.study, runner, control):
            arms = list({cell.arm.name: cell.arm for cell in cells}.values())
            digest = file_digest(settings.study / CONTRACT_FILE)
            problems = dask.ask_workers(worker_problems, settings.study, runner, digest, VERSION, arms)
            if problems:
                hint = "nothing was run; every worker needs the study directory, gapline and the solvers"
                raise EnvironmentLacksError("\n".join(problems), hint=hint)
            yield ReadyPlace(dask, run_one, dask.slots)
        return
    from gapline.executors.submitit_cluster import remove_jobs, submitit_executor

    seconds = max((cell.horizon for cell in cells), default=0.0) + settings.grace + settings.kill_after
    width = place.jobs or (local_slots(cells, None) if place.address == "local" else MOST_JOBS)
    with (
        submitit_executor(
            place.address,
            settings.study,
            runner,
            seconds=seconds,
            # All jobs are of one size: that of the largest run.
            threads=max((cell.threads for cell in cells), default=1),
            memory=max((cell.memory for cell in cells if cell.memory is not None), default=None),
            options=place.options,
            jobs=width,
            say=say,
        ) as jobs,
        heartbeat_sender(settings.study, runner, control),
    ):
        standing = None if place.address == "local" else jobs.standing
        yield ReadyPlace(jobs, run_one, lambda: width, standing, lambda: remove_jobs(settings.study, runner))


def local_slots(cells: Sequence[Cell], jobs: int | None) -> int:
    """Return how many runs this machine takes at a time; each run waits for the cores that it needs."""
    widths = [cell.threads for cell in cells] or [1]
    # Raises an error for runs that need more cores than there are, before any run starts.
    make_slots(cores(), width=max(widths))
    return len(make_slots(cores(), width=min(widths), count=jobs))


@contextmanager
def _local(executor: Executor | None, slots: int, control: Control) -> Iterator[Executor]:
    own = ThreadPoolExecutor(max_workers=slots) if executor is None else None
    try:
        yield executor or own  # type: ignore[misc]
    finally:
        # After an exception, no solver must outlive its runner.
        control.kill("end")
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)


@dataclass(frozen=True, slots=True)
class LocalRunner:
    """Run a cell on cores of this machine that no other run uses, of any runner or study."""

    settings: RunSettings
    control: Control
    pin: bool = True
    say: Callable[[str], None] = lambda _text: None

    def __call__(self, cell: Cell) -> CellResult:
        """Wait for cores and run the cell on them."""
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
    """Yield results as they arrive, like `run_tasks`; the result of a cell that was given up states the reason."""
    for number, result in run_tasks(cells, executor, run_one, stopping=stopping, give_up=_given_up, width=width):
        yield cells[number], result


def _given_up(cell: Cell, error: Unfinished) -> CellResult:
    if isinstance(error, CalledBackError):
        return CellResult(cell.key, "left", problems=(f"{cell.key}: {error}; the next `gapline run` makes it again",))
    problem = f"{cell.key}: {MOST_LOST + 1} workers were lost with it, the last one: {error}"
    return CellResult(cell.key, "interrupted", RunStatus.LOST, problems=(problem,))


@dataclass(frozen=True, slots=True)
class WorkerRunner:
    """Run a cell on the machine that calls it, on cores that no other run of ours uses there."""

    settings: RunSettings
    runner: str
    pin: bool = True

    def __call__(self, cell: Cell) -> CellResult:
        """Wait for cores and run the cell on them."""
        control = Control()
        study = self.settings.study
        # The runner has created it: if it is missing, this is not the shared directory.
        if not (study / JOURNALS).is_dir():
            problem = f"{cell.key}: expected the study directory {study} on the worker, got none"
            return CellResult(cell.key, "infrastructure", problems=(problem,))
        with (
            heartbeat_watch(study, self.runner, control),
            lease_cores(cell.threads, stopping=lambda: control.stopping) as lease,
        ):
            if lease is None:
                return CellResult(cell.key, "left")
            slot, held = lease
            result = run_cell(cell, self.settings, slot if self.pin else (), control, runner=self.runner, held=held)
        if result.outcome == "interrupted" and not result.problems and not control.stopping:
            # Not ended by the runner: a batch system that takes the machine away ends the supervisor by a signal.
            raise WorkerLostError(f"{cell.key}: the run was ended from outside")
        return result


def worker_problems(study: Path, runner: str, digest: str, version: str, arms: list[Arm]) -> list[str]:
    """Return what a worker lacks: the shared directory, the same gapline, the solvers. Called on the worker."""
    found = []
    if not heartbeat_file(study, runner).is_file() or file_digest(study / CONTRACT_FILE) != digest:
        found.append(f"expected the study directory {study}, shared with the runner, got none or another one")
    if version != VERSION:
        found.append(f"expected gapline {version}, got {VERSION}")
    return found + arms_lack(arms, study)

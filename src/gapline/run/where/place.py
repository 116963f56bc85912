"""Where cells run: what `--on` names, opened as an executor with the function that runs a cell there."""

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gapline.errors import EnvironmentLacksError, UsageError
from gapline.model.layout import CONTRACT_FILE
from gapline.model.plan import Cell
from gapline.model.store import file_digest
from gapline.model.text import meant
from gapline.model.version import VERSION
from gapline.run.cell import CellResult, RunSettings
from gapline.run.process.control import Control
from gapline.run.where.executors import LocalRunner
from gapline.run.where.heartbeat import beating
from gapline.run.where.pin import cores, make_slots
from gapline.run.where.worker import WorkerRunner, worker_problems

if TYPE_CHECKING:
    from gapline.run.where.slurm_queue import Standing

KINDS = ("local", "dask", "slurm", "oar", "submitit")
# Jobs of a batch system that wait or run at a time, unless `jobs=N` says otherwise.
MOST_JOBS = 500


@dataclass(frozen=True, slots=True)
class Place:
    """A parsed `--on`: `kind` is one of `KINDS`, `address` a scheduler's or the name of a submitit executor."""

    kind: str
    jobs: int | None = None
    address: str = ""
    options: dict[str, str | int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ReadyPlace:
    """An open place: `width` says how many cells it takes at a time, as it stands now.

    Where cells wait in a queue, `standing` says how many of them run. `clear` removes what was kept in case of trouble.
    """

    executor: Executor
    run_one: Callable[[Cell], CellResult]
    width: Callable[[], int]
    standing: Callable[[], "Standing"] | None = None
    clear: Callable[[], None] = lambda: None


def read_place(text: str | None, *, jobs: int | None = None) -> Place:
    """Read a place as typed; `jobs` is a number of local runs given apart from it.

    >>> read_place("local:4").jobs, read_place("dask:tcp://node1:8786").address
    (4, 'tcp://node1:8786')
    >>> read_place("slurm:partition=short,jobs=50")
    Place(kind='slurm', jobs=50, address='slurm', options={'partition': 'short'})
    """
    kind, colon, rest = (text or "local").partition(":")
    if kind not in KINDS:
        hint = meant(kind, KINDS)
        raise UsageError(f"--on: expected local:N, dask:ADDRESS, slurm or oar, got {text!r}", hint=hint)
    if jobs is not None and text is not None:
        raise UsageError("--on: expected either --jobs or --on, got both", hint=f"--on local:{jobs}")
    if kind == "local":
        if colon and not (rest.isascii() and rest.isdigit() and int(rest) > 0):
            raise UsageError(f"--on: expected local:N with a whole number from 1, got {text!r}")
        return Place(kind, int(rest) if colon else jobs)
    if kind == "dask":
        if not rest:
            raise UsageError("--on: expected dask:ADDRESS, got no address", hint="--on dask:tcp://127.0.0.1:8786")
        return Place(kind, address=rest)
    address = kind
    if kind == "submitit":
        address, _, rest = rest.partition(":")
        if not address:
            raise UsageError("--on: expected submitit:NAME, got no name", hint="--on submitit:local")
    options = _read_options(str(text), rest)
    most = options.pop("jobs", None)
    if most is not None and not (isinstance(most, int) and most > 0):
        raise UsageError(f"--on: expected jobs=N with a whole number from 1, got {text!r}")
    return Place(kind, most if isinstance(most, int) else None, address, options)


def _read_options(text: str, rest: str) -> dict[str, str | int]:
    options: dict[str, str | int] = {}
    for part in filter(None, rest.split(",")):
        name, equals, value = part.partition("=")
        if not equals or not re.fullmatch(r"[a-z][a-z0-9_]*", name):
            raise UsageError(f"--on: expected NAME=VALUE after the colon, got {part!r} in {text!r}")
        options[name] = int(value) if value.isascii() and value.isdigit() else value
    return options


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
    """Open a place for the time of a campaign; a given `executor` stands for the threads of a local one.

    `say` shows what there is to tell of a queue.
    """
    if place.kind == "local":
        slots = local_slots(cells, place.jobs)
        told: list[str] = []

        def say_once(text: str) -> None:
            # Each cell waits for itself; one line is enough for all.
            if not told:
                told.append(text)
                say(text)

        with _local(executor, slots, control) as threads:
            yield ReadyPlace(threads, LocalRunner(settings, control, pin, say_once), lambda: slots)
        return
    # Names this campaign: a claim that a lost worker of it left behind is waited for, another's is not.
    runner = uuid.uuid4().hex[:12]
    run_one = WorkerRunner(settings, runner, pin)
    if place.kind == "dask":
        from gapline.run.where.dask_cluster import dask_executor

        with dask_executor(place.address) as dask, beating(settings.study, runner, control):
            arms = list({cell.arm.name: cell.arm for cell in cells}.values())
            digest = file_digest(settings.study / CONTRACT_FILE)
            problems = dask.ask_workers(worker_problems, settings.study, runner, digest, VERSION, arms)
            if problems:
                hint = "nothing was run; every worker needs the study directory, gapline and the solvers"
                raise EnvironmentLacksError("\n".join(problems), hint=hint)
            yield ReadyPlace(dask, run_one, dask.slots)
        return
    from gapline.run.where.submitit_cluster import remove_jobs, submitit_executor

    seconds = max((cell.horizon for cell in cells), default=0.0) + settings.grace + settings.kill_after
    width = place.jobs or (local_slots(cells, None) if place.address == "local" else MOST_JOBS)
    with (
        submitit_executor(
            place.address,
            settings.study,
            runner,
            seconds=seconds,
            # One kind of job for all: as large as the largest run needs.
            threads=max((cell.threads for cell in cells), default=1),
            memory=max((cell.memory for cell in cells if cell.memory is not None), default=None),
            options=place.options,
            jobs=width,
            say=say,
        ) as jobs,
        beating(settings.study, runner, control),
    ):
        standing = None if place.address == "local" else jobs.standing
        yield ReadyPlace(jobs, run_one, lambda: width, standing, lambda: remove_jobs(settings.study, runner))


def local_slots(cells: Sequence[Cell], jobs: int | None) -> int:
    """Return how many runs there may be at a time on this machine; each waits for the cores that it needs."""
    widths = [cell.threads for cell in cells] or [1]
    # Refuses what could never run, before anything does.
    make_slots(cores(), width=max(widths))
    return len(make_slots(cores(), width=min(widths), count=jobs))


@contextmanager
def _local(executor: Executor | None, slots: int, control: Control) -> Iterator[Executor]:
    own = ThreadPoolExecutor(max_workers=slots) if executor is None else None
    try:
        yield executor or own  # type: ignore[misc]
    finally:
        # An exception must not leave solvers behind a runner that is gone.
        control.kill("end")
        if own is not None:
            own.shutdown(wait=True, cancel_futures=True)

"""Run the tasks of scoring, checking and importing outside this process, at the place that `--on` names."""

import threading
import uuid
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapline.errors import EnvironmentLacksError
from gapline.executors.core_leases import cores
from gapline.executors.executors import MOST_LOST, Unfinished, run_tasks
from gapline.executors.place import MOST_JOBS, Place, read_place
from gapline.executors.worker_requirements import (
    NOTHING_DONE,
    CalledBackError,
    CheckedCall,
    Demands,
    ErrorResult,
)
from gapline.files.memory import given_memory, memory_budget
from gapline.text import counted

# Scripts and logs of jobs, next to the data, which is on a shared file system.
JOBS_FOLDER = ".gapline-jobs"
# Time limit of a batch job in seconds, unless `slurm:time=MINUTES` is given.
JOB_SECONDS = 3600.0


@dataclass(frozen=True, slots=True)
class OpenWorkers:
    """Workers that take tasks (`executors.Workers`) as long as their place is open."""

    executor: Any
    demands: Demands
    slots: Callable[[], int]
    memory: int | None
    say: Callable[[str], None]
    progress: Callable[[int, int], None]

    def width(self) -> int:
        """Return how many tasks the place currently takes at a time."""
        return max(1, self.slots())

    def run(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call `function(*task)` for every task; yield the number of the task and its result as they finish.

        The order is arbitrary, and each task is yielded once: if its worker is lost, another one takes over, a few
        times. An exception of a task ends all and is raised here; if the caller stops iterating, all end too.
        """
        done = 0
        if tasks:
            self.progress(done, len(tasks))
        results = self.results(function, tasks)
        try:
            for number, result in results:
                value = _value_of(result)
                done += 1
                self.progress(done, len(tasks))
                yield number, value
        finally:
            results.close()  # type: ignore[attr-defined]  # it is a generator
            if done < len(tasks):
                self.executor.abandon()

    def results(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Yield the results of tasks, with our own errors as values (`ErrorResult`)."""
        call = CheckedCall(function, self.demands, self.memory)
        more: dict[str, Any] = {"give_up": _give_up, "width": self.width, "say": self.say}
        return run_tasks(tasks, self.executor, call, stopping=lambda: False, **more)


def _value_of(result: Any) -> Any:
    if isinstance(result, ErrorResult):
        raise result.error
    return result


def _give_up(_task: Any, error: Unfinished) -> ErrorResult:
    if isinstance(error, CalledBackError):
        return ErrorResult(EnvironmentLacksError(f"a task was called back: {error}"))
    return ErrorResult(EnvironmentLacksError(f"{MOST_LOST + 1} workers were lost with one task, the last one: {error}"))


class TaskExecutor(ThreadPoolExecutor):
    """Workers as a `concurrent.futures.Executor`, for callers that manage the tasks: a thread waits for each."""

    def __init__(self, workers: OpenWorkers) -> None:
        super().__init__(workers.width(), "task")
        self._workers = workers

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> Future[Any]:  # type: ignore[override]
        """Send a call; if its worker is lost, another one takes over, a few times."""
        return super().submit(lambda: _value_of(next(self._workers.results(fn, [args]))[1]))


@contextmanager
def open_workers(
    place: Place | str | None,
    *,
    paths: Sequence[str | Path],
    say: Callable[[str], None] = lambda _text: None,
    progress: Callable[[int, int], None] = lambda _done, _all: None,
) -> Iterator[OpenWorkers]:
    """Open the place that `--on` names for tasks that can be pickled.

    Parameters
    ----------
    place
        `local:N`, `dask:ADDRESS`, `slurm`, `oar` or `submitit:NAME`, as text or parsed.
    paths
        Paths that must have the same content on every worker; tasks name files by their absolute paths.
    say
        Called with messages on lost workers and on the queue.
    progress
        Called with the number of tasks done, and their total.

    Raises
    ------
    EnvironmentLacksError
        If the place cannot be opened, or a worker has another version or other data; nothing has been done then.
    """
    place = place if isinstance(place, Place) else read_place(place)
    demands = Demands.of(Path(path) for path in paths)
    with ExitStack() as stack:
        executor, slots, memory = _open(place, demands, paths, say, stack)
        closing = threading.Event()
        # Before the place is closed: calls that end then are not worth reporting.
        stack.callback(closing.set)
        yield OpenWorkers(
            executor, demands, slots, memory, lambda text: None if closing.is_set() else say(text), progress
        )


def _open(
    place: Place, demands: Demands, paths: Sequence[str | Path], say: Callable[[str], None], stack: ExitStack
) -> tuple[Any, Callable[[], int], int | None]:
    """Return the executor of a place, its number of slots, and the memory limit of a task if we set it."""
    if place.kind == "local":
        from gapline.executors.local_processes import ProcessesExecutor

        count = place.jobs or len(cores())
        processes = stack.enter_context(ProcessesExecutor(count, memory=memory_budget()))
        return processes, lambda: count, None
    if place.kind == "dask":
        from gapline.executors.dask_cluster import dask_executor

        dask = stack.enter_context(dask_executor(place.address, resource=None))
        if problems := dask.ask_workers(demands.problems):
            raise EnvironmentLacksError("\n".join(problems), hint=NOTHING_DONE)
        share = dask.memory()
        return dask, dask.slots, given_memory() or (None if share is None else share // 4)
    from gapline.executors.submitit_cluster import remove_jobs, submitit_executor

    width = place.jobs or (len(cores()) if place.address == "local" else MOST_JOBS)
    folder = (Path(paths[0]).absolute().parent if paths else Path.cwd()) / JOBS_FOLDER
    runner = uuid.uuid4().hex[:12]
    given = given_memory()
    stack.callback(remove_jobs, folder, runner)
    jobs = stack.enter_context(
        submitit_executor(
            place.address,
            folder,
            runner,
            seconds=JOB_SECONDS,
            threads=1,
            memory=None if given is None else given // 10**6,
            options=place.options,
            jobs=width,
            say=say,
        )
    )
    say(f"{counted(width, 'job')} at a time at most, with scripts and logs in {folder}")
    return jobs, lambda: width, given

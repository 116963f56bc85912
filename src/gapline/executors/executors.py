"""Run tasks on any `concurrent.futures.Executor`: a loop that keeps it busy and replaces lost workers."""

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from typing import Any, Protocol, TypeVar

from gapline.executors.worker_requirements import CalledBackError, WorkerLostError

T = TypeVar("T")
R = TypeVar("R")

Unfinished = WorkerLostError | CalledBackError
# How often a runner checks whether it was asked to stop.
LOOK_EVERY = 0.2
# Limits the damage of a cell that kills its worker each time.
MOST_LOST = 3


def run_tasks(
    tasks: Sequence[T],
    executor: Executor,
    run_one: Callable[[T], R],
    *,
    stopping: Callable[[], bool],
    give_up: Callable[[T, Unfinished], R],
    width: Callable[[], int] | None = None,
    say: Callable[[str], None] = lambda _text: None,
) -> Iterator[tuple[int, R]]:
    """Yield tasks by their number as they finish; when `stopping` returns True, tasks that have not begun are dropped.

    If the worker of a task is lost, the task goes to another worker, a few times. After that, or if its job was called
    back, `give_up` makes its result. After any other exception of a task, no further task is started, running tasks
    finish, and the exception is raised. `width` returns how many tasks may be submitted at a time (default: all); it is
    called repeatedly, because a cluster grows and shrinks. If the caller stops iterating, tasks that have not begun are
    cancelled.
    """
    waiting = deque(enumerate(tasks))
    pending: dict[Future[R], int] = {}
    lost: Counter[int] = Counter()
    failure: BaseException | None = None
    try:
        while pending or (waiting and failure is None and not stopping()):
            # At least one: a cluster without workers may get some.
            room = len(tasks) if width is None else max(1, width())
            while waiting and len(pending) < room and failure is None and not stopping():
                number, task = waiting.popleft()
                pending[executor.submit(run_one, task)] = number
            finished, _ = wait(pending, timeout=LOOK_EVERY, return_when=FIRST_COMPLETED)
            for future in finished:
                number = pending.pop(future)
                if future.cancelled() or (stopping() and isinstance(future.exception(), CalledBackError)):
                    continue
                error = future.exception()
                if error is None:
                    yield number, future.result()
                elif isinstance(error, WorkerLostError) and lost[number] < MOST_LOST:
                    lost[number] += 1
                    say(f"a worker was lost, another one takes over: {error}")
                    # At the end: a task that kills its workers must not delay the others.
                    waiting.append((number, tasks[number]))
                elif isinstance(error, Unfinished):
                    yield number, give_up(tasks[number], error)
                else:
                    failure = failure or error
            if failure is not None or stopping():
                _take_back(pending)
    finally:
        _take_back(pending)
    if failure is not None:
        raise failure


def _take_back(pending: dict[Future[R], int]) -> None:
    for future in list(pending):
        if future.cancel():
            del pending[future]


@contextmanager
def quiet_loggers(*packages: str) -> Iterator[None]:
    """Silence the loggers of packages: gapline reports the consequences for a campaign in its own words."""
    known = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in packages]
    loggers = [logging.getLogger(name) for name in {*packages, *known}]
    before = [logger.level for logger in loggers]
    for logger in loggers:
        logger.setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for logger, level in zip(loggers, before, strict=True):
            logger.setLevel(level)


class Workers(Protocol):
    """A place that runs tasks outside this process; `gapline.executors.tasks` opens the one that `--on` names."""

    def width(self) -> int:
        """Return how many tasks it currently takes at a time."""

    def run(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call `function(*task)` for every task; yield the number of the task and its result as they finish.

        The order is arbitrary, and each task is yielded once: if its worker is lost, another one takes over. An
        exception of a task ends all and is raised here.
        """

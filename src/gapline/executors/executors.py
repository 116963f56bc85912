"""Tasks on any `concurrent.futures.Executor`: the loop that keeps it busy and replaces lost workers."""

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
# How often a runner looks whether it was asked to stop.
LOOK_EVERY = 0.2
# A cell that takes its worker down each time must not take all of them.
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
    """Yield tasks by their number as they come back; once `stopping` says so, those not begun are given up.

    A task whose worker is lost is given to another one, a few times. What then comes of it, and of one whose job
    somebody called back, `give_up` says. Any other exception of a task stops the launching, lets the running ones
    finish, and is raised then. `width` says how many may be out at a time, all when left out; it is asked again and
    again, as a cluster grows and shrinks. Who reads on no more cancels what is not begun.
    """
    waiting = deque(enumerate(tasks))
    pending: dict[Future[R], int] = {}
    lost: Counter[int] = Counter()
    failure: BaseException | None = None
    try:
        while pending or (waiting and failure is None and not stopping()):
            # At least one: a cluster that has no workers at this moment may get some.
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
                    # At the end: a task that kills its workers must not hold up the others.
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
    """Keep what packages log off the terminal: what it means for a campaign is said by us, in one sentence."""
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
    """A place that runs tasks apart from this process; `gapline.executors.tasks` opens one for what `--on` names."""

    def width(self) -> int:
        """Return how many tasks it takes at a time, as it stands now."""

    def run(self, function: Callable[..., Any], tasks: Sequence[tuple[Any, ...]]) -> Iterator[tuple[int, Any]]:
        """Call `function(*task)` for every task; yield the number of the task and its result as they come.

        In any order, each once: a task whose worker is lost is given to another one, and an exception of a task ends
        all and is raised here.
        """

"""Cells on a Dask cluster: one per unit of the workers' resource `solver`."""

import contextlib
import logging
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from gapline.errors import EnvironmentLacksError
from gapline.run.where.worker import WorkerLostError

RESOURCE = "solver"
ANSWER_WITHIN = 10.0


class DaskExecutor(Executor):
    """A `concurrent.futures.Executor` over a Dask client."""

    def __init__(self, client: Any, address: str) -> None:
        self._client = client
        self._address = address

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call to a worker that has a free slot."""
        future: Future[Any] = Future()
        # Dask cannot call back a task that a worker has begun; forgotten, it would be a solver that nobody waits for.
        future.set_running_or_notify_cancel()
        # pure=False: Dask would answer a second attempt at the same cell from memory.
        task = self._client.submit(fn, *args, pure=False, resources={RESOURCE: 1}, **kwargs)
        task.add_done_callback(lambda done: _hand_on(done, future, self._address))
        return future

    def slots(self) -> int:
        """Return how many cells the cluster takes at a time, as it stands now."""
        return int(sum(worker["resources"].get(RESOURCE, 0) for worker in self._workers().values()))

    def ask_workers(self, fn: Callable[..., list[str]], *args: Any) -> list[str]:
        """Call a function on each worker with a slot; return what they answer, with their addresses."""
        workers = self._workers()
        chosen = [address for address, worker in workers.items() if worker["resources"].get(RESOURCE, 0)]
        answers = self._client.run(fn, *args, workers=chosen)
        return [f"{address}: {line}" for address, lines in sorted(answers.items()) for line in lines]

    def _workers(self) -> Any:
        try:
            return self._client.scheduler_info(n_workers=-1)["workers"]
        except (OSError, TimeoutError, ValueError) as error:
            raise _lost(self._address) from error


def _lost(address: str) -> EnvironmentLacksError:
    return EnvironmentLacksError(
        f"--on dask:{address}: expected its scheduler, got none: it was ended or cannot be reached"
    )


@contextmanager
def _quiet() -> Iterator[None]:
    """Keep what Dask logs off the terminal: what it means for a campaign is said by us, in one sentence."""
    names = [name for name in logging.root.manager.loggerDict if name.partition(".")[0] in ("distributed", "tornado")]
    before = {name: logging.getLogger(name).level for name in names}
    for name in names:
        logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    try:
        yield
    finally:
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def _hand_on(task: Any, future: Future[Any], address: str) -> None:
    """Give the outcome of a task to the future that stands for it."""
    from distributed import KilledWorker

    if task.status == "finished":
        future.set_result(task.result())
        return
    if task.status == "error":
        error = task.exception()
        future.set_exception(WorkerLostError(str(error)) if isinstance(error, KilledWorker) else error)
        return
    # Cancelled, and not by us: that is how a client learns that its scheduler is gone.
    future.set_exception(_lost(address))


@contextmanager
def dask_executor(address: str) -> Iterator[DaskExecutor]:
    """Connect to a scheduler; refuse a cluster without slots for solvers."""
    try:
        from distributed import Client
    except ImportError:
        raise EnvironmentLacksError(
            "--on dask: expected dask.distributed, got no such package", hint="pip install 'gapline[dask]'"
        ) from None
    try:
        connect: Any = Client  # it has no types
        client: Any = connect(address, timeout=ANSWER_WITHIN, set_as_default=False)
    except (OSError, ValueError) as error:
        raise EnvironmentLacksError(
            f"--on dask:{address}: expected a Dask scheduler, got {error}",
            hint="start one with: python -P -m dask scheduler",
        ) from error
    # Closed in the quiet too: a client says of a scheduler that is gone that it is.
    with _quiet():
        try:
            executor = DaskExecutor(client, address)
            if executor.slots() < 1:
                raise EnvironmentLacksError(
                    f"--on dask:{address}: expected workers with the resource {RESOURCE}, got none",
                    hint=f"python -P -m dask worker {address} --nthreads 1 --resources {RESOURCE}=1",
                )
            yield executor
        finally:
            with contextlib.suppress(OSError, TimeoutError):
                client.close()

"""Cells and tasks on a Dask cluster: a cell takes one unit of the workers' resource `solver`, a task a thread."""

import contextlib
import pickle
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from typing import Any

from gapline.errors import EnvironmentLacksError
from gapline.executors.executors import quiet_loggers
from gapline.executors.worker_requirements import WorkerLostError, call_pickled

RESOURCE = "solver"
ANSWER_WITHIN = 10.0


class DaskExecutor(Executor):
    """A `concurrent.futures.Executor` over a Dask client; a call asks for a unit of `resource`, if there is one."""

    def __init__(self, client: Any, address: str, resource: str | None = RESOURCE) -> None:
        self._client = client
        self._address = address
        self._resource = resource
        self._out: set[Any] = set()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call to a worker that has a free slot."""
        future: Future[Any] = Future()
        # Dask cannot cancel a task that a worker has begun; a cancelled future would leave its solver running.
        future.set_running_or_notify_cancel()
        # pure=False: otherwise Dask would answer a second attempt at the same cell from its cache.
        asked = {} if self._resource is None else {"resources": {self._resource: 1}}
        # As bytes: the scheduler unpickles other messages, but does not have the modules of a study.
        message = pickle.dumps((fn, args, kwargs), pickle.HIGHEST_PROTOCOL)
        task = self._client.submit(call_pickled, message, pure=False, **asked)
        self._out.add(task)
        task.add_done_callback(lambda done: self._hand_on(done, future))
        return future

    def _hand_on(self, task: Any, future: Future[Any]) -> None:
        """Copy the outcome of a task to its future."""
        from distributed import KilledWorker

        self._out.discard(task)
        if task.status == "finished":
            future.set_result(task.result())
        elif task.status == "error":
            error = task.exception()
            future.set_exception(WorkerLostError(str(error)) if isinstance(error, KilledWorker) else error)
        else:
            # Cancelled, but not by us: a client learns in this way that its scheduler is gone.
            future.set_exception(_lost(self._address))

    def abandon(self) -> None:
        """Cancel the pending calls, whose results are not needed any more; one that has begun ends by itself."""
        with contextlib.suppress(OSError, TimeoutError, ValueError):
            self._client.cancel(list(self._out), force=True)

    def slots(self) -> int:
        """Return how many calls the cluster currently takes at a time."""
        return int(sum(self._slots_of(worker) for worker in self._workers().values()))

    def memory(self) -> int | None:
        """Return the smallest memory per slot of any worker; None if no worker has a limit."""
        limits = [
            int(worker["memory_limit"] // max(1, self._slots_of(worker)))
            for worker in self._workers().values()
            if worker.get("memory_limit")
        ]
        return min(limits, default=None)

    def ask_workers(self, fn: Callable[..., list[str]], *args: Any) -> list[str]:
        """Call a function on each worker with a slot; return the answers, with the workers' addresses."""
        chosen = [address for address, worker in self._workers().items() if self._slots_of(worker)]
        answers = self._client.run(fn, *args, workers=chosen, on_error="return")
        found = []
        for address, lines in sorted(answers.items()):
            # A worker that left in the meantime lacks nothing.
            if isinstance(lines, OSError):
                continue
            # A worker that cannot be asked has another version of gapline, or none.
            said = [f"expected an answer, got {lines}"] if isinstance(lines, Exception) else lines
            found += [f"{address}: {line}" for line in said]
        return found

    def _slots_of(self, worker: Any) -> float:
        return float(worker["nthreads"] if self._resource is None else worker["resources"].get(self._resource, 0))

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
def dask_executor(address: str, *, resource: str | None = RESOURCE) -> Iterator[DaskExecutor]:
    """Connect to a scheduler; raise an error if the cluster has no workers, or none with the resource."""
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
    # Closed inside the context too: a client logs that its scheduler is gone.
    with quiet_loggers("distributed", "tornado"):
        try:
            executor = DaskExecutor(client, address, resource)
            if executor.slots() < 1:
                wanted = "workers" if resource is None else f"workers with the resource {resource}"
                options = "" if resource is None else f" --resources {resource}=1"
                raise EnvironmentLacksError(
                    f"--on dask:{address}: expected {wanted}, got none",
                    hint=f"python -P -m dask worker {address} --nthreads 1{options}",
                )
            yield executor
        finally:
            with contextlib.suppress(OSError, TimeoutError):
                client.close()

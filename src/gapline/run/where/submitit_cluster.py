"""Cells as jobs of a batch system (SLURM, OAR, or local processes) through submitit."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from gapline.errors import EnvironmentLacksError, UsageError
from gapline.run.where.worker import WorkerLostError

JOBS = "jobs"
LOOK_EVERY = 0.1
# A file server may show the result of a job that has ended a little later.
RESULT_WITHIN = 5.0
# What a job takes beside its run: starting, checking.
MARGIN = 600.0


class JobFuture(Future[Any]):
    """A future whose job can be called back as long as it waits in the queue."""

    job: Any = None

    def cancel(self) -> bool:
        """Call the job back; return False when it runs already."""
        if self.job is not None:
            # One that runs ends by the heartbeat, which lets its supervisor write how; the batch system would not.
            if self.job.state.upper() != "PENDING":
                return False
            self.job.cancel(check=False)
        return super().cancel()


class SubmititExecutor(Executor):
    """A `concurrent.futures.Executor` over one of submitit; calls that arrive together go out as one job array."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner
        self._lock = threading.Lock()
        self._waiting: list[tuple[JobFuture, Callable[..., Any], tuple[Any, ...]]] = []
        self._jobs: dict[JobFuture, float | None] = {}
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="submitit", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> JobFuture:  # type: ignore[override]
        """Send a call to the queue, with the others of this moment."""
        future = JobFuture()
        with self._lock:
            self._waiting.append((future, fn, args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002  jobs that run end by the heartbeat
        """Look after the jobs no more."""
        self._closed.set()
        if wait:
            self._thread.join()

    def _run(self) -> None:
        while not self._closed.wait(LOOK_EVERY):
            self._send()
            for future in list(self._jobs):
                self._look(future)

    def _send(self) -> None:
        with self._lock:
            batch = [entry for entry in self._waiting if not entry[0].cancelled()]
            self._waiting.clear()
            if not batch:
                return
            try:
                # One submission for all spares the scheduler hundreds of calls.
                with self._inner.batch(allow_implicit_submissions=False):
                    jobs = [self._inner.submit(fn, *args) for _, fn, args in batch]
            except Exception as error:
                for future, _, _ in batch:
                    future.set_exception(EnvironmentLacksError(f"submitit: expected a job, got {error}"))
                return
            for (future, _, _), job in zip(batch, jobs, strict=True):
                future.job = job
                self._jobs[future] = None

    def _look(self, future: JobFuture) -> None:
        """Hand on the outcome of a job that has ended."""
        job = future.job
        if future.cancelled():
            del self._jobs[future]
            return
        if not job.done():
            return
        ended = self._jobs[future] or time.monotonic()
        self._jobs[future] = ended
        found = job.paths.result_pickle.exists()
        if not found and time.monotonic() - ended < RESULT_WITHIN:
            return
        del self._jobs[future]
        if not future.set_running_or_notify_cancel():
            return
        if not found:
            future.set_exception(WorkerLostError(f"job {job.job_id} ended without a result ({job.state})"))
            return
        try:
            future.set_result(job.result())
        except Exception as error:
            future.set_exception(error)


@contextmanager
def submitit_executor(
    cluster: str,
    study: Path,
    *,
    seconds: float,
    threads: int,
    memory: int | None,
    options: Mapping[str, str | int],
) -> Iterator[SubmititExecutor]:
    """Make an executor of a batch system by its name in submitit (slurm, oar, local); `options` are its parameters.

    A job may take these seconds, threads and MB. Scripts and logs stay in `jobs/` until the campaign has ended well.
    """
    extra = cluster if cluster == "oar" else "slurm"
    try:
        import submitit
    except ImportError:
        raise EnvironmentLacksError(
            f"--on {cluster}: expected submitit, got no such package", hint=f"pip install 'gapline[{extra}]'"
        ) from None
    folder = study / JOBS
    try:
        inner = submitit.AutoExecutor(folder=folder / "%j", cluster=cluster)
    except (RuntimeError, ValueError) as error:
        raise EnvironmentLacksError(
            f"--on {cluster}: expected a batch system, got {error}",
            hint=f"run this where its commands are; pip install 'gapline[{extra}]'",
        ) from error
    try:
        inner.update_parameters(
            name="gapline",
            timeout_min=math.ceil((seconds + MARGIN) / 60),
            **_resources(cluster, threads, memory),
            **{f"{cluster}_{name}": value for name, value in options.items()},
        )
    except (NameError, ValueError, AssertionError) as error:
        raise UsageError(f"--on {cluster}: expected parameters that it knows, got {error}") from error
    executor = SubmititExecutor(inner)
    try:
        yield executor
    finally:
        executor.shutdown()


def _resources(cluster: str, threads: int, memory: int | None) -> dict[str, int]:
    """Return cores and memory of a job in the words of its batch system; OAR gives memory with the cores."""
    if cluster == "oar":
        return {"oar_cores": threads}
    # A solver that exceeds its limit is ours to stop: the job needs room for that.
    return {"cpus_per_task": threads} | ({} if memory is None else {"mem_gb": math.ceil(memory / 1000) + 1})


def remove_jobs(study: Path) -> None:
    """Remove scripts and logs of jobs that ended well: all that counts is in the journals."""
    import shutil

    with contextlib.suppress(OSError):
        shutil.rmtree(study / JOBS)

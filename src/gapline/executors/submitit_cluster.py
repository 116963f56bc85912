"""Cells as jobs of a batch system (SLURM, OAR, or local processes) through submitit."""

import contextlib
import math
import os
import shlex
import shutil
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapline.errors import EnvironmentLacksError, GaplineError, UsageError
from gapline.executors.executors import quiet_loggers
from gapline.executors.heartbeat import heartbeat_file
from gapline.executors.slurm_queue import CANCELLED, FORGOTTEN, JobState, SlurmQueue, Standing
from gapline.executors.worker_requirements import CalledBackError, WorkerLostError
from gapline.files.locks import lock_now, open_lock

JOBS = "jobs"
RUNNER_LOCK = "runner.lock"
LOOK_EVERY = 0.1
# A file server may show the result of a job that has ended a little later.
RESULT_WITHIN = 5.0
# Between two jobs a node is idle for a moment, which is not worth reporting.
NOTHING_RUNS_FOR = 5.0
# Time of a job in addition to its run: start and check.
MARGIN = 600.0
# Arrays of SLURM have at most 1,001 tasks unless a site says otherwise.
LARGEST_ARRAY = 500
CLEAR_WITHIN = 60.0
# Any non-empty value keeps the current directory off Python's path; this value shows that we set it.
SAFE_PATH = "gapline"


@dataclass(frozen=True, slots=True)
class InJob:
    """Make one call in a job."""

    call: Callable[..., Any]

    def __call__(self, *arguments: Any) -> Any:
        """Return the result of the call; a `GaplineError` is returned as a value, to keep its class and hint."""
        from submitit.core.utils import UncompletedJobError

        # It was meant for the processes that started us; a solver of the study must find the files next to it.
        if os.environ.get("PYTHONSAFEPATH") == SAFE_PATH:
            del os.environ["PYTHONSAFEPATH"]
        try:
            return self.call(*arguments)
        except GaplineError as error:
            return error
        except (WorkerLostError, UncompletedJobError) as error:
            # The batch system ends this job: exit without a result, so that its own state, or a requeue, counts.
            raise SystemExit(f"no result: {error}") from None


class JobFuture(Future[Any]):
    """A future whose job can be cancelled as long as it waits in the queue."""

    job: Any = None
    is_unwanted = False

    def cancel(self) -> bool:
        """Cancel a call that was not sent yet; for a sent job, only request it, because it may have begun."""
        self.is_unwanted = True
        return super().cancel()


class SubmititExecutor(Executor):
    """A `concurrent.futures.Executor` over one of submitit; simultaneous calls are sent as one job array."""

    def __init__(self, inner: Any, cluster: str, queue: SlurmQueue | None, say: Callable[[str], None]) -> None:
        self._inner = inner
        self._cluster = cluster
        # submitit uses `sacct`, which fails on sites without accounting and prints a warning each time.
        self._queue = queue
        self._say = say
        self._said: str | None = None
        self._idle_since: float | None = None
        self._lock = threading.Lock()
        self._waiting: list[tuple[JobFuture, Callable[..., Any], tuple[Any, ...]]] = []
        self._jobs: dict[JobFuture, float | None] = {}
        self._asked_back: set[JobFuture] = set()
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="submitit", daemon=True)
        self._thread.start()

    def submit(self, fn: Callable[..., Any], /, *args: Any) -> JobFuture:  # type: ignore[override]
        """Send a call to the queue, together with other calls of the same moment."""
        future = JobFuture()
        with self._lock:
            self._waiting.append((future, InJob(fn), args))
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:  # noqa: ARG002  jobs that run end by the heartbeat
        """Stop watching the jobs, and cancel those that still wait."""
        self._closed.set()
        if wait:
            self._thread.join()
            if self._queue is not None and self._jobs:
                self._queue.cancel([future.job.job_id for future in self._jobs], waiting_only=True)

    def abandon(self) -> None:
        """Cancel all jobs, waiting or running, because their results are not needed any more."""
        with self._lock:
            for future, _, _ in self._waiting:
                future.cancel()
        jobs = [future.job for future in list(self._jobs)]
        if self._queue is not None:
            self._queue.cancel([job.job_id for job in jobs])
            self._queue.wait_until_gone([job.job_id for job in jobs], patience=CLEAR_WITHIN)
            return
        for job in jobs:
            job.cancel(check=False)
        deadline = time.monotonic() + CLEAR_WITHIN
        while time.monotonic() < deadline and not all(job.done() for job in jobs):
            # Polled: there is no notification when a job ends.
            time.sleep(LOOK_EVERY)

    def standing(self) -> Standing:
        """Return how many jobs run and wait, according to the batch system's last answer."""
        states = [self._state(future.job) for future in list(self._jobs)]
        running = sum(state.is_running for state in states)
        return Standing(running, sum(not state.has_ended for state in states) - running)

    def _run(self) -> None:
        while not self._closed.wait(LOOK_EVERY):
            self._send()
            if not self._jobs:
                continue
            if self._queue is not None:
                self._queue.look()
            self._call_back()
            for future in list(self._jobs):
                self._look(future)
            self._tell()

    def _send(self) -> None:
        with self._lock:
            batch = [entry for entry in self._waiting if entry[0].set_running_or_notify_cancel()]
            self._waiting.clear()
        for first in range(0, len(batch), LARGEST_ARRAY):
            part = batch[first : first + LARGEST_ARRAY]
            try:
                # One submission for all of them saves the scheduler hundreds of calls.
                with _safe_path(), self._inner.batch(allow_implicit_submissions=False):
                    jobs = [self._inner.submit(fn, *args) for _, fn, args in part]
            except Exception as error:
                for future, _, _ in part:
                    future.set_exception(
                        EnvironmentLacksError(f"--on {self._cluster}: expected a job, got {_last_line(error)}")
                    )
                continue
            for (future, _, _), job in zip(part, jobs, strict=True):
                future.job = job
                self._jobs[future] = None
            if self._queue is not None:
                self._queue.look(now=True)
                self._queue.expect_change()

    def _call_back(self) -> None:
        """Cancel unwanted jobs in one call, and find out which of them had not begun."""
        unwanted = [future for future in self._jobs if future.is_unwanted and future not in self._asked_back]
        if not unwanted:
            return
        self._asked_back.update(unwanted)
        # A running job ends by the heartbeat, so that its supervisor can write the ending; `scancel` prevents that.
        if self._queue is not None:
            self._queue.cancel([future.job.job_id for future in unwanted], waiting_only=True)
            self._queue.look(now=True)
            return
        for future in unwanted:
            if future.job.state.upper() in ("PENDING", "WAITING"):
                future.job.cancel(check=False)
                self._drop(future, CalledBackError(f"job {future.job.job_id} was called back"))

    def _look(self, future: JobFuture) -> None:
        """Pass on the outcome of a job that has ended."""
        job = future.job
        found = job.paths.result_pickle.exists()
        state = self._state(job)
        if not found and not (state.has_ended if self._queue is not None else job.done()):
            # When a node fails, its jobs return to the queue: they may seem to have ended for a moment.
            self._jobs[future] = None
            return
        ended = self._jobs[future] or time.monotonic()
        self._jobs[future] = ended
        if found:
            try:
                value = job.result()
            except Exception as error:
                self._drop(future, error)
                return
            if isinstance(value, GaplineError):
                self._drop(future, value)
                return
            self._drop(future)
            future.set_result(value)
        elif time.monotonic() - ended >= RESULT_WITHIN:
            # An array task that is cancelled before it begins leaves the queue without a trace and has no log.
            if state.name == CANCELLED or (state.name == FORGOTTEN and not job.paths.stdout.exists()):
                self._drop(future, CalledBackError(f"job {job.job_id} was cancelled"))
                return
            message = f"job {job.job_id} ended without a result ({state.name.lower()})"
            self._drop(future, WorkerLostError(f"{message}{_last_words(job)}"))

    def _drop(self, future: JobFuture, error: BaseException | None = None) -> None:
        del self._jobs[future]
        self._asked_back.discard(future)
        if error is not None:
            future.set_exception(error)

    def _state(self, job: Any) -> JobState:
        return JobState(job.state.upper()) if self._queue is None else self._queue.state(job.job_id)

    def _tell(self) -> None:
        """Report when jobs begin to run, when none has run for a while, and when the batch system does not answer."""
        if self._queue is None or not self._jobs:
            return
        if self._queue.silence is not None:
            self._say_once(f"SLURM does not answer, its jobs are waited for: {self._queue.silence}", "silent")
            return
        standing = self.standing()
        if standing.running:
            self._idle_since = None
            self._say_once(f"queue: {standing}", "running")
            return
        self._idle_since = self._idle_since or time.monotonic()
        if standing.waiting and time.monotonic() - self._idle_since >= NOTHING_RUNS_FOR:
            reasons = sorted({self._state(future.job).reason for future in self._jobs} - {""})
            self._say_once(f"queue: {standing}{f' ({chr(44).join(reasons)})' if reasons else ''}", "idle")

    def _say_once(self, message: str, kind: str) -> None:
        if self._said != kind:
            self._said = kind
            self._say(message)


def _last_line(error: Exception) -> str:
    """Return the error message of a command, without the traceback around it."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return next((line for line in lines if "error:" in line), lines[-1] if lines else type(error).__name__)


def _last_words(job: Any) -> str:
    """Return the last line of a job's log, as the end of a sentence."""
    try:
        lines = [line.strip() for line in job.paths.stderr.read_text(errors="replace").splitlines() if line.strip()]
    except OSError:
        return ""
    return f"; it said: {lines[-1][:200]}" if lines else ""


@contextmanager
def _safe_path() -> Iterator[None]:
    """Keep the current directory off Python's path in the processes that submitit starts here."""
    before = os.environ.get("PYTHONSAFEPATH")
    os.environ["PYTHONSAFEPATH"] = before or SAFE_PATH
    try:
        yield
    finally:
        if not before:
            del os.environ["PYTHONSAFEPATH"]


@contextmanager
def submitit_executor(
    cluster: str,
    study: Path,
    runner: str,
    *,
    seconds: float,
    threads: int,
    memory: int | None,
    options: Mapping[str, str | int],
    jobs: int,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[SubmititExecutor]:
    """Open an executor of a batch system by its name in submitit (slurm, oar, local); `options` are its parameters.

    `seconds`, `threads` and `memory` (MB) bound a job. Scripts and logs stay in `jobs/RUNNER` until `remove_jobs`.
    """
    folder = study / JOBS / runner
    with _holding(folder), quiet_loggers("submitit"):
        inner = _inner_executor(cluster, folder, jobs, options, seconds=seconds, **_resources(cluster, threads, memory))
        queue = SlurmQueue() if cluster == "slurm" else None
        if queue is not None:
            queue.look(now=True)
            if queue.silence is not None:
                raise EnvironmentLacksError(
                    f"--on slurm: expected SLURM to answer, got {queue.silence}", hint="does `squeue` work here?"
                )
            call_back_orphans(study, queue, say)
        executor = SubmititExecutor(inner, cluster, queue, say)
        try:
            yield executor
        finally:
            executor.shutdown()


def _inner_executor(
    cluster: str, folder: Path, jobs: int, options: Mapping[str, str | int], *, seconds: float, **resources: int
) -> Any:
    extra = cluster if cluster == "oar" else "slurm"
    try:
        import submitit
    except ImportError:
        raise EnvironmentLacksError(
            f"--on {cluster}: expected submitit, got no such package", hint=f"pip install 'gapline[{extra}]'"
        ) from None
    # -P: a job starts in the directory of the runner, whose files must not be imported as modules.
    python = {f"{cluster}_python": f"{shlex.quote(sys.executable)} -P"} if cluster in ("slurm", "oar", "local") else {}
    try:
        inner = submitit.AutoExecutor(folder=folder / "%j", cluster=cluster, **python)
    except (RuntimeError, ValueError) as error:
        raise EnvironmentLacksError(
            f"--on {cluster}: expected a batch system, got {error}",
            hint=f"run this where its commands are; pip install 'gapline[{extra}]'",
        ) from error
    named = {f"{cluster}_{name}": value for name, value in options.items()}
    if cluster == "slurm":
        named.setdefault("slurm_array_parallelism", jobs)
    try:
        inner.update_parameters(
            name="gapline",
            timeout_min=math.ceil((seconds + MARGIN) / 60),
            **resources,
            **named,
        )
    except (NameError, ValueError, AssertionError) as error:
        raise UsageError(f"--on {cluster}: expected parameters that it knows, got {error}") from error
    return inner


def _resources(cluster: str, threads: int, memory: int | None) -> dict[str, int]:
    """Return cores and memory of a job as parameters of its batch system; OAR assigns memory with the cores."""
    if cluster == "oar":
        return {"oar_cores": threads}
    # We stop a solver that exceeds its limit ourselves: the job needs some more memory for that.
    return {"cpus_per_task": threads} | ({} if memory is None else {"mem_gb": math.ceil(memory / 1000) + 1})


@contextmanager
def _holding(folder: Path) -> Iterator[None]:
    """Hold the lock that shows other processes that the runner of these jobs is alive."""
    folder.mkdir(parents=True, exist_ok=True)
    file = open_lock(folder / RUNNER_LOCK)
    try:
        lock_now(file)
        yield
    finally:
        os.close(file)
        if sorted(path.name for path in folder.glob("*")) == [RUNNER_LOCK]:
            remove_jobs(folder.parents[1], folder.name)


def call_back_orphans(study: Path, queue: SlurmQueue, say: Callable[[str], None]) -> None:
    """Cancel the jobs of runners that were killed: nothing waits for them, and they would hold their cells."""
    for folder in sorted(path for path in (study / JOBS).iterdir() if path.is_dir()):
        file = open_lock(folder / RUNNER_LOCK)
        try:
            if not lock_now(file):
                continue
            queue.look(now=True)
            jobs = [path.name for path in folder.iterdir() if path.is_dir()]
            alive = [job for job in jobs if not queue.state(job).has_ended]
            if alive:
                say(f"calling back {len(alive)} jobs of a runner that is gone")
                queue.cancel(alive)
                queue.wait_until_gone(alive, patience=CLEAR_WITHIN)
            heartbeat_file(study, folder.name).unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)
        finally:
            os.close(file)


def remove_jobs(study: Path, runner: str) -> None:
    """Remove scripts and logs of jobs that ended well, and empty folders; all results are elsewhere."""
    shutil.rmtree(study / JOBS / runner, ignore_errors=True)
    # Another runner may have jobs of its own.
    with contextlib.suppress(OSError):
        (study / JOBS).rmdir()
        # Never removes a study, which contains its contract.
        study.rmdir()

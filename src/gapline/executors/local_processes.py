"""Worker processes on this machine, each with its share of the cores and the memory."""

import contextlib
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from itertools import pairwise
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from queue import SimpleQueue
from typing import Any

from gapline.executors.worker_requirements import WorkerLostError, call_pickled
from gapline.files.memory import limited_memory


def core_shares(cores: Sequence[int], count: int) -> list[list[int]]:
    """Divide cores among processes; if there are more processes than cores, some share one.

    >>> core_shares([0, 1, 2, 3, 4], 2), core_shares([4, 5], 3)
    ([[0, 1], [2, 3, 4]], [[4], [5], [4]])
    """
    if count > len(cores):
        return [[cores[number % len(cores)]] for number in range(count)]
    edges = [number * len(cores) // count for number in range(count + 1)]
    return [list(cores[low:high]) for low, high in pairwise(edges)]


class ProcessesExecutor(Executor):
    """A `concurrent.futures.Executor` over processes; if one dies, only its own call is lost.

    Processes are spawned: a fork of a process with threads, such as those of Polars, may wait for a lock for ever.
    """

    def __init__(self, count: int, *, memory: int) -> None:
        cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
        shares = core_shares(cores, count) if cores else [[]] * count
        self._slots = [_Slot(share, memory // count) for share in shares]
        self._free: SimpleQueue[_Slot] = SimpleQueue()
        for slot in self._slots:
            self._free.put(slot)
        # Started here, because it unblocks SIGINT in the thread that starts it.
        resource_tracker.ensure_running()
        self._threads = ThreadPoolExecutor(count, "process", initializer=_leave_ctrl_c_to_others)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        """Send a call to the next free process."""
        return self._threads.submit(self._call, fn, args, kwargs)

    def _call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        slot = self._free.get()
        try:
            return slot.call(fn, args, kwargs)
        finally:
            self._free.put(slot)

    def abandon(self) -> None:
        """Kill the calls under way, whose results are not needed any more; the next call gets a new process."""
        for slot in self._slots:
            slot.kill()

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the processes, even if they are working."""
        for slot in self._slots:
            slot.close()
        self._threads.shutdown(wait=wait, cancel_futures=cancel_futures)
        if wait:
            for slot in self._slots:
                slot.reap()


# Starting a process reaps all ended ones: not while another thread waits for the exit code of one.
_reaping = threading.Lock()


def _leave_ctrl_c_to_others() -> None:
    # Inherited by processes from the thread that starts them: Ctrl-C reaches the whole group, but only we handle it.
    signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})


class _Slot:
    """The slot of one process; a process that dies is replaced."""

    def __init__(self, cores: Sequence[int], memory: int) -> None:
        self._given = (list(cores), memory)
        self._lock = threading.Lock()
        self._closed = False
        self._killed = False
        self._process: Any = None
        self._pipe: Connection | None = None

    def call(self, fn: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Make a call in the process, which is started if there is none."""
        message = pickle.dumps((fn, args, kwargs), pickle.HIGHEST_PROTOCOL)
        process, pipe = self._running()
        try:
            pipe.send_bytes(message)
            # Wait for the process too: a program that it started may hold the pipe open after its death.
            answer = pipe.recv_bytes() if pipe in wait([pipe, process.sentinel]) else None
        except (EOFError, OSError):
            answer = None
        if answer is None:
            with _reaping:
                process.join()
            self._forget()
            raise WorkerLostError(f"process {process.pid} {_ended(process.exitcode)}")
        is_result, value = pickle.loads(answer)
        if is_result:
            return value
        raise value

    def _running(self) -> tuple[Any, Connection]:
        with self._lock, _reaping:
            if self._closed:
                raise WorkerLostError("its processes were ended")
            if self._killed and self._process is not None:
                self._process.join()
            self._killed = False
            if self._process is None or self._pipe is None or not self._process.is_alive():
                self._pipe, theirs = multiprocessing.Pipe()
                given = (theirs, *self._given)
                self._process = SpawnProcess(target=_serve, args=given, name="gapline-worker", daemon=True)
                self._process.start()
                theirs.close()
            return self._process, self._pipe

    def _forget(self) -> None:
        with self._lock:
            if self._pipe is not None:
                self._pipe.close()
            self._process = self._pipe = None

    def kill(self) -> None:
        """Kill the process now; the threads that wait for its answer, or for a new process, wait for its end."""
        with self._lock:
            if self._process is not None:
                self._process.kill()
                self._killed = True

    def reap(self) -> None:
        """Wait for the end of a process that was killed while idle."""
        with self._lock, _reaping:
            if self._process is not None:
                self._process.join()

    def close(self) -> None:
        """Kill the process and never start another one."""
        with self._lock:
            self._closed = True
        self.kill()


def _ended(code: int | None) -> str:
    if code is not None and code < 0:
        return f"was ended by {signal.Signals(-code).name}"
    return f"ended with exit code {code}"


def _serve(pipe: Connection, cores: list[int], memory: int) -> None:
    """Answer calls until the pipe closes; this is the main loop of the process."""
    threading.Thread(target=_die_with_parent, daemon=True).start()
    if cores:
        with contextlib.suppress(OSError):
            os.sched_setaffinity(0, cores)
        # Polars reads it on import, which comes later.
        os.environ.setdefault("POLARS_MAX_THREADS", str(len(cores)))
    with limited_memory(memory):
        while True:
            try:
                message = pipe.recv_bytes()
            except (EOFError, OSError):
                return
            pipe.send_bytes(_answer(message))


def _answer(message: bytes) -> bytes:
    try:
        return pickle.dumps((True, call_pickled(message)), pickle.HIGHEST_PROTOCOL)
    # Any exception is for the caller.
    except Exception as error:
        trace = traceback.format_exc()
        error.add_note(trace)
        try:
            data = pickle.dumps((False, error), pickle.HIGHEST_PROTOCOL)
            pickle.loads(data)
        except Exception:
            return pickle.dumps((False, RuntimeError(f"{type(error).__name__}: {error}\n{trace}")))
        return data


def _die_with_parent() -> None:
    # The pipe is no indication: a living process may have inherited its other end.
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)

"""Processes of this machine that work for one command, and never outlive it."""

import multiprocessing
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing.connection import wait

from gapline.model.threads import thread_count


@contextmanager
def process_pool(workers: int | None = None) -> Iterator[Executor]:
    """Open a pool of processes, one per core unless told; each is started when there is work for it.

    They are spawned, never forked: the threads of Polars are missing in a forked child, which hangs. Work that was not
    begun is given up where the block is left by an exception.
    """
    pool = ProcessPoolExecutor(
        max_workers=workers or thread_count(), mp_context=multiprocessing.get_context("spawn"), initializer=_begin
    )
    try:
        yield pool
    except BaseException:
        pool.shutdown(wait=True, cancel_futures=True)
        raise
    pool.shutdown(wait=True)


def _begin() -> None:
    """Set up a worker, before it loads what it works with."""
    # As many processes as cores: a thread pool of Polars in each of them would be too many by that factor.
    os.environ["POLARS_MAX_THREADS"] = "1"
    # Ctrl-C reaches every process of a terminal; the one that waits for the results decides.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """End when the parent does, however it ends: a worker that waits for work would otherwise wait forever."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        wait([parent.sentinel])
        os._exit(1)

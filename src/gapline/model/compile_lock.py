"""One process compiles a function, those that want it at the same time wait for it: a lock beside the kept code."""

import contextlib
import fcntl
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NAME = "gapline-compiling.lock"
# Seconds after which a process compiles by itself: the one that holds the lock may be stopped.
PATIENCE = 60.0
_AGAIN = 0.02

# How often this process has taken the lock of a folder: a function is compiled while its caller is.
_depth: dict[Path, int] = {}


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; where it cannot be had, go on without: then code is made twice, and is the same.

    The system lets go of the lock when its holder ends, however it does.
    """
    handle = None if _depth.get(folder, 0) else _take(folder)
    _depth[folder] = _depth.get(folder, 0) + 1
    try:
        yield
    finally:
        _depth[folder] -= 1
        if handle is not None:
            os.close(handle)


def _take(folder: Path) -> int | None:
    """Return the handle of a lock that is ours; None where there is no place, no lock, or no end of waiting."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o666)
    except OSError:
        return None
    end = time.monotonic() + PATIENCE
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() < end:
                time.sleep(_AGAIN)
                continue
        except OSError:
            # Some network file systems have no locks.
            pass
        else:
            return handle
        os.close(handle)
        return None


def compile_once(made: Any) -> None:
    """Have a function of Numba's look for kept code again once it has the lock, and compile while it holds it."""
    from numba.core.compiler_lock import global_compiler_lock

    cache = made._cache
    folder = getattr(cache, "cache_path", None)
    if folder is None:
        # Nothing of it is kept.
        return
    plain_compile, plain_load = made.compile, cache.load_overload
    held: list[contextlib.ExitStack] = []

    def load(*arguments: Any) -> Any:
        found = plain_load(*arguments)
        if found is None and held:
            held[-1].enter_context(hold(Path(folder)))
            found = plain_load(*arguments)
        return found

    def compile_under_lock(*arguments: Any) -> Any:
        # Numba's own lock, of the threads of this process, which may be taken again by whoever has it.
        with global_compiler_lock, contextlib.ExitStack() as stack:
            held.append(stack)
            try:
                return plain_compile(*arguments)
            finally:
                held.pop()

    cache.load_overload = load
    made.compile = compile_under_lock

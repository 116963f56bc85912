"""Compile functions on first use, cache the machine code, and use NumPy instead for small data."""

import contextlib
import fcntl
import os
import stat
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial, update_wrapper
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np

Function = Callable[..., Any]

# A pass is small if its largest array has at most this many elements (usually candidates).
SMALL = 100_000
# Elements that a process handles in NumPy before it compiles; this takes about as long as loading the compiler.
ALLOWANCE = 4_000_000
# Minimum number of elements counted per pass, because calls cost time too.
_LEAST = 3_000
# `always` compiles everything; `never` compiles nothing that NumPy can do, however large.
VARIABLE = "GAPLINE_COMPILE"

_spent = 0


def is_small(arguments: tuple[object, ...]) -> bool:
    """Say whether NumPy should do a pass over these arrays; if so, count it against the allowance."""
    global _spent  # noqa: PLW0603 (what this process has done so far)
    said = os.environ.get(VARIABLE)
    if said in {"always", "never"}:
        return said == "never"
    size = max((one.size for one in arguments if isinstance(one, np.ndarray)), default=0)
    if size > SMALL or _spent >= ALLOWANCE:
        return False
    _spent += max(size, _LEAST)
    return True


NAME = "gapline-compiling.lock"
# Seconds to wait for the lock before compiling without it, because the process that holds it may be suspended.
PATIENCE = 60.0
_AGAIN = 0.02

# Depth of nested locks per folder: a function is compiled during the compilation of its caller.
_depth: dict[Path, int] = {}


@contextlib.contextmanager
def hold(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder; if it is not available, continue without it and compile the same code twice.

    The system releases the lock when its holder ends for any reason.
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
    """Return the handle of the acquired lock; None if it cannot be created or is not free within PATIENCE."""
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
            # Some network file systems do not support locks.
            pass
        else:
            return handle
        os.close(handle)
        return None


def compile_once(made: Any) -> None:
    """Make a Numba function compile under the lock, after checking the cache once more when it has the lock."""
    from numba.core.compiler_lock import global_compiler_lock

    cache = made._cache
    folder = getattr(cache, "cache_path", None)
    if folder is None:
        # The function is not cached.
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
        # Numba's own reentrant lock, which serialises the threads of this process.
        with global_compiler_lock, contextlib.ExitStack() as stack:
            held.append(stack)
            try:
                return plain_compile(*arguments)
            finally:
                held.pop()

    cache.load_overload = load
    made.compile = compile_under_lock


def with_names(function: Function, names: dict[str, Any]) -> Function:
    """Return a copy of a function with some of its global names replaced."""
    known = function.__globals__ | names
    copy = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    update_wrapper(copy, function)
    # Otherwise `inspect` would follow this attribute to the original function and its names.
    del copy.__dict__["__wrapped__"]
    return copy


# Notes that a command prints once.
notes: list[str] = []


class Compiled:
    """A function that is compiled when a call first needs it; until then Numba is not loaded.

    `small` computes the same in NumPy, bit-identical, for calls with little data (see `is_small`).
    """

    def __init__(self, function: Function, small: Function | None, make: Callable[[Function], Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.small = function, small
        self._make, self._machine = make, None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code, or the NumPy version for little data."""
        if self.small is not None and is_small(arguments):
            return self.without_machine(*arguments)
        return self.machine()(*arguments)

    def without_machine(self, *arguments: Any) -> Any:
        """Call the NumPy version; like machine code, it gives no warning on overflow."""
        assert self.small is not None
        with np.errstate(all="ignore"):
            return self.small(*arguments)

    def machine(self) -> Any:
        """Return the Numba function, which compiles at its first call with new argument types."""
        if self._machine is None:
            with _making:
                # Another thread may have created it meanwhile.
                if self._machine is None:
                    self._machine = self._make(_know_machines(self.py_func))
        return self._machine


# Ensures that each function is created once, even with several threads.
_making = threading.RLock()


def compiled(*, small: Function | None = None, keep: bool = True, **options: Any) -> Callable[[Function], Compiled]:
    """Compile a function when it is first needed, and cache the machine code for other processes.

    Parameters
    ----------
    small
        Bit-identical NumPy version for small arrays.
    keep
        False for a function that is only compiled into its callers.
    options
        Options of `numba.njit`.
    """

    def decorate(function: Function) -> Compiled:
        make = partial(_make, options=options, keep=keep)
        return Compiled(function, small, make)

    return decorate


def _know_machines(function: Function) -> Function:
    """Return the function with the names of compiled functions bound to their Numba functions, as Numba requires."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return with_names(function, {name: one.machine() for name, one in named.items() if isinstance(one, Compiled)})


def _make(function: Function, *, options: dict[str, Any], keep: bool) -> Any:
    import numba

    if not keep:
        return numba.njit(**options)(function)
    try:
        made = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # Numba can write neither next to the package, nor in the home directory, nor in NUMBA_CACHE_DIR.
        made = numba.njit(cache=_use_temporary(), **options)(function)
    _forgive_full_disk(made)
    compile_once(made)
    return made


def _use_temporary() -> bool:
    """Make Numba cache in a private temporary directory; return False if none is available."""
    import numba

    place = temporary_place()
    if not notes and str(place) != numba.config.CACHE_DIR:  # type: ignore[attr-defined]
        where = "nowhere: each command compiles anew" if place is None else f"in {place}"
        hint = "NUMBA_CACHE_DIR names a better place"
        notes.append(f"no usual place for compiled code can be written: it is kept {where}; {hint}")
    if place is None:
        return False
    numba.config.CACHE_DIR = str(place)  # type: ignore[attr-defined]
    return True


def temporary_place() -> Path | None:
    """Return a directory that only this user can write to, because other writers could make us run their code."""
    with contextlib.suppress(OSError):
        place = Path(tempfile.gettempdir()) / f"gapline-compiled-{os.getuid()}"
        with contextlib.suppress(FileExistsError):
            place.mkdir(mode=0o700)
        found = place.lstat()
        ours = stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o022
        if not ours:
            place = Path(tempfile.mkdtemp(prefix="gapline-compiled-"))
        with tempfile.TemporaryFile(dir=place):
            return place
    return None


def _forgive_full_disk(made: Any) -> None:
    """Ignore errors while saving compiled code, such as a full disk: the code can be used in any case."""
    cache = getattr(made, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is None:
        return

    def save_or_not(*arguments: Any) -> None:
        with contextlib.suppress(OSError):
            save(*arguments)

    with contextlib.suppress(AttributeError):
        cache.save_overload = save_or_not  # type: ignore[union-attr]

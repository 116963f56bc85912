"""Compiled functions: when they are compiled, where they are cached, and what runs instead for small data."""

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

# Elements of the largest array of a pass that is small: candidates, as a rule.
SMALL = 100_000
# Elements that a process works through in NumPy: about as long as loading the compiler takes.
ALLOWANCE = 4_000_000
# What a pass counts at the least: calls cost too.
_LEAST = 3_000
# `always` compiles all, `never` nothing that NumPy can do, however large.
VARIABLE = "GAPLINE_COMPILE"

_spent = 0


def is_small(arguments: tuple[object, ...]) -> bool:
    """Say whether a pass over these arrays is for NumPy, and count it if so."""
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


def with_names(function: Function, names: dict[str, Any]) -> Function:
    """Return a function that finds other things under some of the names that it uses."""
    known = function.__globals__ | names
    copy = FunctionType(function.__code__, known, function.__name__, function.__defaults__, function.__closure__)
    update_wrapper(copy, function)
    # Whoever asks for its source or its names would be led to the one that was copied.
    del copy.__dict__["__wrapped__"]
    return copy


# What a command has to say about it, once.
notes: list[str] = []


class Compiled:
    """A function that becomes machine code when a call of it first needs that; until then Numba is not loaded.

    `small` does the same without, to the last bit, for calls that are not worth it (`native/compilation.py`).
    """

    def __init__(self, function: Function, small: Function | None, make: Callable[[Function], Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.small = function, small
        self._make, self._machine = make, None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code, or what does the same without it."""
        if self.small is not None and is_small(arguments):
            return self.without_machine(*arguments)
        return self.machine()(*arguments)

    def without_machine(self, *arguments: Any) -> Any:
        """Call what does the same; as machine code does, it says nothing where numbers overflow."""
        assert self.small is not None
        with np.errstate(all="ignore"):
            return self.small(*arguments)

    def machine(self) -> Any:
        """Return Numba's function, which compiles at its first call with arguments of new types."""
        if self._machine is None:
            with _making:
                # Another thread may have made it meanwhile.
                if self._machine is None:
                    self._machine = self._make(_know_machines(self.py_func))
        return self._machine


# Threads make each function once.
_making = threading.RLock()


def compiled(*, small: Function | None = None, keep: bool = True, **options: Any) -> Callable[[Function], Compiled]:
    """Compile a function when it is first needed, and keep the machine code for the next process.

    Parameters
    ----------
    small
        Does the same for small arrays without machine code, to the last bit.
    keep
        False for a function that is compiled into those that call it, and nowhere else.
    options
        Those of `numba.njit`.
    """

    def decorate(function: Function) -> Compiled:
        make = partial(_make, options=options, keep=keep)
        return Compiled(function, small, make)

    return decorate


def _know_machines(function: Function) -> Function:
    """Return the function with the machine code of what it calls in the place of those names: Numba looks there."""
    named = {name: function.__globals__.get(name) for name in function.__code__.co_names}
    return with_names(function, {name: one.machine() for name, one in named.items() if isinstance(one, Compiled)})


def _make(function: Function, *, options: dict[str, Any], keep: bool) -> Any:
    import numba

    if not keep:
        return numba.njit(**options)(function)
    try:
        made = numba.njit(cache=True, **options)(function)
    except RuntimeError:
        # Neither beside the package, nor under the home directory, nor where NUMBA_CACHE_DIR says.
        made = numba.njit(cache=_use_temporary(), **options)(function)
    _forgive_full_disk(made)
    compile_once(made)
    return made


def _use_temporary() -> bool:
    """Let numba keep its files in a temporary directory of ours; False where there is none either."""
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
    """Return a directory that only we can write to: whoever else could would have us run code of theirs."""
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
    """Go on without keeping the code where the disk is full: it is compiled, and that was asked for."""
    cache = getattr(made, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is None:
        return

    def save_or_not(*arguments: Any) -> None:
        with contextlib.suppress(OSError):
            save(*arguments)

    with contextlib.suppress(AttributeError):
        cache.save_overload = save_or_not  # type: ignore[union-attr]

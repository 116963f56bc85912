"""Functions compiled once and kept on disk; where no place can be written, in a temporary one, or not at all."""

import contextlib
import os
import stat
import tempfile
import threading
from collections.abc import Callable
from functools import partial, update_wrapper
from pathlib import Path
from typing import Any

import numpy as np

from gapline.model.allowance import is_small
from gapline.model.compile_lock import compile_once
from gapline.model.interpreted import run_interpreted, with_names

Function = Callable[..., Any]

# What a command has to say about it, once.
notes: list[str] = []


class Compiled:
    """A function that becomes machine code when a call of it first needs that; until then Numba is not loaded.

    `small` does the same without, to the last bit, for calls that are not worth it (`model/allowance.py`).
    """

    def __init__(self, function: Function, small: Function | None, cost: int, make: Callable[[Function], Any]) -> None:
        update_wrapper(self, function)
        self.py_func, self.small, self.cost = function, small, cost
        self._make, self._machine = make, None

    def __call__(self, *arguments: Any) -> Any:
        """Call the machine code, or what does the same without it."""
        if self.small is not None and is_small(arguments, self.cost):
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
# A number that Python works out costs as much as so many elements of an array.
_INTERPRETED = 300


def compiled(
    *, small: Function | None = None, interpreted: bool = False, keep: bool = True, **options: Any
) -> Callable[[Function], Compiled]:
    """Compile a function when it is first needed, and keep the machine code for the next process.

    Parameters
    ----------
    small
        Does the same for small arrays without machine code, to the last bit.
    interpreted
        Few numbers are worked out by the function as it is written, which Python runs (`model/interpreted.py`).
    keep
        False for a function that is compiled into those that call it, and nowhere else.
    options
        Those of `numba.njit`.
    """

    def decorate(function: Function) -> Compiled:
        make = partial(_make, options=options, keep=keep)
        if interpreted:
            return Compiled(function, partial(run_interpreted, function), _INTERPRETED, make)
        return Compiled(function, small, 1, make)

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

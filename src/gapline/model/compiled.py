"""Functions compiled once and kept on disk; where no place can be written, in a temporary one, or not at all."""

import contextlib
import os
import stat
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba

Function = Callable[..., Any]

# What a command has to say about it, once.
notes: list[str] = []


def compiled(**options: Any) -> Callable[[Function], Function]:
    """Compile a function at its first call, and keep the machine code for the next process."""

    def decorate(function: Function) -> Function:
        try:
            made = numba.njit(cache=True, **options)(function)
        except RuntimeError:
            # Neither beside the package, nor under the home directory, nor where NUMBA_CACHE_DIR says.
            made = numba.njit(cache=_use_temporary(), **options)(function)
        _forgive_full_disk(made)
        return made  # type: ignore[no-any-return]

    return decorate


def _use_temporary() -> bool:
    """Let numba keep its files in a temporary directory of ours; False where there is none either."""
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

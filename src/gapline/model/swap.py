"""A new directory in the place of an old one, in one step: whoever is killed leaves the old one or the new one, whole.

Files that are not ours are linked into the new directory before the step: they are never out of sight.
"""

import contextlib
import ctypes
import fcntl
import os
import re
import tempfile
from collections.abc import Callable, Container, Iterator
from contextlib import contextmanager
from pathlib import Path

from gapline.model.writing import SUFFIX, naming

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def replace_directory(directory: Path, fill: Callable[[Path], object], *, ours: Container[str]) -> None:
    """Fill a new directory and put it in the place of `directory`, where only what is named in `ours` is replaced."""
    # A link to the directory stays a link; the new directory takes the place of what it points to.
    # By `realpath`: of a link to itself `Path.resolve` makes a RuntimeError in older Pythons.
    place = Path(os.path.realpath(directory))
    with naming(place):
        _replace(place, fill, ours)


def _replace(place: Path, fill: Callable[[Path], object], ours: Container[str]) -> None:
    place.parent.mkdir(parents=True, exist_ok=True)
    with _alone_in(place.parent):
        # Where a whole directory stands, what a killed writer left is rubbish, which may be all that fills the disk.
        if place.exists():
            for leftover in _scratches(place):
                _clear(leftover, place, ours)
        scratch = _new_scratch(place)
        try:
            fill(scratch)
            scratch.chmod(0o755)
            if place.exists():
                _link_others(place, scratch, ours)
                _exchange(scratch, place)
            else:
                scratch.rename(place)
        except BaseException:
            _clear(scratch, place, ours)
            raise
        # Only now: until the new directory stands, one that was left aside may be the only whole one.
        for leftover in _scratches(place):
            _clear(leftover, place, ours)


@contextmanager
def _alone_in(parent: Path) -> Iterator[None]:
    """Wait for other writers beside us: what they have under way must not look like something left behind."""
    file = os.open(parent, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        # Some network file systems lock no directories; there the writers' own locks must do.
        with contextlib.suppress(OSError):
            fcntl.flock(file, fcntl.LOCK_EX)
        yield
    finally:
        os.close(file)


def _new_scratch(place: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=place.parent, prefix=f".{place.name}.", suffix=SUFFIX))


def _scratches(place: Path) -> list[Path]:
    named = re.compile(rf"\.{re.escape(place.name)}\.[a-z0-9_]{{8}}{re.escape(SUFFIX)}")
    return [path for path in place.parent.iterdir() if named.fullmatch(path.name) and path.is_dir()]


def _link_others(old: Path, new: Path, ours: Container[str]) -> None:
    for entry in old.iterdir():
        if entry.name not in ours and not (entry.is_dir() and not entry.is_symlink()):
            # Where the file system has no links the file is moved after the step, as folders are.
            with contextlib.suppress(OSError):
                os.link(entry, new / entry.name, follow_symlinks=False)


def _exchange(one: Path, other: Path) -> None:
    """Swap two directories."""
    renameat2 = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    paths = os.fsencode(one), os.fsencode(other)
    if renameat2 is not None and renameat2(_AT_FDCWD, paths[0], _AT_FDCWD, paths[1], _RENAME_EXCHANGE) == 0:
        return
    # Where the system cannot swap it takes two steps; between them the old directory stands aside, whole.
    aside = _new_scratch(other)
    other.rename(aside)
    try:
        one.rename(other)
    except BaseException:
        aside.rename(other)
        raise


def _clear(leftover: Path, place: Path, ours: Container[str]) -> None:
    """Remove our files from a directory that was replaced or never finished; give back what is not ours."""
    for entry in leftover.iterdir():
        there = place / entry.name
        if entry.name in ours:
            _remove(entry, ours)
        elif not os.path.lexists(there):
            entry.rename(there)
        elif os.path.samestat(entry.lstat(), there.lstat()):
            entry.unlink()
    # Whatever is left has a namesake in the new directory: it stays where it is.
    with contextlib.suppress(OSError):
        leftover.rmdir()


def _remove(entry: Path, ours: Container[str]) -> None:
    """Remove a file of ours, or a folder of ours with the files of ours in it; with others in it, it stays."""
    if entry.is_symlink() or not entry.is_dir():
        entry.unlink()
        return
    for inner in entry.iterdir():
        # What a writer had under way when it was killed goes too.
        if (inner.name in ours or inner.name.endswith(SUFFIX)) and not inner.is_dir():
            inner.unlink()
    with contextlib.suppress(OSError):
        entry.rmdir()

"""Arrays that may exceed the memory budget: these are mapped from scratch files."""

import errno
import mmap
import os
import tempfile
import weakref
from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import cache
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from gapline.files.memory import memory_budget

# Of the budget, for one array, and for all that are held at a time: an arm may have several, and there are many arms.
_SHARE, _ALL = 16, 4
# Of the budget, for the piece of an array that is filled before it is written.
_ROOM = 4
# Bytes that a pass holds for one candidate or step at a time, generously.
PER_ENTRY = 128
# Bytes from which on memory is worth giving back in parts, and from which on an array is worth counting.
_MANY_PAGES, _COUNTED = 4 << 20, 1 << 18
# Bytes of the arrays in memory that are large enough to count, each under a number of its own. A plain dict: arrays
# are let go of at any moment, also in the middle of a lock.
_held: dict[int, int] = {}
_numbers = count()
# File systems that are memory themselves.
_IN_MEMORY = ("tmpfs", "ramfs")


def piece_size(per_entry: int = PER_ENTRY) -> int:
    """Return how many candidates or steps a pass may hold at a time within the budget, of so many bytes each."""
    return max(1, memory_budget() // per_entry)


def spans(size: int, *, most: int | None = None) -> Iterator[slice]:
    """Yield slices that cover `size` entries, each no longer than a pass may hold.

    >>> list(spans(5, most=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = most or piece_size()
    return (slice(low, min(low + step, size)) for low in range(0, size, step))


class ScratchArray:
    """An array of at most `size` entries that grows: in memory, or in a scratch file where it is too large for that."""

    def __init__(self, size: int, dtype: DTypeLike = np.float64) -> None:
        kind = np.dtype(dtype)
        self._file = -1
        self._reserved = 0
        self._room = np.empty(0, kind)
        self._pages: mmap.mmap | None = None
        self._number = -1
        self.array: NDArray[Any]
        if not size or _has_room(size * kind.itemsize):
            self._pages = _own_pages(size * kind.itemsize)
            self.array = np.empty(size, kind) if self._pages is None else np.frombuffer(self._pages, kind, size)
            self._count(size * kind.itemsize)
            return
        self._file = _open_scratch()
        os.truncate(self._file, size * kind.itemsize)
        shown = mmap.mmap(self._file, size * kind.itemsize)
        self.array = np.frombuffer(shown, kind)
        # With the last array that shows it, not before.
        weakref.finalize(shown, os.close, self._file).atexit = False

    def _count(self, size: int) -> None:
        """Count an array in memory for as long as anybody shows it."""
        if size >= _COUNTED:
            self._number = next(_numbers)
            _held[self._number] = size
            owner = self.array if self._pages is None else self._pages
            weakref.finalize(owner, _held.pop, self._number, None).atexit = False

    @property
    def on_disk(self) -> bool:
        """Whether it lies in a scratch file."""
        return self._file >= 0

    def reserve(self, end: int) -> NDArray[Any]:
        """Return the array, of which the entries up to `end` may now be written."""
        until = end * self.array.dtype.itemsize
        if self.on_disk and until > self._reserved:
            try:
                os.posix_fallocate(self._file, self._reserved, until - self._reserved)
            except OSError as error:
                raise no_room(error, until) from error
            self._reserved = until
        return self.array

    def room(self, start: int, end: int) -> NDArray[Any]:
        """Return where the entries from `start` to `end` are to be filled, of which `keep` keeps those it is told of.

        For a file that is a piece of memory, the same each time: to write a page costs less than to map it. What is
        longer than a pass may hold, as one run alone may be, is filled in the file.
        """
        if not self.on_disk or end - start > piece_size(self.array.dtype.itemsize * _ROOM):
            self._room = self.array[:0]
            return self.reserve(end)[start:end]
        if len(self._room) < end - start:
            self._room = np.empty(end - start, self.array.dtype)
        return self._room[: end - start]

    @property
    def room_apart(self) -> bool:
        """Whether the room was memory of its own, of which `keep` writes to the file what is to stay."""
        return len(self._room) > 0

    def keep(self, start: int, pieces: Sequence[tuple[int, int]]) -> None:
        """Let pieces of the room, each a place and a size, be the entries from `start` on, one behind the other."""
        if not self.room_apart:
            return
        self.reserve(start + sum(size for _, size in pieces))
        at = start * self.array.dtype.itemsize
        for place, size in pieces:
            left = self._room[place : place + size].view(np.uint8).data
            while left:
                try:
                    written = os.pwrite(self._file, left, at)
                except OSError as error:
                    raise no_room(error, at + len(left)) from error
                left, at = left[written:], at + written

    def give_back(self, start: int, end: int) -> None:
        """Give back the memory of entries that nobody reads any more, as far as it is whole pages of its own."""
        if self._pages is None:
            return
        unit = self.array.dtype.itemsize
        low, high = -(-start * unit // mmap.PAGESIZE) * mmap.PAGESIZE, end * unit // mmap.PAGESIZE * mmap.PAGESIZE
        if low < high:
            self._pages.madvise(mmap.MADV_DONTNEED, low, high - low)

    def cut(self, size: int) -> NDArray[Any]:
        """Return the entries up to `size`, read-only, and give back what lies behind them."""
        if self.on_disk:
            with suppress(OSError):
                os.truncate(self._file, size * self.array.dtype.itemsize)
            self.array = self.array[:size] if size else np.empty(0, self.array.dtype)
        elif self._pages is not None:
            self.give_back(size, len(self.array))
            self.array = self.array[:size]
            _held[self._number] = self.array.nbytes
        elif self._number in _held:
            # NumPy changes the size of no array that somebody watches.
            self.array = self.array[:size].copy()
            self._count(self.array.nbytes)
        else:
            self.array.resize(size, refcheck=False)
        self.array.flags.writeable = False
        return self.array


def _has_room(size: int) -> bool:
    """Say whether an array of so many bytes may be in memory, beside those that are."""
    budget = memory_budget()
    return size <= budget // _SHARE and (size < _COUNTED or size + sum(list(_held.values())) <= budget // _ALL)


def scratch_array(size: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an array to be filled: in memory, or mapped from a scratch file where it is too large for the budget."""
    return ScratchArray(size, dtype).reserve(size)


def scratch_place() -> Path:
    """Return the directory of scratch files: TMPDIR and the like, but one on a disk where that is memory itself."""
    usual = Path(tempfile.gettempdir())
    other = Path("/var/tmp")
    if (
        "TMPDIR" not in os.environ
        and _file_system(usual) in _IN_MEMORY
        and _file_system(other) not in (None, *_IN_MEMORY)
    ):
        return other
    return usual


@cache
def _file_system(place: Path) -> str | None:
    """Return the kind of file system that a directory lies on, None where nobody says."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return None
    real = place.resolve()
    mounts = [(Path(fields[1]), fields[2]) for fields in map(str.split, lines) if len(fields) > 2]
    holding = [(len(mount.parts), kind) for mount, kind in mounts if mount == real or mount in real.parents]
    # Of two mounts on one place the later one is seen.
    return max(reversed(holding), key=lambda found: found[0], default=(0, None))[1]


def _own_pages(size: int) -> mmap.mmap | None:
    """Return memory of which parts can be given back; None where it is little, or the system has no such thing."""
    if size < _MANY_PAGES or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        # As NumPy asks for its own large arrays; some kernels have none.
        with suppress(OSError):
            made.madvise(mmap.MADV_HUGEPAGE)
    return made


def _open_scratch() -> int:
    """Open a file that has no name any more."""
    try:
        file, name = tempfile.mkstemp(prefix="gapline-scratch-", dir=scratch_place())
        Path(name).unlink()
    except OSError as error:
        raise no_room(error, 0) from error
    return file


def no_room(error: OSError, size: int) -> OSError:
    """Say where a scratch file had no room, and how much was wanted."""
    what = f"expected room for a scratch file of {size:,} bytes, got: {error.strerror}; TMPDIR names another place"
    return OSError(error.errno or errno.ENOSPC, what, str(scratch_place()))

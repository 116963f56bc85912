"""Arrays that are mapped from scratch files when they exceed the memory budget."""

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

# Fractions of the budget for one array and for all arrays together: an arm may have several, and there are many arms.
_SHARE, _ALL = 16, 4
# Fraction of the budget for the buffer that is filled before it is written to the file.
_ROOM = 4
# Upper estimate of the bytes that a pass needs per candidate or step.
PER_ENTRY = 128
# Sizes in bytes from which memory is released in parts, and from which an array is counted against the budget.
_MANY_PAGES, _COUNTED = 4 << 20, 1 << 18
# Bytes of each counted array in memory, by a unique number. A plain dict without a lock: an array may be freed at any
# moment, even while a lock is held.
_held: dict[int, int] = {}
_numbers = count()
# File systems that are stored in memory.
_IN_MEMORY = ("tmpfs", "ramfs")


def piece_size(per_entry: int = PER_ENTRY) -> int:
    """Return how many candidates or steps of `per_entry` bytes a pass may hold within the budget."""
    return max(1, memory_budget() // per_entry)


def spans(size: int, *, most: int | None = None) -> Iterator[slice]:
    """Yield slices that cover `size` entries, each of at most `most` entries, by default `piece_size()`.

    >>> list(spans(5, most=2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = most or piece_size()
    return (slice(low, min(low + step, size)) for low in range(0, size, step))


class ScratchArray:
    """An array of at most `size` entries that is filled step by step, in memory or, if too large, in a scratch file."""

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
        # Close the file only when the last array that maps it is freed.
        weakref.finalize(shown, os.close, self._file).atexit = False

    def _count(self, size: int) -> None:
        """Count an array in memory for as long as it is referenced."""
        if size >= _COUNTED:
            self._number = next(_numbers)
            _held[self._number] = size
            owner = self.array if self._pages is None else self._pages
            weakref.finalize(owner, _held.pop, self._number, None).atexit = False

    @property
    def on_disk(self) -> bool:
        """Whether the array is in a scratch file."""
        return self._file >= 0

    def reserve(self, end: int) -> NDArray[Any]:
        """Return the array after allocating disk space for its entries up to `end`, which may then be written."""
        until = end * self.array.dtype.itemsize
        if self.on_disk and until > self._reserved:
            try:
                os.posix_fallocate(self._file, self._reserved, until - self._reserved)
            except OSError as error:
                raise no_room(error, until) from error
            self._reserved = until
        return self.array

    def room(self, start: int, end: int) -> NDArray[Any]:
        """Return a buffer for the entries from `start` to `end`; call `keep` afterwards to store those to keep.

        For an array on disk, the buffer is memory that is reused, because writing a page costs less than mapping it. An
        interval that exceeds its share of the budget, such as a very long run, is filled in the file directly.
        """
        if not self.on_disk or end - start > piece_size(self.array.dtype.itemsize * _ROOM):
            self._room = self.array[:0]
            return self.reserve(end)[start:end]
        if len(self._room) < end - start:
            self._room = np.empty(end - start, self.array.dtype)
        return self._room[: end - start]

    @property
    def room_apart(self) -> bool:
        """Whether the last buffer is separate memory, which `keep` has to write to the file."""
        return len(self._room) > 0

    def keep(self, start: int, pieces: Sequence[tuple[int, int]]) -> None:
        """Store pieces of the buffer, each given by offset and size, as consecutive entries from `start` on."""
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
        """Release the memory of entries that are no longer read, as far as they fill whole pages."""
        if self._pages is None:
            return
        unit = self.array.dtype.itemsize
        low, high = -(-start * unit // mmap.PAGESIZE) * mmap.PAGESIZE, end * unit // mmap.PAGESIZE * mmap.PAGESIZE
        if low < high:
            self._pages.madvise(mmap.MADV_DONTNEED, low, high - low)

    def cut(self, size: int) -> NDArray[Any]:
        """Return the entries up to `size`, read-only, and release the rest."""
        if self.on_disk:
            with suppress(OSError):
                os.truncate(self._file, size * self.array.dtype.itemsize)
            self.array = self.array[:size] if size else np.empty(0, self.array.dtype)
        elif self._pages is not None:
            self.give_back(size, len(self.array))
            self.array = self.array[:size]
            _held[self._number] = self.array.nbytes
        elif self._number in _held:
            # NumPy cannot resize an array that has weak references, such as that of the finalizer.
            self.array = self.array[:size].copy()
            self._count(self.array.nbytes)
        else:
            self.array.resize(size, refcheck=False)
        self.array.flags.writeable = False
        return self.array


def _has_room(size: int) -> bool:
    """Say whether the budget allows an array of this size in memory, in addition to those that exist."""
    budget = memory_budget()
    return size <= budget // _SHARE and (size < _COUNTED or size + sum(list(_held.values())) <= budget // _ALL)


def scratch_array(size: int, dtype: DTypeLike = np.float64) -> NDArray[Any]:
    """Return an uninitialised array, in memory or, if too large for the budget, mapped from a scratch file."""
    return ScratchArray(size, dtype).reserve(size)


def scratch_place() -> Path:
    """Return the directory of scratch files: the usual one, or /var/tmp if that is in memory and TMPDIR is unset."""
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
    """Return the type of the file system of a directory, or None if unknown."""
    try:
        lines = Path("/proc/self/mounts").read_text().splitlines()
    except OSError:
        return None
    real = place.resolve()
    mounts = [(Path(fields[1]), fields[2]) for fields in map(str.split, lines) if len(fields) > 2]
    holding = [(len(mount.parts), kind) for mount, kind in mounts if mount == real or mount in real.parents]
    # Of two mounts on the same directory, the later one is visible.
    return max(reversed(holding), key=lambda found: found[0], default=(0, None))[1]


def _own_pages(size: int) -> mmap.mmap | None:
    """Return memory that can be released in parts; None if it is small or the system does not support it."""
    if size < _MANY_PAGES or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    made = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    if hasattr(mmap, "MADV_HUGEPAGE"):
        # NumPy does the same for its large arrays; some operating systems have no huge pages.
        with suppress(OSError):
            made.madvise(mmap.MADV_HUGEPAGE)
    return made


def _open_scratch() -> int:
    """Open an unnamed temporary file."""
    try:
        file, name = tempfile.mkstemp(prefix="gapline-scratch-", dir=scratch_place())
        Path(name).unlink()
    except OSError as error:
        raise no_room(error, 0) from error
    return file


def no_room(error: OSError, size: int) -> OSError:
    """Return the error for a scratch file that did not fit on its file system."""
    what = f"expected room for a scratch file of {size:,} bytes, got: {error.strerror}; TMPDIR names another place"
    return OSError(error.errno or errno.ENOSPC, what, str(scratch_place()))

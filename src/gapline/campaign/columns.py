"""Candidate columns of a campaign: concatenated from several files, memory-mapped, or multiplied by run."""

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import IntegrityError
from gapline.files.open_file import reason_of
from gapline.files.scratch_arrays import scratch_array, spans

Integers = NDArray[np.int64]


class PartedColumn:
    """Several arrays read as one, without copying them.

    A slice within one part, such as that of a run, is a view; a slice across parts, and `np.asarray` of the whole, is
    a copy. The column is read-only.

    >>> column = PartedColumn([np.array([1.0, 2.0]), np.array([3.0])])
    >>> len(column), float(column[2]), column[0:2].tolist(), column[1:3].tolist(), column[np.array([2, 0])].tolist()
    (3, 3.0, [1.0, 2.0], [2.0, 3.0], [3.0, 1.0])
    """

    ndim = 1

    def __init__(self, parts: Sequence[NDArray[Any]]) -> None:
        self.parts = tuple(parts)
        self.offsets: Integers = np.concatenate(([0], np.cumsum([len(part) for part in self.parts]))).astype(np.int64)
        self.dtype = self.parts[0].dtype if self.parts else np.dtype(np.float64)

    def __len__(self) -> int:
        return int(self.offsets[-1])

    def __repr__(self) -> str:
        return f"PartedColumn({len(self):,} of {self.dtype} in {len(self.parts)} parts)"

    @property
    def nbytes(self) -> int:
        """The number of bytes in all parts."""
        return len(self) * self.dtype.itemsize

    @property
    def shape(self) -> tuple[int]:
        """The shape, as of a one-dimensional array."""
        return (len(self),)

    def max(self) -> Any:
        """Return the largest entry."""
        return max(part.max() for part in self.parts if len(part))

    def __iter__(self) -> Iterator[Any]:
        return (entry for part in self.parts for entry in part)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        if copy is False:
            raise ValueError("a column in parts becomes one array only by copying")
        whole = np.concatenate(self.parts) if self.parts else np.empty(0, self.dtype)
        return whole if dtype is None else whole.astype(dtype, copy=False)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, slice):
            low, high, step = key.indices(len(self))
            if step == 1 and low < high:
                first, last = (int(np.searchsorted(self.offsets, place, "right")) - 1 for place in (low, high - 1))
                if first == last:
                    start = int(self.offsets[first])
                    return self.parts[first][low - start : high - start]
                inside = [self.parts[k][max(low - o, 0) : high - o] for k, o in self._from(first, last)]
                return np.concatenate(inside)
            return np.empty(0, self.dtype) if low >= high and step == 1 else np.asarray(self)[key]
        places = np.asarray(key)
        if places.ndim == 0:
            place = int(places) + (len(self) if places < 0 else 0)
            if not 0 <= place < len(self):
                raise IndexError(f"expected a place inside 0:{len(self)}, got {int(places)}")
            return self[place : place + 1][0]
        if places.dtype == np.bool_:
            return self[np.flatnonzero(places)]
        if len(places) and not (places.min() >= 0 and places.max() < len(self)):
            raise IndexError(f"expected places inside 0:{len(self)}, got others")
        out = np.empty(len(places), self.dtype)
        owner = np.searchsorted(self.offsets, places, "right") - 1
        for k in np.unique(owner).tolist():
            chosen = owner == k
            out[chosen] = self.parts[k][places[chosen] - self.offsets[k]]
        return out

    def _from(self, first: int, last: int) -> Iterator[tuple[int, int]]:
        return ((k, int(self.offsets[k])) for k in range(first, last + 1))


def part_edges(column: "NDArray[Any] | PartedColumn") -> Integers:
    """Return the offsets of the parts of a column and its end; for a plain array, 0 and its length."""
    return column.offsets if isinstance(column, PartedColumn) else np.array([0, len(column)], np.int64)


class MappedFile(NamedTuple):
    """A file with the status that identifies its content; the number of hard links is ignored."""

    path: Path
    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path, found: os.stat_result) -> "MappedFile":
        """Build the record of a file from its status."""
        return cls(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def check_mapped(parts: Iterable[Iterable[MappedFile]]) -> None:
    """Check every file again; raise `IntegrityError` for the first that was removed, truncated or changed."""
    for file in (file for part in parts for file in part):
        try:
            found = MappedFile.of(file.path, file.path.stat())
        except OSError as error:
            raise _changed(f"{file.path}: expected the file that was opened, got {reason_of(error)}") from None
        if found.size != file.size:
            raise _changed(f"{file.path}: expected {file.size:,} bytes, as when it was opened, got {found.size:,}")
        if found != file:
            raise _changed(f"{file.path}: expected the file that was opened, got one that was written since")


def _changed(message: str) -> IntegrityError:
    return IntegrityError(message, hint="somebody writes to the campaign while it is read; run the command again")


def multiplied(column: Any, runs: pl.DataFrame, factors: pl.Series) -> Any:
    """Return a copy of a column, on scratch storage if large, with each run's candidates multiplied by its factor.

    >>> import numpy as np
    >>> runs = pl.DataFrame({"first": [0, 1], "count": [1, 2]})
    >>> multiplied(np.array([1.0, 2.0, 3.0]), runs, pl.Series([1.0, -1.0])).tolist()
    [1.0, -2.0, -3.0]
    """
    out = scratch_array(len(column), column.dtype)
    for part in spans(len(column)):
        out[part] = column[part]
    changed = runs.select("first", "count", factor=factors).filter(pl.col("factor") != 1.0)
    for first, count, factor in changed.iter_rows():
        out[first : first + count] *= factor
    out.flags.writeable = False
    return out


@dataclass(frozen=True, slots=True)
class Origin:
    """The campaign directory that was opened, and the changes made to its columns since.

    `seal` is the seal of its manifest; `negated` are the arms whose objectives were negated; `scaled` says whether the
    times were multiplied by the column `time_scale` of the runs.
    """

    directory: str
    seal: str
    negated: tuple[str, ...] = ()
    scaled: bool = False

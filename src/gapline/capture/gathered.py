"""Columns that come in parts: held while they are few, in scratch files where they are too large for the budget."""

import tempfile
from collections.abc import Mapping
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from gapline.model.budget import memory_budget
from gapline.model.scratch import scratch_place

# Of the budget: what is made of the columns takes as much again.
_SHARE = 8


class GatheredColumns:
    """Parts of columns, one behind the other.

    >>> gathered = GatheredColumns()
    >>> gathered.add({"time": np.array([1.0])})
    >>> gathered.add({"time": np.array([2.0, 3.0])})
    >>> gathered.whole("time").tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[NDArray[Any]]] = {}
        self._files: dict[str, IO[bytes]] = {}
        self._held = 0

    def add(self, columns: Mapping[str, NDArray[Any]]) -> None:
        """Take a part of every column."""
        for name, column in columns.items():
            self._parts.setdefault(name, []).append(column)
            self._held += column.nbytes
        # One part alone is taken as it is.
        if self._held > memory_budget() // _SHARE and (self._files or any(len(p) > 1 for p in self._parts.values())):
            self._put_away()

    def whole(self, name: str) -> NDArray[Any]:
        """Return a column; mapped where it lies in a file."""
        parts = self._parts[name]
        if name not in self._files:
            return parts[0] if len(parts) == 1 else np.concatenate(parts)
        kind = parts[0].dtype
        self._append(name)
        return np.memmap(self._files[name], kind, "r")

    def take(self, name: str) -> NDArray[Any]:
        """Return a column and let go of it."""
        whole = self.whole(name)
        del self._parts[name]
        if name in self._files:
            self._files.pop(name).close()
        return whole

    @property
    def names(self) -> list[str]:
        """The columns that are there."""
        return list(self._parts)

    def _put_away(self) -> None:
        for name in self._parts:
            if name not in self._files:
                self._files[name] = tempfile.TemporaryFile(dir=scratch_place())  # noqa: SIM115 - closed when it is taken
            self._append(name)
        self._held = 0

    def _append(self, name: str) -> None:
        for part in self._parts[name]:
            self._files[name].write(np.ascontiguousarray(part).data)
        self._files[name].flush()
        # Its type is still asked for.
        self._parts[name] = [self._parts[name][-1][:0]]

    def __del__(self) -> None:
        for file in self._files.values():
            file.close()

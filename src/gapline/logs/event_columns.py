"""The events of a run as columns that grow: in memory while they are few, on disk where they are many."""

import math
import sys
import tempfile
from array import array
from collections.abc import Iterable, Iterator, MutableSequence, Sequence
from typing import IO, Any, NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from gapline.contract.tables import VerdictCode

# Events of one run, at 33 bytes each.
IN_MEMORY = 500_000
# Looking up a member costs more than appending a number.
_VALID = int(VerdictCode.VALID)


class Event(NamedTuple):
    """A candidate, or a dual bound alone; NaN where there is no number."""

    time: float
    objective: float
    verdict: int
    bound: float = math.nan
    reason: str = ""


class EventColumns(MutableSequence[tuple[float, float, int, float, str]]):
    """Events as tuples in the order of `Event`, kept as columns: a fifth of the memory of as many tuples.

    Beyond `IN_MEMORY` of them columns wait on disk. They are appended to and read from there; whoever looks at one
    event by its place brings all of them back.
    """

    def __init__(self, events: Iterable[tuple[float, float, int, float, str]] = ()) -> None:
        self.time, self.objective, self.bound = array("d"), array("d"), array("d")
        self.verdict, self._reason = array("B"), array("L")
        self._codes: dict[str, int] = {"": 0}
        self._reasons = [""]
        self._before = 0
        self._waiting: dict[str, IO[bytes]] = {}
        self._most = IN_MEMORY
        self.extend(events)

    def __del__(self) -> None:
        for file in self._waiting.values():
            file.close()

    def __len__(self) -> int:
        return self._before + len(self.time)

    def append(self, event: tuple[float, float, int, float, str]) -> None:
        """Add an event."""
        time, objective, verdict, bound, reason = event
        self.time.append(time)
        self.objective.append(objective)
        self.verdict.append(verdict)
        self.bound.append(bound)
        self._reason.append(self._code(reason))
        if len(self.time) >= self._most:
            self._put_away()

    def append_valid(self, time: float, objective: float) -> None:
        """Add a candidate that is valid and states no bound."""
        self.time.append(time)
        self.objective.append(objective)
        self.verdict.append(_VALID)
        self.bound.append(math.nan)
        self._reason.append(0)
        if len(self.time) >= self._most:
            self._put_away()

    def add_valid(self, time: NDArray[np.float64], objective: NDArray[np.float64]) -> None:
        """Add candidates that are valid and state no bound."""
        for part in range(0, len(time), self._most):
            stamps, values = time[part : part + self._most], objective[part : part + self._most]
            self.time.frombytes(stamps.tobytes())
            self.objective.frombytes(values.tobytes())
            self.verdict.frombytes(bytes([VerdictCode.VALID]) * len(stamps))
            self.bound.frombytes(np.full(len(stamps), math.nan).tobytes())
            self._reason.frombytes(bytes(self._reason.itemsize * len(stamps)))
            if len(self.time) >= self._most:
                self._put_away()

    def __iter__(self) -> Iterator[tuple[float, float, int, float, str]]:
        names = (self._reasons[int(code)] for code in self.values("_reason"))
        numbers = (self.values(name) for name in ("time", "objective", "verdict", "bound"))
        return zip(*numbers, names, strict=True)

    def last_time(self) -> float:
        """Return the stamp of the last event; there is one."""
        return self.time[-1] if self.time else float(self.whole("time")[-1])

    @overload
    def __getitem__(self, place: int) -> tuple[float, float, int, float, str]: ...
    @overload
    def __getitem__(self, place: slice) -> list[tuple[float, float, int, float, str]]: ...
    def __getitem__(self, place: Any) -> Any:
        self._bring_back()
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        reason = self._reasons[self._reason[place]]
        return self.time[place], self.objective[place], self.verdict[place], self.bound[place], reason

    def __setitem__(self, place: Any, event: Any) -> None:
        cells = (*event[:4], self._code(event[4]))
        for (name, column), cell in zip(self._columns().items(), cells, strict=True):
            if place >= self._before:
                column[place - self._before] = cell
            else:
                self._waiting[name].seek(place * column.itemsize)
                self._waiting[name].write(array(column.typecode, [cell]).tobytes())

    def __delitem__(self, place: Any) -> None:
        self._bring_back()
        for column in self._columns().values():
            del column[place]

    def insert(self, place: int, event: tuple[float, float, int, float, str]) -> None:
        """Put an event before another."""
        self._bring_back()
        time, objective, verdict, bound, reason = event
        self.time.insert(place, time)
        self.objective.insert(place, objective)
        self.verdict.insert(place, verdict)
        self.bound.insert(place, bound)
        self._reason.insert(place, self._code(reason))

    def reasons(self) -> Sequence[str] | None:
        """Return the reason of each event, None where none has one."""
        if len(self._reasons) == 1 or not self.whole("_reason").any():
            return None
        if not self._before:
            return [self._reasons[code] for code in self._reason]
        return Reasons(self.whole("_reason"), self._reasons)

    def whole(self, name: str) -> NDArray[Any]:
        """Return a column as an array; mapped from disk where it waits there."""
        tail = np.array(self._columns()[name])
        if not self._before:
            return tail
        file = self._waiting[name]
        file.seek(self._before * tail.itemsize)
        file.write(tail.tobytes())
        file.truncate()
        file.flush()
        return np.memmap(file, tail.dtype, "r", shape=(len(self),))

    def values(self, name: str) -> Iterator[float]:
        """Yield the numbers of a column, one after the other."""
        column = self.whole(name)
        for start in range(0, len(column), 1 << 16):
            yield from column[start : start + (1 << 16)].tolist()

    def _columns(self) -> dict[str, "array[Any]"]:
        return {name: getattr(self, name) for name in ("time", "objective", "verdict", "bound", "_reason")}

    def _put_away(self) -> None:
        """Append the columns to files that have no name and are gone with the process."""
        for name, column in self._columns().items():
            if name not in self._waiting:
                self._waiting[name] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the columns
            file = self._waiting[name]
            file.seek(self._before * column.itemsize)
            file.write(column.tobytes())
        self._before += len(self.time)
        for column in self._columns().values():
            del column[:]

    def _bring_back(self) -> None:
        """Hold all columns in memory, from now on."""
        if not self._before:
            return
        everything = {name: array(column.typecode) for name, column in self._columns().items()}
        for name, column in everything.items():
            column.frombytes(self.whole(name).tobytes())
        for name, column in everything.items():
            setattr(self, name, column)
        self._before, self._most = 0, sys.maxsize

    def _code(self, reason: str) -> int:
        code = self._codes.setdefault(reason, len(self._reasons))
        if code == len(self._reasons):
            self._reasons.append(reason)
        return code


class Reasons(Sequence[str]):
    """The reasons of events by their codes: millions of candidates share a few."""

    def __init__(self, codes: NDArray[Any], names: Sequence[str]) -> None:
        self._codes, self._names = codes, names

    def __len__(self) -> int:
        return len(self._codes)

    @overload
    def __getitem__(self, place: int) -> str: ...
    @overload
    def __getitem__(self, place: slice) -> list[str]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self._names[code] for code in self._codes[place].tolist()]
        return self._names[self._codes[place]]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), 1 << 16):
            yield from self[start : start + (1 << 16)]

    def __contains__(self, name: object) -> bool:
        return any(one == name and bool((self._codes == code).any()) for code, one in enumerate(self._names))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

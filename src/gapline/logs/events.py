"""The events of a run as found by a reader: candidates and dual bounds, validated one by one and stored as rows."""

import math
import re
import struct
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.contract.number_limits import is_rounded
from gapline.contract.tables import Reason, VerdictCode
from gapline.logs.lines import NUMBER, parse_number, shown

# Most events of one run that are kept in memory; further ones go to a file.
IN_MEMORY = 500_000
# Plain integers: the lookup of an enum member costs more than reading the line.
_VALID, _INVALID, _BOUND = int(VerdictCode.VALID), int(VerdictCode.INVALID), int(VerdictCode.BOUND)
_NOT_FINITE = re.compile(r"[+-]?(?:inf|infinity|nan)", re.IGNORECASE)
_STAMP = (Reason.TIME_MISSING, Reason.TIME_NOT_A_NUMBER, Reason.TIME_NOT_FINITE, Reason.TIME_NOT_EXACT)
_VALUE = (
    Reason.OBJECTIVE_MISSING,
    Reason.OBJECTIVE_NOT_A_NUMBER,
    Reason.OBJECTIVE_NOT_FINITE,
    Reason.OBJECTIVE_NOT_EXACT,
)
# A row in bytes, and its NumPy type; `reason` is a code.
_PACKED = struct.Struct("=dddIB3x")
_ROW = np.dtype({
    "names": ["time", "objective", "bound", "reason", "verdict"],
    "formats": [np.float64, np.float64, np.float64, np.uint32, np.uint8],
    "itemsize": _PACKED.size,
})  # fmt: skip
_STEP = 1 << 16


class Event(NamedTuple):
    """A candidate, or a dual bound alone; NaN for missing numbers."""

    time: float
    objective: float
    bound: float = math.nan
    reason: str = ""
    verdict: int = _VALID


class EventList:
    """The events of one run; events without usable numbers count as rejected. `problems` is that of the `Found`.

    >>> events = EventList([])
    >>> events.add("0.5", "12", where="a.log:1")
    >>> events.add_bound(1.0, 9.0)
    >>> [event.objective for event in events], events.columns()["bound"].tolist()
    ([12.0, nan], [nan, 9.0])
    """

    def __init__(self, problems: list[str]) -> None:
        self.problems = problems
        self._rows = bytearray()
        self._file: IO[bytes] | None = None
        self._in_file = 0
        self._codes = {"": 0}
        self._has_bound = False

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def __len__(self) -> int:
        return self._in_file + len(self._rows) // _PACKED.size

    def add(
        self,
        time: float | str | None,
        objective: float | str | None,
        *,
        where: str,
        valid: bool = True,
        bound: float | None = None,
        reason: str = "",
    ) -> None:
        """Add a candidate; texts are parsed strictly, None means missing; an invalid one needs no objective."""
        if valid and bound is None and isinstance(time, str) and isinstance(objective, str):
            # The fast path, for nearly all candidates.
            at, worth = parse_number(time), parse_number(objective)
            if at is not None and worth is not None and at >= 0:
                self.append(Event(at, worth))
                return
        stamp, why_stamp = _reading(time, *_STAMP)
        value, why_value = _reading(objective, *_VALUE)
        if not why_stamp and stamp < 0:
            why_stamp = Reason.TIME_NEGATIVE.value
        if not valid and reason and time is None:
            why_stamp = ""  # the reader has already given the reason
        elif why_stamp:
            self._refuse(where, "a time of 0 or more", time, why_stamp)
        elif why_value and valid:
            self._refuse(where, "a finite objective", objective, why_value)
        ruled_out = why_stamp or (why_value if valid else "")
        verdict = _VALID if valid and not ruled_out else _INVALID
        why = ruled_out or ("" if valid else reason or Reason.DECLARED_INVALID.value)
        self.append(Event(stamp, value, math.nan if bound is None else bound, why, verdict))

    def add_bound(self, time: float, bound: float) -> None:
        """Add an event with a dual bound only."""
        self.append(Event(time, math.nan, bound, "", _BOUND))

    def add_valid(self, time: NDArray[np.float64], objective: NDArray[np.float64]) -> None:
        """Add valid candidates without bounds."""
        rows = np.zeros(len(time), _ROW)
        rows["time"], rows["objective"], rows["bound"], rows["verdict"] = time, objective, math.nan, _VALID
        self._rows += rows.tobytes()
        self._make_room()

    def append(self, event: Event) -> None:
        """Add an event unchanged."""
        self._rows += self._pack(event)
        self._make_room()

    def _refuse(self, where: str, expected: str, got: float | str | None, reason: str) -> None:
        text = "nothing" if got is None else shown(got) if isinstance(got, str) else repr(got)
        self.problems.append(f"{where}: expected {expected}, got {text} ({reason})")

    def _pack(self, event: Event) -> bytes:
        time, objective, bound, reason, verdict = event
        self._has_bound = self._has_bound or not math.isnan(bound)
        code = self._codes.setdefault(reason, len(self._codes)) if reason else 0
        return _PACKED.pack(time, objective, bound, code, verdict)

    def _make_room(self, most: int | None = None) -> None:
        """Move the rows to an anonymous temporary file if there are too many."""
        count = len(self._rows) // _PACKED.size
        if count < (IN_MEMORY if most is None else most):
            return
        if self._file is None:
            self._file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the events
        self._file.seek(self._in_file * _PACKED.size)
        self._file.write(self._rows)
        self._file.flush()
        self._in_file += count
        self._rows.clear()

    def rows(self) -> NDArray[Any]:
        """Return all events as an array with the fields time, objective, bound, reason (a code) and verdict."""
        if self._file is None:
            return np.frombuffer(bytes(self._rows), _ROW)
        self._make_room(1)
        return np.memmap(self._file, _ROW, "r", shape=(len(self),))

    def values(self, name: str) -> Iterator[float]:
        """Yield the numbers of a field one by one."""
        column = self.rows()[name]
        for start in range(0, len(column), _STEP):
            yield from column[start : start + _STEP].tolist()

    def __iter__(self) -> Iterator[Event]:
        rows, names = self.rows(), list(self._codes)
        for start in range(0, len(rows), _STEP):
            for time, objective, bound, code, verdict in rows[start : start + _STEP].tolist():
                yield Event(time, objective, bound, names[code], verdict)

    def __getitem__(self, place: int) -> Event:
        at = self._at(place)
        row = self._rows[at : at + _PACKED.size] if at >= 0 else self.rows()[place : place + 1].tobytes()
        time, objective, bound, code, verdict = _PACKED.unpack(row)
        return Event(time, objective, bound, list(self._codes)[code], verdict)

    def __setitem__(self, place: int, event: Event) -> None:
        at = self._at(place)
        if at >= 0:
            self._rows[at : at + _PACKED.size] = self._pack(event)
        elif self._file is not None:
            self._file.seek(place * _PACKED.size)
            self._file.write(self._pack(event))
            self._file.flush()

    def _at(self, place: int) -> int:
        """Return the offset of a row in memory; negative if it is in the file."""
        return (place - self._in_file) * _PACKED.size

    def columns(self) -> dict[str, Any]:
        """Return the columns of a `FoundRun`: time, objective, verdict and, if there are any, bound and reason."""
        rows = self.rows()
        # A run without bounds or reasons omits these columns, otherwise every campaign would have them.
        names = ("time", "objective", "verdict", *(["bound"] if self._has_bound else []))
        columns: dict[str, Any] = {name: rows[name] for name in names}
        return columns | ({"reason": Reasons(rows["reason"], list(self._codes))} if len(self._codes) > 1 else {})


def _reading(
    value: float | str | None, missing: Reason, text: Reason, infinite: Reason, inexact: Reason
) -> tuple[float, str]:
    """Return the number and "", or NaN and the reason why there is none."""
    # Valid texts first: a log has millions of them.
    if isinstance(value, str):
        number = parse_number(value)
        if number is None:
            if not value.strip():
                return math.nan, missing.value
            if is_rounded(value.strip()):
                return math.nan, inexact.value
            # 1e400 has the form of a number but is infinite as a float: that is the reason to report.
            endless = _NOT_FINITE.fullmatch(value.strip()) or (len(value) < 400 and NUMBER.fullmatch(value.strip()))
            return math.nan, (infinite if endless else text).value
        return number, ""
    if value is None:
        return math.nan, missing.value
    return (float(value), "") if math.isfinite(value) else (math.nan, infinite.value)


class Reasons(Sequence[str]):
    """The reasons of events, stored as codes: millions of candidates share a few reasons."""

    def __init__(self, codes: NDArray[Any], names: Sequence[str]) -> None:
        self._codes, self._names = codes, names

    def __len__(self) -> int:
        return len(self._codes)

    def __getitem__(self, place: Any) -> Any:
        codes = self._codes[place].tolist()
        return [self._names[code] for code in codes] if isinstance(place, slice) else self._names[codes]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _STEP):
            yield from self[start : start + _STEP]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]


class Levels:
    """The first two numbers of several objectives, and whether any event has two; NaN if missing."""

    def __init__(self) -> None:
        self.several = False
        self._first, self._second = array("d"), array("d")

    def add(self, row: Sequence[float]) -> None:
        """Add the numbers of one event."""
        self.several = self.several or len(row) > 1
        self._first.append(row[0] if row else math.nan)
        self._second.append(row[1] if len(row) > 1 else math.nan)

    def columns(self) -> dict[str, Any]:
        """Return the columns primary and secondary."""
        return {"primary": self._first.tolist(), "secondary": self._second.tolist()}

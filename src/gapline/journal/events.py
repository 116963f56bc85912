"""The events of a journal, as records of its lines and as columns."""

import math
from array import array
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, overload

import msgspec

from gapline.errors import TraceError
from gapline.files.open_file import open_regular
from gapline.journal.records import Ending, Order

# Optional columns: a run has one if any of its events states such a number.
SOMETIMES = ("bound", "primary", "secondary")


class Record(msgspec.Struct):
    """A line of a journal."""

    seq: int
    t: float = 0.0
    say: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    text: str | None = None
    start: Order | None = None
    end: Ending | None = None


class Said(msgspec.Struct):
    """The fields of a solver's line that gapline understands; values stay as they were written."""

    objective: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    solution: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    bound: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    primary: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    secondary: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    solver: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    version: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    model: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    claim: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    value_resolution: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    bound_resolution: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


@dataclass(frozen=True, slots=True)
class CapturedEvent:
    """One captured event: a candidate, or a bound alone (`is_candidate` false).

    `reason` is why a candidate is rejected without a checker; `solution` is the JSON of its solution.
    """

    sequence: int
    time: float
    is_candidate: bool
    objective: float
    bound: float
    primary: float
    secondary: float
    solution: bytes | None
    reason: str


class CapturedEvents(Sequence[CapturedEvent]):
    """The events of a journal as columns: a tenth of the memory of objects; solutions stay in the file.

    `sequences` are the numbers of their lines; `places` are the offsets of those lines, -1 for events without solution.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self.sequences, self.is_candidate = array("q"), array("b")
        self._numbers = {name: array("d") for name in ("time", "objective")}
        self.places = array("q")
        self._reasons: dict[str, int] = {"": 0}
        self._names = [""]
        # A byte is enough: there are only a handful of reasons for which a journal rejects a candidate itself.
        self._reason = array("B")
        self._has_solutions = False

    def add(self, event: CapturedEvent, place: int) -> None:
        """Append an event whose line begins at offset `place`; of its solution, only the offset is kept."""
        self.sequences.append(event.sequence)
        self.is_candidate.append(event.is_candidate)
        for name in SOMETIMES:
            if name not in self._numbers and not math.isnan(getattr(event, name)):
                # Created at the first value: most journals have none, and an empty column takes as much memory.
                self._numbers[name] = array("d", [math.nan]) * (len(self) - 1)
        for name, column in self._numbers.items():
            column.append(getattr(event, name))
        self.places.append(-1 if event.solution is None else place)
        self._has_solutions |= event.solution is not None
        if event.reason not in self._reasons:
            self._reasons[event.reason] = len(self._names)
            self._names.append(event.reason)
        self._reason.append(self._reasons[event.reason])

    def __len__(self) -> int:
        return len(self.sequences)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    @overload
    def __getitem__(self, index: int) -> CapturedEvent: ...
    @overload
    def __getitem__(self, index: slice) -> list[CapturedEvent]: ...
    def __getitem__(self, index: int | slice) -> CapturedEvent | list[CapturedEvent]:
        """Return an event, its solution read from the file."""
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        with self._opened() as stream:
            return self._event(index, self._solution(index, stream))

    def __iter__(self) -> Iterator[CapturedEvent]:
        with self._opened() as stream:
            for index in range(len(self)):
                yield self._event(index, self._solution(index, stream))

    def keep(self, places: Sequence[int], bound: int | None) -> None:
        """Keep only the events at some places, and the bound of the event at `bound`."""
        aside = [] if bound is None or bound in places else [bound]

        def pick(column: "array[Any]") -> "array[Any]":
            return array(column.typecode, [column[place] for place in (*places, *aside)])

        self.sequences, self.is_candidate = pick(self.sequences), pick(self.is_candidate)
        self.places, self._reason = pick(self.places), pick(self._reason)
        self._numbers = {name: pick(column) for name, column in self._numbers.items()}
        if aside:
            # Only its bound is kept: the candidate was already counted.
            self.is_candidate[-1], self.places[-1], self._reason[-1] = 0, -1, 0
            for name in {*self._numbers} - {"time", "bound"}:
                self._numbers[name][-1] = math.nan

    @property
    def reasons(self) -> list[str]:
        """Why each candidate is rejected without a checker; empty if it is not."""
        return [self._names[number] for number in self._reason]

    def states(self, name: str) -> bool:
        """Whether any event states a number of this name."""
        return name in self._numbers

    def column(self, name: str) -> "array[float]":
        """Return one number of all events: time, objective, bound, primary or secondary."""
        found = self._numbers.get(name)
        return array("d", [math.nan]) * len(self) if found is None else found

    def bare(self) -> Iterator[CapturedEvent]:
        """Yield the events without reading their solutions; every existing solution is replaced by an empty one."""
        for index in range(len(self)):
            yield self._event(index, None if self.places[index] < 0 else b"")

    def _event(self, index: int, solution: bytes | None) -> CapturedEvent:
        numbers = self._numbers
        time, objective = numbers["time"][index], numbers["objective"][index]
        bound, primary, secondary = (numbers[name][index] if name in numbers else math.nan for name in SOMETIMES)
        is_candidate, reason = bool(self.is_candidate[index]), self._names[self._reason[index]]
        return CapturedEvent(
            self.sequences[index], time, is_candidate, objective, bound, primary, secondary, solution, reason
        )

    def _opened(self) -> AbstractContextManager[BinaryIO | None]:
        # A journal without solutions need not be opened again.
        return open_regular(self._path) if self._has_solutions else nullcontext()

    def _solution(self, index: int, stream: BinaryIO | None) -> bytes | None:
        if self.places[index] < 0 or stream is None:
            return None
        stream.seek(self.places[index])
        body = stream.readline().removesuffix(b"\n")
        try:
            record = decode_record(body)
            return present(decode_said(record.say).solution) if isinstance(record.say, msgspec.Raw) else None
        except (ValueError, msgspec.MsgspecError) as error:
            raise TraceError(f"{self._path}: expected the journal as it was, got a changed one: {error}") from error


decode_record = msgspec.json.Decoder(Record).decode
decode_said = msgspec.json.Decoder(Said).decode


def present(raw: msgspec.Raw | msgspec.UnsetType) -> bytes | None:
    """Return the JSON of a value; None if it is missing or null."""
    value = bytes(raw) if isinstance(raw, msgspec.Raw) else b"null"
    return None if value == b"null" else value

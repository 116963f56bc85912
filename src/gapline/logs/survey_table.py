"""The lines of a survey, one per file and one per run: held as columns, because there may be millions of them."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, overload

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import GaplineError
from gapline.logs.formats import UnknownFormatError
from gapline.logs.naming import Identity

# Lines that wait to become columns.
_WAITING = 2048
# Tables of fewer runs, of which so many are put together.
_SMALL, _MANY = 4096, 32
# Of a survey: files beyond those that have so many problems keep the first of theirs, and their number.
MOST_KEPT = 10_000
_NUMBERS = {"candidates": pl.Int64(), "first": pl.Float64(), "last": pl.Float64(), "horizon": pl.Float64()}
# Texts that many runs share.
_SHARED = ("format", "where", "arm", "panel", "status", "clock", "sense", "kernel", "notes")
SCHEMA: dict[str, pl.DataType] = {
    "instance": pl.String(),
    "seed": pl.Int64(),
    "integral": pl.Float64(),
    **_NUMBERS,
    **dict.fromkeys(_SHARED, pl.Int32()),
}
Shared = str | tuple[str, ...] | None


@dataclass(frozen=True, slots=True)
class RunLine:
    """One run of the survey: who it is, and what was found of it. `first` and `last` are null for an empty run."""

    path: str
    format: str
    where: str
    identity: Identity
    candidates: int
    first: float | None
    last: float | None
    horizon: float | None
    status: str
    clock: str
    sense: str | None
    stated_integral: tuple[str, float] | None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file of the survey: its format, the slice of the survey's runs that it holds, and what is wrong with it."""

    path: str
    problem_count: int
    problems: tuple[str, ...]
    format: str | None = None
    first_run: int = 0
    run_count: int = 0
    error: GaplineError | None = None

    @property
    def unknown(self) -> bool:
        """Whether it is of no known format."""
        return isinstance(self.error, UnknownFormatError)


@dataclass(frozen=True, slots=True)
class Wrong:
    """What is wrong with a file."""

    problem_count: int
    problems: tuple[str, ...]
    error: GaplineError | None


class _Names:
    """Texts, each kept once, by numbers."""

    def __init__(self, names: Iterable[Shared] = ()) -> None:
        self.names = list(names)
        self._numbers = {name: number for number, name in enumerate(self.names)}

    def number(self, name: Shared) -> int:
        number = self._numbers.setdefault(name, len(self.names))
        if number == len(self.names):
            self.names.append(name)
        return number


class FileLines(Sequence[FileLine]):
    """The files of a survey; a line is made when it is asked for.

    `wrong` has those that something is wrong with, by their places. Runs lie in the order of their files.

    >>> files = FileLines([FileLine("a.log", 0, (), "olines", run_count=2), FileLine("b.log", 0, (), "olines")])
    >>> files[0].run_count, files[1].first_run, files.paths, files.owners().tolist()
    (2, 2, ['a.log', 'b.log'], [0, 0])
    """

    def __init__(self, lines: Iterable[FileLine] = (), *, kept: int | None = None) -> None:
        self.paths: list[str] = []
        self.wrong: dict[int, Wrong] = {}
        self._formats, self._format = _Names(), array("i")
        self._counts, self._begins = array("q"), 0
        self._left = kept
        for line in lines:
            self.append(line)

    @classmethod
    def of(
        cls, paths: list[str], formats: Iterable[str | None], counts: Iterable[int], wrong: dict[int, Wrong]
    ) -> "FileLines":
        """Return files by their columns."""
        files = cls()
        files.paths, files.wrong = paths, wrong
        files._format.extend(map(files._formats.number, formats))
        files._counts.extend(counts)
        files._begins = sum(files._counts)
        return files

    def append(self, line: FileLine) -> None:
        """Put a file behind the others; its runs are the next ones."""
        if line.problem_count or line.error is not None:
            self._note(len(self.paths), Wrong(line.problem_count, line.problems, line.error))
        self.paths.append(line.path)
        self._format.append(self._formats.number(line.format))
        self._counts.append(line.run_count)
        self._begins += line.run_count

    def extend(self, other: "FileLines") -> None:
        """Put the files of another survey behind those that are here."""
        for place, wrong in other.wrong.items():
            self._note(len(self.paths) + place, wrong)
        self.paths += other.paths
        self._format.extend(map(self._formats.number, other.formats()))
        self._counts.extend(other._counts)
        self._begins += other._begins

    def _note(self, place: int, wrong: Wrong) -> None:
        problems = wrong.problems
        if self._left is not None:
            problems = problems[: max(1, self._left)]
            self._left = max(0, self._left - len(problems))
        self.wrong[place] = Wrong(wrong.problem_count, problems, wrong.error)

    def flawed(self) -> list[FileLine]:
        """Return the files that something is wrong with, in their order."""
        begins = np.cumsum([0, *self._counts]) if self.wrong else ()
        return [self._line(place, int(begins[place])) for place in self.wrong]

    def formats(self) -> Iterator[str | None]:
        """Yield the format of each file."""
        names: list[Any] = self._formats.names
        return (names[number] for number in self._format)

    def counts(self) -> Sequence[int]:
        """Return how many runs each file has."""
        return self._counts

    def owners(self) -> NDArray[np.int64]:
        """Return the place of the file of each run."""
        return np.repeat(np.arange(len(self.paths)), np.array(self._counts, np.int64))

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[FileLine]:
        begins = 0
        for place, count in enumerate(self._counts):
            yield self._line(place, begins)
            begins += count

    @overload
    def __getitem__(self, place: int) -> FileLine: ...
    @overload
    def __getitem__(self, place: slice) -> list[FileLine]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return self._line(place, sum(self._counts[:place]))

    def _line(self, place: int, first_run: int) -> FileLine:
        wrong = self.wrong.get(place)
        format_: Any = self._formats.names[self._format[place]]
        own = (self.paths[place], wrong.problem_count if wrong else 0, wrong.problems if wrong else ())
        return FileLine(*own, format_, first_run, self._counts[place], wrong.error if wrong else None)


class RunLines(Sequence[RunLine]):
    """The runs of a survey, whose files say their paths; a line is made when it is asked for.

    What many runs share is kept once, in `names`: the table has the numbers.
    """

    def __init__(self, files: FileLines, table: pl.DataFrame | None = None, names: Iterable[Shared] = ()) -> None:
        self._files, self._names = files, _Names(names)
        self._parts = [] if table is None else [table]
        self._waiting: list[RunLine] = []
        self._size = 0 if table is None else table.height

    def append(self, line: RunLine) -> None:
        """Put a run behind the others."""
        self._waiting.append(line)
        self._size += 1
        if len(self._waiting) >= _WAITING:
            self._pack()

    def extend(self, other: "RunLines") -> None:
        """Put the runs of another survey behind those that are here; its files come along by themselves."""
        self._pack()
        table = other.table
        numbers = pl.Series(map(self._names.number, other.names), dtype=pl.Int32)
        self._parts.append(table.with_columns(numbers.gather(table[name]).alias(name) for name in _SHARED))
        # Small tables take more than their cells.
        if sum(part.height < _SMALL for part in self._parts[-_MANY:]) == _MANY:
            self._parts[-_MANY:] = [pl.concat(self._parts[-_MANY:], rechunk=True)]
        self._size += len(other)

    @property
    def names(self) -> list[Shared]:
        """What the numbers of shared texts stand for."""
        self._pack()
        return self._names.names

    @property
    def table(self) -> pl.DataFrame:
        """The runs as a table of `SCHEMA`."""
        self._pack()
        if len(self._parts) != 1:
            # Not copied: these are all runs there are.
            self._parts = [pl.concat(self._parts) if self._parts else pl.DataFrame(schema=SCHEMA)]
        return self._parts[0]

    def texts(self, name: str) -> pl.Series:
        """Return a shared text of each run: its arm, clock, sense, …"""
        numbers = self.table[name]
        named = [one if isinstance(one, str) else None for one in self._names.names]
        # Rows that are taken from a column share its text.
        return pl.Series(named, dtype=pl.String).gather(numbers)

    def among(self, name: str) -> dict[Shared, int]:
        """Return which texts of a kind there are, each with the first run that has it."""
        found = self.table.select(name).with_row_index("row").group_by(name).agg(pl.col("row").min()).sort("row")
        return {self._names.names[number]: row for number, row in found.iter_rows()}

    def who(self) -> pl.DataFrame:
        """Return arm, instance and seed of each run; null where nothing is known."""
        return self.table.select("instance", "seed").with_columns(arm=self.texts("arm"))

    def unnamed(self) -> list[int]:
        """Return the runs that have no arm or no instance."""
        missing = (pl.col("arm").fill_null("") == "") | (pl.col("instance").fill_null("") == "")
        return self.who().select(missing.arg_true()).to_series().to_list()

    def places(self, rows: Iterable[int]) -> list[str]:
        """Return the paths of some runs, with the part of the file that each is."""
        owners = self._files.owners()
        where = self.table["where"]
        return [f"{self._files.paths[owners[row]]} {self._names.names[where[row]]}".rstrip() for row in rows]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[RunLine]:
        owners = self._files.owners()
        for row, cells in enumerate(self.table.iter_rows()):
            yield self._line(self._files.paths[owners[row]], cells)

    @overload
    def __getitem__(self, place: int) -> RunLine: ...
    @overload
    def __getitem__(self, place: slice) -> list[RunLine]: ...
    def __getitem__(self, place: Any) -> Any:
        if isinstance(place, slice):
            return [self[one] for one in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        return self._line(self._files.paths[self._files.owners()[place]], self.table.row(place))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def _line(self, path: str, cells: tuple[Any, ...]) -> RunLine:
        instance, seed, integral, candidates, first, last, horizon, *numbers = cells
        shared: list[Any] = [self._names.names[number] for number in numbers]
        format_, where, arm, panel, status, clock, sense, kernel, notes = shared
        stated = None if integral is None else (kernel, integral)
        who = Identity(arm, instance, seed, panel)
        found = (candidates, first, last, horizon)
        return RunLine(path, format_, where, who, *found, status, clock, sense, stated, notes)

    def _pack(self) -> None:
        """Turn the lines that wait into columns."""
        if not self._waiting:
            return
        number, lines = self._names.number, self._waiting
        rows = [
            (
                line.identity.instance,
                line.identity.seed,
                line.stated_integral and line.stated_integral[1],
                line.candidates,
                line.first,
                line.last,
                line.horizon,
                number(line.format),
                number(line.where),
                number(line.identity.arm),
                number(line.identity.panel),
                number(line.status),
                number(line.clock),
                number(line.sense),
                number(line.stated_integral and line.stated_integral[0]),
                number(line.notes),
            )
            for line in lines
        ]
        columns = dict(zip(SCHEMA, zip(*rows, strict=True), strict=True))
        self._parts.append(pl.DataFrame(columns, schema=SCHEMA))
        self._waiting = []

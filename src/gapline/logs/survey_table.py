"""The lines of a survey, one per file and one per run, stored as columns because there may be millions of them."""

from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import GaplineError
from gapline.logs.formats import UnknownFormatError
from gapline.text import writable

# Lines that wait to become columns.
_WAITING = 2048
# Smaller tables are joined once there are this many of them.
_SMALL, _MANY = 4096, 32
# Most problems that a survey lists; beyond them, each file keeps only its first problem and their number.
MOST_KEPT = 10_000


class RunLine(NamedTuple):
    """One run of the survey: its identity, and the facts found; None if unknown.

    `first` and `last` are time stamps of candidates; `integral` is one that the source printed itself, under `kernel`.
    Each line of `notes` is a note.
    """

    instance: str | None
    seed: int | None
    integral: float | None
    candidates: int
    first: float | None
    last: float | None
    horizon: float | None
    format: str
    where: str
    arm: str | None
    panel: str | None
    status: str
    clock: str
    sense: str | None
    kernel: str | None
    notes: str = ""


# Texts that many runs share are categories.
SCHEMA: dict[str, pl.DataType] = dict.fromkeys(RunLine._fields, pl.Categorical()) | {
    "instance": pl.String(), "seed": pl.Int64(), "candidates": pl.Int64(),
    **dict.fromkeys(("integral", "first", "last", "horizon"), pl.Float64()),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class FileLine:
    """One file of the survey: its format, the slice of the survey's runs that belongs to it, and its problems."""

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


class FileLines(Sequence[FileLine]):
    """The files of a survey; `flawed` has the lines of those with problems, by their places.

    Runs are in the order of their files.

    >>> files = FileLines([FileLine("a.log", 0, (), "olines", run_count=2), FileLine("b.log", 0, (), "olines")])
    >>> files[0].run_count, files[1].first_run, files.paths, files.owners().tolist()
    (2, 2, ['a.log', 'b.log'], [0, 0])
    """

    def __init__(self, lines: Iterable[FileLine] = (), *, kept: int | None = None) -> None:
        self.paths: list[str] = []
        self.formats: list[str | None] = []
        self.flawed: dict[int, FileLine] = {}
        self.counts = array("q")
        self._runs, self._left = 0, kept
        self.extend(lines)

    def append(self, line: FileLine) -> None:
        """Append a file; its runs are the next ones."""
        if line.problem_count or line.error is not None:
            problems = line.problems
            if self._left is not None:
                problems = problems[: max(1, self._left)]
                self._left = max(0, self._left - len(problems))
            self.flawed[len(self.paths)] = replace(line, problems=problems, first_run=self._runs)
        self.paths.append(line.path)
        self.formats.append(line.format)
        self.counts.append(line.run_count)
        self._runs += line.run_count

    def extend(self, lines: Iterable[FileLine]) -> None:
        """Append several files."""
        for line in lines:
            self.append(line)

    def owners(self) -> NDArray[np.int64]:
        """Return the place of the file of each run."""
        return np.repeat(np.arange(len(self.paths)), np.array(self.counts, np.int64))

    def __len__(self) -> int:
        return len(self.paths)

    def __iter__(self) -> Iterator[FileLine]:
        first = 0
        for place, (path, name, count) in enumerate(zip(self.paths, self.formats, self.counts, strict=True)):
            yield self.flawed.get(place) or FileLine(path, 0, (), name, first, count)
            first += count

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]


class RunLines(Sequence[RunLine]):
    """The runs of a survey, in the order of its files; a line is made on demand."""

    def __init__(self, files: FileLines, table: pl.DataFrame | None = None) -> None:
        self._files = files
        self._parts = [] if table is None else [table]
        self._waiting: list[RunLine] = []
        self._size = 0 if table is None else table.height

    def append(self, line: RunLine) -> None:
        """Append a run."""
        self._waiting.append(line._replace(where=writable(line.where), notes=writable(line.notes)))
        self._size += 1
        if len(self._waiting) >= _WAITING:
            self._pack()

    def extend(self, other: "RunLines") -> None:
        """Append the runs of another survey; its files have to be appended separately."""
        self._pack()
        self._parts.append(other.table)
        # Small tables take more memory than their cells.
        if sum(part.height < _SMALL for part in self._parts[-_MANY:]) == _MANY:
            self._parts[-_MANY:] = [pl.concat(self._parts[-_MANY:], rechunk=True)]
        self._size += len(other)

    def _pack(self) -> None:
        """Turn the waiting lines into columns."""
        if self._waiting:
            columns = dict(zip(SCHEMA, zip(*self._waiting, strict=True), strict=True))
            self._parts.append(pl.DataFrame(columns, schema=SCHEMA))
            self._waiting = []

    @property
    def table(self) -> pl.DataFrame:
        """The runs as a table of `SCHEMA`."""
        self._pack()
        if len(self._parts) != 1:
            # Not copied: the table has all runs.
            self._parts = [pl.concat(self._parts) if self._parts else pl.DataFrame(schema=SCHEMA)]
        return self._parts[0]

    def texts(self, name: str) -> pl.Series:
        """Return a text of each run: its arm, clock, sense, …"""
        return self.table[name].cast(pl.String)

    def among(self, name: str) -> dict[str | None, int]:
        """Return the distinct texts of a column, each with the first run that has it."""
        found = self.table.select(name).with_row_index("row").group_by(name).agg(pl.col("row").min()).sort("row")
        return dict(found.iter_rows())

    def who(self) -> pl.DataFrame:
        """Return arm, instance and seed of each run; null if unknown."""
        return self.table.select("instance", "seed", pl.col("arm").cast(pl.String))

    def unnamed(self) -> list[int]:
        """Return the runs without an arm or an instance."""
        missing = (pl.col("arm").fill_null("") == "") | (pl.col("instance").fill_null("") == "")
        return self.who().select(missing.arg_true()).to_series().to_list()

    def places(self, rows: Iterable[int]) -> list[str]:
        """Return the paths of some runs, with the part of the file if there are several."""
        owners, where = self._files.owners(), self.table["where"]
        return [f"{self._files.paths[owners[row]]} {where[row]}".rstrip() for row in rows]

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[RunLine]:
        return map(RunLine._make, self.table.iter_rows())

    def __getitem__(self, place: Any) -> Any:
        return list(self)[place]

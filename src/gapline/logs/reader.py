"""The interface of a reader: a name, a test of the first bytes, and a function from a log to runs."""

import io
import mmap
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, fields
from itertools import chain
from typing import Any, BinaryIO, cast

from gapline.campaign.assembly import RunTrace
from gapline.errors import TraceError
from gapline.files.compression import Content
from gapline.files.open_file import VARIABLE, most_bytes
from gapline.files.scratch_arrays import scratch_place
from gapline.logs.lines import LineFilter, Lines, shown, uncoloured
from gapline.traces.blocks import BLOCK, text_blocks
from gapline.traces.columns import PLAIN, Dialect

HEAD = 64 * 1024


Companion = Callable[[str], "AbstractContextManager[LogFile | None]"]


class LogFile:
    """A log as passed to a reader.

    `path` is as the user named it; `head` holds its first bytes (at least 64 KiB if there are as many), and `data` all
    of them: decompressed, without byte order mark and terminal colours, UTF-16 converted to UTF-8. `cut` says that a
    compressed file ends in the middle of its stream; for a large one, this is known only after its lines were read.
    `companion` is a context manager that opens a companion (`data_f1.dat` of an index file) by its path relative to
    this file's folder; it gives None if there is none inside the folder. `beside` returns the bytes of a companion.
    `dialect` is how a table differs from a neutral trace, as stated by the user.

    A log that is too large for memory has a `rest` after its head, which can be read only once. A reader that needs
    only `head` and one pass over `lines()` or `blocks()` can read logs of any size; `data` loads a log completely.
    """

    __slots__ = ("_companion", "_cut", "_file", "_rest", "_whole", "dialect", "head", "path")

    def __init__(
        self,
        path: str,
        data: bytes,
        cut: bool | Callable[[], bool] = False,
        beside: Callable[[str], bytes | None] = lambda _name: None,
        dialect: Dialect = PLAIN,
        companion: Companion | None = None,
        *,
        rest: Iterable[bytes] | None = None,
    ) -> None:
        self.path, self.dialect, self._cut = path, dialect, cut
        self._file: BinaryIO | None = None
        pieces = uncoloured((data,) if rest is None else chain((data,), rest))
        # A log without escapes is not copied: joining a single piece returns it.
        self.head = b"".join(pieces) if rest is None else next(pieces, b"")
        self._whole = self.head if rest is None else None
        self._rest: Iterator[bytes] | None = pieces
        self._companion = companion or (lambda name: nullcontext(_held(name, beside(name))))

    def __del__(self) -> None:
        if self._file is not None:
            self._file.close()

    def companion(self, name: str) -> "AbstractContextManager[LogFile | None]":
        """Open a companion as a context manager; None if there is none inside the folder."""
        return self._companion(name)

    def beside(self, name: str) -> bytes | None:
        """Return the bytes of a companion; None if there is none inside the folder."""
        with self.companion(name) as log:
            return None if log is None else log.data

    @property
    def cut(self) -> bool:
        """Whether a compressed file ends early, as far as is known."""
        return self._cut() if callable(self._cut) else self._cut

    @property
    def is_blank(self) -> bool:
        """Whether the log has only white space."""
        return not self.head.strip() and not self.data.strip()

    @property
    def data(self) -> bytes:
        """All bytes; raises an error for a log beyond the limit."""
        if self._whole is None:
            target = io.BytesIO()
            self._copy(target)
            self._whole = target.getvalue()
        return self._whole

    def file(self) -> BinaryIO | None:
        """Return an anonymous temporary file with a copy of a large log; None if the log is in memory.

        Disk space is limited like memory, so the same limit applies.
        """
        if self._whole is None and self._file is None:
            self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=scratch_place()))  # noqa: SIM115 - gone with the log
            self._copy(self._file)
            self._file.flush()
        return self._file

    def content(self, until: int | None = None) -> Content:
        """Return all bytes, or those before `until`; a large log is mapped from a file instead of loaded."""
        file = self.file()
        if file is None:
            return self.data[:until]
        size = file.seek(0, io.SEEK_END) if until is None else until
        return mmap.mmap(file.fileno(), size, access=mmap.ACCESS_READ) if size else b""

    def _copy(self, target: BinaryIO) -> None:
        most = most_bytes()
        for piece in self._pieces():
            target.write(piece)
            if target.tell() > most:
                limit = f"{self.path}: expected at most {most:,} bytes once unpacked, got more"
                raise TraceError(limit, hint=f"{VARIABLE} raises the limit; formats that are read by lines have none")

    def _pieces(self) -> Iterator[bytes]:
        """Yield the bytes from the first to the last; for a large log only once."""
        if self._whole is not None:
            return (self._whole[at : at + BLOCK] for at in range(0, len(self._whole), BLOCK))
        if self._rest is None:
            raise TraceError(
                f"{self.path}: expected a reader that goes through a large log once, got one that does twice"
            )
        rest, self._rest = self._rest, None
        return chain((self.head,), rest)

    def blocks(self) -> Iterator[bytes]:
        """Yield blocks of whole lines with line feeds, for a reader that processes many rows at once."""
        whole = self._whole
        if whole is not None and len(whole) <= BLOCK and b"\r" not in whole:
            return iter([whole] if whole else [])
        return text_blocks(self._pieces(), source=self.path)

    def lines(self, line_filter: LineFilter | None = None) -> Lines:
        """Return the lines with their numbers, for one iteration; a large log is not loaded for it.

        A reader can pass a `line_filter` to skip lines that are irrelevant to it.
        """
        return Lines(self._pieces() if self._whole is None else (self._whole,), line_filter)


def _held(name: str, data: bytes | None) -> LogFile | None:
    return None if data is None else LogFile(name, data)


@dataclass(frozen=True, slots=True)
class SourceReference:
    """A reference value that a log states for its instance."""

    instance: str
    value: float
    certified: bool
    source: str


@dataclass(slots=True)
class FoundRun(RunTrace):
    """A run in a log: its identity as far as the log states it (otherwise None), and its events.

    `sense` is "min" or "max" as the log states or shows it, otherwise None; `guessed` says that it was only inferred
    from how the values move, so that the user's option takes precedence. Objectives stay as the log writes them.
    `stated_integral` is an integral that the source printed itself, as (kernel, value on gapline's scale), which the
    import recomputes. `clock` is "wall", "cpu" or another word, empty if unknown. `where` says which part of the file
    the run is ("run 3"), `notes` are about this run only.
    """

    clock: str = ""
    resolution: float | None = None
    sense: str | None = "min"
    guessed: bool = False
    stated_integral: tuple[str, float] | None = None
    where: str = ""
    notes: tuple[str, ...] = ()

    def named(self, *, arm: str, instance: str, seed: int, panel: str | None) -> RunTrace:
        """Return the run under the identity that the importer settled."""
        own: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(RunTrace)}
        said = {"clock": self.clock or None, "resolution": self.resolution, "validation": "solver"}
        own |= {"arm": arm, "instance": instance, "seed": seed, "panel": panel, "carried": said | dict(self.carried)}
        return RunTrace(**own)


class Problems(list[str]):
    """Messages about unusable content; beyond a thousand they are counted, not kept."""

    most = 1000

    def __init__(self) -> None:
        super().__init__()
        self.unlisted = 0

    def append(self, message: str) -> None:
        """Keep a message, or count it."""
        if len(self) < self.most:
            super().append(message)
        else:
            self.unlisted += 1


@dataclass(slots=True)
class Found:
    """The content of a log, and the problems in it (`file:line: expected …, got …`)."""

    runs: list[FoundRun] = field(default_factory=list)
    references: list[SourceReference] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)

    @property
    def problem_count(self) -> int:
        """The number of problems, listed or not."""
        return len(self.problems) + self.problems.unlisted

    def refuse(self, where: str, expected: str, got: str | bytes, after: str = "") -> None:
        """Add a problem: something in the log could not be used."""
        self.problems.append(f"{where}: expected {expected}, got {shown(got)}{after}")

    def refuse_torn(self, where: str, text: str | bytes) -> None:
        """Add a problem: the last line has no line end, and a number that was cut is another number."""
        self.refuse(where, "a whole line", text, " where the file ends")

    def refuse_cut(self, where: str) -> None:
        """Add a problem: a compressed file ends in the middle of its stream."""
        self.problems.append(f"{where}: expected a whole compressed file, got one that ends early")

    def numbered(self, part: str = "run") -> "Found":
        """Set `where` of each run if there are several, and return self."""
        if len(self.runs) > 1:
            for number, run in enumerate(self.runs, start=1):
                run.where = f"{part} {number}"
        return self


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: its name for `--format`, whether a file's head looks like it, and how to read it.

    `looks_like(path, head)` gets the first 64 KiB; it must be cheap and must not raise. `is_companion(path, head)` says
    whether a file is read through another file of this format (the `.dat` of an index file), so that it is not read
    twice in a folder. `read` raises `TraceError` if the file as a whole is not of this format, and adds to `problems`
    what it could not use inside it.
    """

    name: str
    describes: str
    looks_like: Callable[[str, bytes], bool]
    read: Callable[[LogFile], Found]
    is_companion: Callable[[str, bytes], bool] = lambda _path, _head: False

"""What a reader of a foreign log is: a name, a look at the first bytes, and a function from bytes to runs."""

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
    """A log as a reader gets it.

    `path` is as the user named it; `head` are its first bytes, at least 64 KiB where there are so many, and `data` all
    of them: unpacked, without byte order mark and without the colours of a terminal, UTF-16 turned into UTF-8.
    `cut` says that a compressed file ends in the middle of its stream; of a large one this is known after its lines
    were read. `companion` opens a companion (`data_f1.dat` of an index file) by its path relative to this file's
    folder, for as long as it is read: None where there is none inside the folder; `beside` returns its bytes.
    `dialect` is how a table differs from a neutral trace, as the user says.

    A log that is too large to be held has a `rest` behind its head, which is gone through once. A reader that needs no
    more than `head` and one pass over `lines()`, or over `blocks()`, reads logs of any size; `data` holds all of one.
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
        """Open a companion for as long as it is read; None where there is none inside the folder."""
        return self._companion(name)

    def beside(self, name: str) -> bytes | None:
        """Return the bytes of a companion, None where there is none inside the folder."""
        with self.companion(name) as log:
            return None if log is None else log.data

    @property
    def cut(self) -> bool:
        """Whether a compressed file ends early, as far as is known."""
        return self._cut() if callable(self._cut) else self._cut

    @property
    def is_blank(self) -> bool:
        """Whether there is nothing but white space."""
        return not self.head.strip() and not self.data.strip()

    @property
    def data(self) -> bytes:
        """All bytes; of a log beyond the limit an error."""
        if self._whole is None:
            target = io.BytesIO()
            self._copy(target)
            self._whole = target.getvalue()
        return self._whole

    def file(self) -> BinaryIO | None:
        """Return a file without a name that a large log is copied to, None where it is held.

        The disk is no more endless than memory is: the same limit holds.
        """
        if self._whole is None and self._file is None:
            self._file = cast("BinaryIO", tempfile.TemporaryFile(dir=scratch_place()))  # noqa: SIM115 - gone with the log
            self._copy(self._file)
            self._file.flush()
        return self._file

    def content(self, until: int | None = None) -> Content:
        """Return all bytes, or those before a place, of a large log mapped from a file and not held."""
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
        """Yield the bytes from the first to the last; those of a large log once."""
        if self._whole is not None:
            return (self._whole[at : at + BLOCK] for at in range(0, len(self._whole), BLOCK))
        if self._rest is None:
            raise TraceError(
                f"{self.path}: expected a reader that goes through a large log once, got one that does twice"
            )
        rest, self._rest = self._rest, None
        return chain((self.head,), rest)

    def blocks(self) -> Iterator[bytes]:
        """Yield blocks of whole lines with line feeds, for a reader that takes many rows at once."""
        whole = self._whole
        if whole is not None and len(whole) <= BLOCK and b"\r" not in whole:
            return iter([whole] if whole else [])
        return text_blocks(self._pieces(), source=self.path)

    def lines(self, line_filter: LineFilter | None = None) -> Lines:
        """Return the lines with their numbers, to be gone through once; a large log is not held for it.

        A reader whose `line_filter` says which lines can tell it anything is not given the others.
        """
        return Lines(self._pieces() if self._whole is None else (self._whole,), line_filter)


def _held(name: str, data: bytes | None) -> LogFile | None:
    return None if data is None else LogFile(name, data)


@dataclass(frozen=True, slots=True)
class SourceReference:
    """A reference value that a log carries about its instance."""

    instance: str
    value: float
    certified: bool
    source: str


@dataclass(slots=True)
class FoundRun(RunTrace):
    """A run inside a log: what the log itself says of its identity (None where it is silent), and its events.

    `sense` is "min" or "max" as the log states or shows it, None where it does neither; `guessed` says that it only
    follows from how the values move, so that the user's word goes before it. Objectives stay as the log writes them.
    `stated_integral` is an integral that the source printed itself, as (kernel, value on gapline's scale), which the
    import recomputes. `clock` is "wall", "cpu" or another word, empty where nobody states it. `where` says which part
    of the file the run is ("run 3"), `notes` what is about this run alone.
    """

    clock: str = ""
    resolution: float | None = None
    sense: str | None = "min"
    guessed: bool = False
    stated_integral: tuple[str, float] | None = None
    where: str = ""
    notes: tuple[str, ...] = ()

    def named(self, *, arm: str, instance: str, seed: int, panel: str | None) -> RunTrace:
        """Return the run under the identity that the importer settled on."""
        own: dict[str, Any] = {one.name: getattr(self, one.name) for one in fields(RunTrace)}
        said = {"clock": self.clock or None, "resolution": self.resolution, "validation": "solver"}
        own |= {"arm": arm, "instance": instance, "seed": seed, "panel": panel, "carried": said | dict(self.carried)}
        return RunTrace(**own)


class Problems(list[str]):
    """Messages about what could not be used; beyond a thousand they are counted, not kept."""

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
    """Everything found in one log, and what could not be used (`file:line: expected …, got …`)."""

    runs: list[FoundRun] = field(default_factory=list)
    references: list[SourceReference] = field(default_factory=list)
    problems: Problems = field(default_factory=Problems)
    notes: list[str] = field(default_factory=list)

    @property
    def problem_count(self) -> int:
        """How many problems there were, listed or not."""
        return len(self.problems) + self.problems.unlisted

    def refuse(self, where: str, expected: str, got: str | bytes, after: str = "") -> None:
        """Note that something in the log could not be used."""
        self.problems.append(f"{where}: expected {expected}, got {shown(got)}{after}")

    def refuse_torn(self, where: str, text: str | bytes) -> None:
        """Note the last line of a file that ends in the middle of it: a number that was cut is another number."""
        self.refuse(where, "a whole line", text, " where the file ends")

    def refuse_cut(self, where: str) -> None:
        """Note that a compressed file ends in the middle of its stream."""
        self.problems.append(f"{where}: expected a whole compressed file, got one that ends early")

    def numbered(self, part: str = "run") -> "Found":
        """Say which part of the file each run is, where there are several, and return what was found."""
        if len(self.runs) > 1:
            for number, run in enumerate(self.runs, start=1):
                run.where = f"{part} {number}"
        return self


@dataclass(frozen=True, slots=True)
class Reader:
    """A format: its name for `--format`, whether a file's head looks like it, and how to read it.

    `looks_like(path, head)` sees the first 64 KiB; it must be cheap and must not raise. `is_companion(path, head)` says
    that a file is read through another one of this format (the `.dat` of an index file), so that a folder is walked
    without reading it twice. `read` raises `TraceError` where the file as a whole is not of this format, and counts in
    `problems` what it could not use inside it.
    """

    name: str
    describes: str
    looks_like: Callable[[str, bytes], bool]
    read: Callable[[LogFile], Found]
    is_companion: Callable[[str, bytes], bool] = lambda _path, _head: False

"""The folder of an unfinished import: finished pieces, from which the same command continues after a kill."""

import contextlib
import fcntl
import hashlib
import io
import json
import mmap
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any

import msgspec
import numpy as np
import polars as pl

from gapline import errors
from gapline.campaign.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS
from gapline.campaign.diagnostics import Diagnostics
from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError, GaplineError, TraceError, UsageError
from gapline.files.atomic_write import write_atomically
from gapline.logs.chunk import Chunk, Job, read_chunk
from gapline.logs.formats import UnknownFormatError, plugin_versions
from gapline.logs.log_files import Source, marks_of
from gapline.logs.naming import Naming
from gapline.logs.reader import Reader, SourceReference
from gapline.logs.spool import Batch, Spool, Waiting
from gapline.logs.survey_table import FileLine, FileLines, RunLines

_MAGIC = b"gapline piece 2\n"
_ALIGN = 64
_DTYPES = {name: np.dtype(kind) for name, kind in (REQUIRED_COLUMNS | OPTIONAL_COLUMNS).items()}


# The kind, message and hint of an error.
_Refusal = tuple[str, str, str | None]
_OF_CHUNK = ("references", "notes", "companions", "empty", "beside")


class _StoredBatch(msgspec.Struct):
    size: int
    columns: dict[str, int]
    codes: list[int] | None


class _Stored(msgspec.Struct):
    """The header of a piece; offsets count from the end of this text. `files` are the fields of a `FileLine`."""

    files: list[tuple[str, int, tuple[str, ...], str | None, int, int, _Refusal | None]]
    runs: tuple[int, int]
    references: list[tuple[SourceReference, str]]
    notes: list[str]
    matched: int
    companions: list[str]
    empty: list[str]
    beside: dict[str, tuple[int, ...]]
    reasons: list[str]
    diagnostics: Diagnostics
    not_positive: int
    tables: list[tuple[int, int]]
    batches: list[_StoredBatch]


def save_piece(chunk: Chunk, path: Path) -> None:
    """Write a chunk to a file."""
    spool = chunk.spool
    parts: list[Any] = []
    at = 0

    def place(data: Any) -> int:
        nonlocal at
        start, at = at, at + -(-len(data) // _ALIGN) * _ALIGN
        parts.append(data)
        return start

    def place_table(table: pl.DataFrame) -> tuple[int, int]:
        stream = io.BytesIO()
        table.write_ipc(stream)
        return place(stream.getvalue()), len(stream.getvalue())

    batches = []
    for batch in spool.batches:
        columns = {name: place(_bytes(column)) for name, column in batch.columns.items()}
        codes = None if batch.codes is None else batch.codes.tolist()
        batches.append(_StoredBatch(batch.size, columns, codes))
    stored = _Stored(
        files=[
            (f.path, f.problem_count, f.problems, f.format, f.first_run, f.run_count, _stored_error(f.error))
            for f in chunk.files
        ],
        runs=place_table(chunk.runs.table),
        reasons=list(spool.reasons),
        diagnostics=spool.diagnostics,
        not_positive=spool.not_positive,
        matched=chunk.naming.matched,
        tables=[place_table(table) for table in spool.tables],
        batches=batches,
        **{name: getattr(chunk, name) for name in _OF_CHUNK},
    )
    # With Python's `json`: a path may not be valid UTF-8, which it can encode.
    text = json.dumps(msgspec.to_builtins(stored, enc_hook=_plain)).encode()

    def write(stream: IO[bytes]) -> None:
        head = _MAGIC + len(text).to_bytes(8, "little") + text
        stream.write(head + bytes(-len(head) % _ALIGN))
        for data in parts:
            stream.write(data)
            stream.write(bytes(-len(data) % _ALIGN))

    write_atomically(path, write)


def load_piece(path: Path) -> Chunk:
    """Read a chunk; its columns stay in the file. Raises a `TraceError` if it cannot be read."""
    try:
        with path.open("rb") as stream:
            content = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
        head = len(_MAGIC) + 8
        if content[: len(_MAGIC)] != _MAGIC:
            raise ValueError("another kind of file")
        size = int.from_bytes(content[len(_MAGIC) : head], "little")
        stored = msgspec.convert(json.loads(content[head : head + size]), _Stored)
        start = head + size + -(head + size) % _ALIGN
        runs, *tables = [
            pl.read_ipc(content[start + at : start + at + length]) for at, length in (stored.runs, *stored.tables)
        ]
        batches = []
        for one in stored.batches:
            columns: dict[str, Any] = {}
            for name, at in one.columns.items():
                if start + at + one.size * _DTYPES[name].itemsize > len(content):
                    raise ValueError("one that was cut")
                columns[name] = Waiting(path, _DTYPES[name], start + at, one.size)
            codes = None if one.codes is None else np.array(one.codes, np.uint8)
            batches.append(Batch(one.size, columns, codes))
    except (OSError, ValueError, KeyError, msgspec.MsgspecError, pl.exceptions.PolarsError) as error:
        raise TraceError(f"{path}: expected a part of an unfinished import, got {error}") from error
    spool = Spool(
        tables=tables,
        reasons={name: code for code, name in enumerate(stored.reasons)},
        diagnostics=stored.diagnostics,
        not_positive=stored.not_positive,
        batches=batches,
        size=sum(batch.size for batch in batches),
    )
    files = FileLines(FileLine(*one[:-1], _loaded_error(one[-1])) for one in stored.files)
    chunk = Chunk(
        files, naming=Naming(matched=stored.matched), spool=spool, **{name: getattr(stored, name) for name in _OF_CHUNK}
    )
    chunk.runs = RunLines(files, runs)
    return chunk


def _bytes(column: Any) -> memoryview:
    # The column of a large log is in a file already.
    here = column.mapped() if isinstance(column, Waiting) else column
    return np.ascontiguousarray(here).view(np.uint8).data


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise NotImplementedError(f"{type(value).__name__} in what a reader found")


def _stored_error(error: GaplineError | None) -> _Refusal | None:
    return None if error is None else (type(error).__name__, error.message, error.hint)


def _loaded_error(refusal: _Refusal | None) -> GaplineError | None:
    if refusal is None:
        return None
    name, message, hint = refusal
    # Only our own errors: a name in a file must not select an arbitrary class.
    kind = UnknownFormatError if name == UnknownFormatError.__name__ else getattr(errors, name, None)
    ours = kind if isinstance(kind, type) and issubclass(kind, GaplineError) else TraceError
    return ours(message, hint=hint)


SUFFIX = ".piece"
# Tasks that are submitted before the first result is used, per task that can run at a time.
_AHEAD = 3
# Most chunks after the first unread one: the facts about their files are held in memory.
_WINDOW = 512


def place_beside(target: Path) -> Path:
    """Return the folder where an import into a directory keeps its progress: next to it, on the same disk."""
    place = Path(os.path.realpath(target))
    return place.parent / f".{place.name}.importing"


@contextlib.contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """Lock the folder of an import into `target`; it is removed at the end, and kept if the process is killed.

    After an error it is kept too, unless it has less than two pieces: perhaps only one of many files has to be fixed.
    """
    folder = place_beside(target)
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise UsageError(f"{target}: expected one import at a time, got another that is under way") from None
        except OSError:
            # Some network file systems cannot lock directories: there, avoiding two imports is up to the user.
            pass
        try:
            yield folder
        except BaseException:
            if len(list(folder.glob(f"*{SUFFIX}"))) < 2:
                shutil.rmtree(folder, ignore_errors=True)
            raise
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(handle)


def name_piece(job: Job, sources: Sequence[Source]) -> str:
    """Return the name of a piece, which changes with the files, their content, the options and the version."""
    how = asdict(job)
    # Where columns wait, and where a worker finds the files, does not affect the result.
    del how["in_memory"], how["root"]
    # There is no way to know whether a function is the same as last time.
    if isinstance(job.format, Reader):
        how["format"] = f"{job.format.name} {os.getpid()} {id(job.format)}"
    facts = [VERSION, plugin_versions(), how, [[one.path, *one.marks, *(one.inside or ())] for one in sources]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:40] + SUFFIX


@dataclass(frozen=True, slots=True)
class ReadChunk:
    """The result of reading a chunk: its content, its files, and whether an earlier import had read it."""

    chunk: Chunk
    sources: Sequence[Source]
    kept: bool


def read_chunks(
    job: Job,
    chunks: Iterable[Sequence[Source]],
    *,
    folder: Path | None = None,
    executor: Executor | None = None,
    width: int = 1,
    done: Callable[[int], None] = lambda _files: None,
) -> Iterator[ReadChunk]:
    """Yield the content of each chunk in order, independent of the executor and the order in which tasks finish.

    Chunks are taken on demand, and released when they are yielded.

    Parameters
    ----------
    folder
        Where pieces are kept; those that exist already are not read again. An executor needs a folder.
    executor, width
        Executor of the tasks, and how many it runs at a time; without one, files are read in this process.
    done
        Called with the number of files that were finished since the last call.
    """
    if folder is None:
        for sources in chunks:
            yield ReadChunk(read_chunk(job, sources, done=lambda: done(1)), sources, kept=False)
        return
    pending: dict[int, Future[None]] = {}
    try:
        yield from _read_pieces(job, chunks, folder, executor, _AHEAD * width, done, pending)
    except BrokenProcessPool as error:
        raise EnvironmentLacksError(
            f"a process that read logs was ended from outside: {error}",
            hint="the system may have run out of memory (--memory, --jobs 1); what was read is kept: the same command "
            "goes on from there",
        ) from error
    finally:
        for future in pending.values():
            future.cancel()


def _read_pieces(
    job: Job,
    chunks: Iterable[Sequence[Source]],
    folder: Path,
    executor: Executor | None,
    most: int,
    done: Callable[[int], None],
    pending: dict[int, Future[None]],
) -> Iterator[ReadChunk]:
    """Read pieces here or in the executor, `most` at a time; `pending` holds the submitted ones."""
    held: dict[int, tuple[Sequence[Source], Path]] = {}
    ready: dict[int, bool] = {}
    coming, window = iter(chunks), _WINDOW if executor else 1
    at = following = 0
    while True:
        while len(pending) < most and following - at < window and (sources := next(coming, ())):
            held[following] = sources, (piece := folder / name_piece(job, sources))
            if is_kept := _is_kept(piece):
                done(len(sources))
            if is_kept or executor is None:
                ready[following] = is_kept
            else:
                pending[following] = executor.submit(read_piece, job, sources, str(piece))
            following += 1
        if at == following:
            return
        if at not in ready:
            finished, _ = wait(pending.values(), return_when=FIRST_COMPLETED)
            for number in [number for number, future in pending.items() if future in finished]:
                pending.pop(number).result()
                ready[number] = False
                done(len(held[number][0]))
        while at in ready:
            sources, piece = held.pop(at)
            if not ready[at] and executor is None:
                read_piece(job, sources, str(piece), lambda: done(1))
            yield ReadChunk(load_piece(piece), sources, ready.pop(at))
            at += 1


def read_piece(job: Job, sources: Sequence[Source], place: str, done: Callable[[], None] = lambda: None) -> None:
    """Read some logs and write the result as a piece; this is a worker's task."""
    with _temporary_files_in(Path(place).parent):
        save_piece(read_chunk(job, sources, done=done), Path(place))


@contextlib.contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Put temporary files on the disk of the target: elsewhere there may be no room, or only a disk in memory."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _is_kept(piece: Path) -> bool:
    """Whether a piece exists and the companions read for it have not changed since."""
    try:
        return piece.exists() and all(marks_of(path) == marks for path, marks in load_piece(piece).beside.items())
    except TraceError:
        return False

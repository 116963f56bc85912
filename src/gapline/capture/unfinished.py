"""The folder of an import that is under way: the pieces read so far, so that the same command goes on after a kill."""

import contextlib
import fcntl
import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import asdict, dataclass
from pathlib import Path

from gapline.capture.chunk import Chunk, Job, read_chunk
from gapline.capture.formats import plugin_versions
from gapline.capture.pieces import load_piece, save_piece
from gapline.capture.reader import Reader
from gapline.capture.sources import Source, marks_of
from gapline.errors import EnvironmentLacksError, TraceError, UsageError
from gapline.model.version import VERSION

SUFFIX = ".piece"
# Tasks that are given out before the first of them is taken back, for each that can run at a time.
_AHEAD = 3
# Chunks behind the first that is not read yet: what is known of their files is held.
_WINDOW = 512


def place_beside(target: Path) -> Path:
    """Return where an import into a directory keeps what it has read: beside it, on the same disk."""
    place = Path(os.path.realpath(target))
    return place.parent / f".{place.name}.importing"


@contextlib.contextmanager
def unfinished(target: Path) -> Iterator[Path]:
    """Hold the folder of an import into `target`, alone; it is removed at the end, and kept when that does not come.

    What an error leaves there is kept as well, unless it is little: it may be a file of many that has to be mended.
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
            # Some network file systems lock no directories: there two imports would be the user's mistake.
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
    """Return the name of a piece: another one for other files, changed files, other options or another version."""
    how = asdict(job)
    # Where columns wait, and where a worker finds the files, changes nothing about them.
    del how["in_memory"], how["root"]
    # Nobody can say whether a function is the one of last time.
    if isinstance(job.format, Reader):
        how["format"] = f"{job.format.name} {os.getpid()} {id(job.format)}"
    facts = [VERSION, plugin_versions(), how, [_facts(source) for source in sources]]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:40] + SUFFIX


def _facts(source: Source) -> list[object]:
    return [source.path, *source.marks, *(source.inside or ())]


@dataclass(frozen=True, slots=True)
class Handed:
    """A chunk as it comes back: of which files, and whether it was read by an import before this one."""

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
) -> Iterator[Handed]:
    """Yield what each chunk holds, in their order, whoever reads them and in whichever order they are finished.

    Chunks are asked for when somebody has time for them, and let go of when they are handed over.

    Parameters
    ----------
    folder
        Where pieces are kept; those that are there already are not read again. An executor needs one.
    executor, width
        Who reads, and how many tasks it works on at a time; without one they are read here.
    done
        Is called with the number of files that were finished since the last call.
    """
    if folder is None or executor is None:
        for sources in chunks:
            yield _read_here(job, sources, folder, done)
        return
    pending: dict[int, Future[str]] = {}
    try:
        yield from _read_elsewhere(job, chunks, folder, executor, _AHEAD * width, done, pending)
    except BrokenProcessPool as error:
        raise EnvironmentLacksError(
            f"a process that read logs was ended from outside: {error}",
            hint="the system may have run out of memory (--memory, --jobs 1); what was read is kept: the same command "
            "goes on from there",
        ) from error
    finally:
        for future in pending.values():
            future.cancel()


def _read_elsewhere(
    job: Job,
    chunks: Iterable[Sequence[Source]],
    folder: Path,
    executor: Executor,
    most: int,
    done: Callable[[int], None],
    pending: dict[int, Future[str]],
) -> Iterator[Handed]:
    """Let others read, at most so many chunks at a time; `pending` has those that were given out."""
    held: dict[int, tuple[Sequence[Source], Path]] = {}
    ready: dict[int, bool] = {}
    coming = iter(chunks)
    at = following = 0
    while True:
        while len(pending) < most and following - at < _WINDOW and (sources := next(coming, ())):
            held[following] = sources, (piece := folder / name_piece(job, sources))
            if _kept(piece) is not None:
                ready[following] = True
                done(len(sources))
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
            yield Handed(load_piece(piece), sources, ready.pop(at))
            at += 1


def read_piece(job: Job, sources: Sequence[Source], place: str) -> str:
    """Read some logs and write what was found as a piece; what a worker does."""
    with _temporary_files_in(Path(place).parent):
        save_piece(read_chunk(job, sources), Path(place))
    return place


@contextlib.contextmanager
def _temporary_files_in(folder: Path) -> Iterator[None]:
    """Let what waits on disk wait on the disk of the target: elsewhere there may be no room, or no disk but memory."""
    before, tempfile.tempdir = tempfile.tempdir, str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = before


def _read_here(job: Job, sources: Sequence[Source], folder: Path | None, done: Callable[[int], None]) -> Handed:
    piece = None if folder is None else folder / name_piece(job, sources)
    if piece is not None and (chunk := _kept(piece)) is not None:
        done(len(sources))
        return Handed(chunk, sources, kept=True)
    if piece is None:
        return Handed(read_chunk(job, sources, done=lambda: done(1)), sources, kept=False)
    with _temporary_files_in(piece.parent):
        chunk = read_chunk(job, sources, done=lambda: done(1))
        save_piece(chunk, piece)
    return Handed(chunk, sources, kept=False)


def _kept(piece: Path) -> Chunk | None:
    """Return the chunk of a piece that is there, unless a file that was read through another one has changed."""
    if not piece.exists():
        return None
    try:
        chunk = load_piece(piece)
    except TraceError:
        return None
    return chunk if all(marks_of(path) == marks for path, marks in chunk.beside.items()) else None

"""The logs of a chunk, opened one after the other: files as they are, members of archives as streams."""

import io
import threading
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path, PurePosixPath
from typing import Any, BinaryIO, Self, cast

from gapline.capture.logfiles import beside_names, log_from, opened_log
from gapline.capture.members import list_members
from gapline.capture.reader import LogFile
from gapline.capture.sources import Kind, Member, Source, marks_of
from gapline.capture.unrolled import Unrolled
from gapline.errors import TraceError
from gapline.model.regular import open_regular, reason_of
from gapline.model.text import printable

_LOCAL_HEADER = 30
_BITE = 1 << 16


class Openings:
    """Opens the logs of a chunk, in its order; relative paths start at `root`.

    A packed tar can only be gone through from its start: its members that are in the chunk, which are small where they
    are several, are taken in one go, and the next chunk goes on from there.
    """

    def __init__(self, sources: Sequence[Source], root: str = "") -> None:
        self._root, self._files, self._held = Path(root), dict[str, Any](), dict[tuple[str, int], bytes]()
        self._packed: dict[str, list[Member]] = {}
        for source in sources:
            if (inside := source.inside) is not None and inside.kind == Kind.PACKED_TAR and not inside.wrong:
                self._packed.setdefault(inside.archive, []).append(inside)
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._stack.close()

    @contextmanager
    def log(self, source: Source, seen: set[Path]) -> Iterator[LogFile]:
        """Open a log; `seen` notes the files that are read through it."""
        if source.inside is None:
            with opened_log(source.path, seen, root=self._root) as log:
                yield log
            return
        member, path = source.inside, source.path
        if member.wrong and path == member.archive:
            raise TraceError(f"{path}: {member.wrong}")
        if member.wrong:
            got = f"{printable(path)}: expected a plain file under a name of its own, got {member.wrong}"
            raise TraceError(got, hint="--keep-going leaves it out")
        try:
            self._refuse_changed(source)
            with io.BufferedReader(self._raw(member, source.size, path), _BITE) as stream:
                yield log_from(stream, path, companion=lambda name: self._open_beside(member, path, name, seen))
        except OSError as error:
            raise TraceError(f"{path}: expected a file that can be read, got {reason_of(error)}") from error

    def _refuse_changed(self, source: Source) -> None:
        assert source.inside is not None
        now = marks_of(self._root / source.inside.archive)
        # Size and time of writing: on another machine the same file may have another number.
        if now[:2] != source.marks[:2]:
            raise TraceError(f"{source.inside.archive}: expected the archive that was listed, got a changed one")

    def _raw(self, member: Member, size: int, path: str) -> io.RawIOBase:
        if member.kind == Kind.PACKED_TAR:
            together = self._packed.get(member.archive, [])
            if len(together) < 2:
                return _Slice(_cursor(self._root / member.archive), member.offset, size, path)
            return cast("io.RawIOBase", io.BytesIO(self._taken(member)))
        stream = self._opened(member.archive)
        if member.kind == Kind.TAR:
            return _Slice(stream, member.offset, size, path)
        return _zip_member(stream, member, size, path)

    def _opened(self, archive: str) -> Any:
        if archive not in self._files:
            self._files[archive] = self._stack.enter_context(open_regular(self._root / archive))
        return self._files[archive]

    def _taken(self, member: Member) -> bytes:
        """Return the bytes of a member of a packed tar, taken with those of the others of the chunk."""
        key = member.archive, member.offset
        if key not in self._held:
            cursor = _cursor(self._root / member.archive)
            for one in sorted(self._packed[member.archive], key=lambda one: one.offset):
                cursor.seek(one.offset)
                self._held[one.archive, one.offset] = cursor.read(one.stored)
        data = self._held.pop(key)
        if len(data) < member.stored:
            raise TraceError(f"{member.archive}: expected the archive that was listed, got one that ends before it")
        return data

    @contextmanager
    def _open_beside(self, member: Member, path: str, name: str, seen: set[Path]) -> Iterator[LogFile | None]:
        """Open a companion in the same archive."""
        folder = PurePosixPath(path[len(member.archive) + 1 :]).parent
        known = _names_in(self._root / member.archive)
        for candidate in beside_names(name):
            inside = str(folder / candidate)
            if (found := known.get(inside)) is not None and found.inside is not None and not found.inside.wrong:
                seen.add((self._root / member.archive / inside).resolve())
                with self._companion(found, f"{member.archive}/{inside}") as log:
                    yield log
                return
        yield None

    @contextmanager
    def _companion(self, source: Source, path: str) -> Iterator[LogFile]:
        member = source.inside
        assert member is not None
        with ExitStack() as opened:
            place = self._root / member.archive
            # Never the streams of the log, which is being read.
            if member.kind == Kind.PACKED_TAR:
                raw: io.RawIOBase = _Slice(_cursor(place, of="companions"), member.offset, source.size, path)
            else:
                stream = opened.enter_context(closing(open_regular(place)))
                slice_ = _Slice(stream, member.offset, source.size, path)
                raw = slice_ if member.kind == Kind.TAR else _zip_member(stream, member, source.size, path)
            with io.BufferedReader(raw, _BITE) as buffered:
                yield log_from(cast("BinaryIO", buffered), path)


class _Slice(io.RawIOBase):
    """A part of a stream; it goes back to its place before it reads, because others read the stream too."""

    def __init__(self, stream: Any, at: int, size: int, path: str) -> None:
        super().__init__()
        self._stream, self._at, self._left, self._path = stream, at, size, path

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        self._stream.seek(self._at)
        data = self._stream.read(min(len(target), self._left))
        if not data and self._left and len(target):
            raise TraceError(f"{self._path}: expected {self._left:,} bytes more, got the end of the archive")
        self._at += len(data)
        self._left -= len(data)
        target[: len(data)] = data
        return len(data)


def _zip_member(stream: Any, member: Member, size: int, path: str) -> "_ZipMember":
    stream.seek(member.offset)
    head = stream.read(_LOCAL_HEADER)
    if len(head) < _LOCAL_HEADER or not head.startswith(b"PK\x03\x04"):
        raise TraceError(f"{path}: expected a member where the list of the zip says, got something else")
    # The name and what else stands before the data: here they may be longer than in the list.
    skip = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    packed = _Slice(stream, member.offset + _LOCAL_HEADER + skip, member.stored, path)
    return _ZipMember(packed, member, size, path)


class _ZipMember(io.RawIOBase):
    """What is packed as a member of a zip; its size and its checksum are those that the list claims, or an error."""

    def __init__(self, packed: _Slice, member: Member, size: int, path: str) -> None:
        super().__init__()
        self._packed, self._member, self._left, self._path, self._crc = packed, member, size, path, 0
        self._inflate = zlib.decompressobj(-15) if member.method == zipfile.ZIP_DEFLATED else None
        self._ended = False

    def readable(self) -> bool:
        return True

    def readinto(self, target: Any) -> int:
        if self._ended or not len(target):
            return 0
        try:
            data = self._more(len(target))
        except zlib.error as error:
            raise TraceError(f"{self._path}: expected a whole member of a zip, got {printable(error)}") from error
        self._crc = zlib.crc32(data, self._crc)
        self._left -= len(data)
        self._ended = not data
        if self._left < 0 or (self._ended and (self._left or self._crc != self._member.crc)):
            raise TraceError(f"{self._path}: expected a member as the list of the zip claims, got a damaged one")
        target[: len(data)] = data
        return len(data)

    def _more(self, size: int) -> bytes:
        if self._inflate is None:
            return self._packed.read(size) or b""
        data = b""
        while not data and not self._inflate.eof:
            coming = self._inflate.unconsumed_tail or self._packed.read(_BITE) or b""
            data = self._inflate.decompress(coming, size)
            if not coming and not data:
                raise TraceError(f"{self._path}: expected a whole member of a zip, got one that ends early")
        return data


# One per thread: a worker of a cluster may have several, and each goes through an archive at its own pace.
_kept = threading.local()


def _cursor(path: Path, of: str = "logs") -> Unrolled:
    """Return the stream of a packed tar, where the chunk before this one left it."""
    key = str(path), marks_of(path)
    cursors: dict[str, tuple[Any, Unrolled]] = _kept.__dict__.setdefault("cursors", {})
    if of not in cursors or cursors[of][0] != key:
        cursors[of] = key, Unrolled(path)
    return cursors[of][1]


def _names_in(path: Path) -> dict[str, Source]:
    """Return the members of an archive by their names; kept for the chunks that follow."""
    key = str(path), marks_of(path)
    kept: tuple[Any, dict[str, Source]] | None = getattr(_kept, "names", None)
    if kept is None or kept[0] != key:
        skip = len(str(path)) + 1
        kept = key, {source.path[skip:]: source for source in list_members(path).sources}
        _kept.names = kept
    return kept[1]

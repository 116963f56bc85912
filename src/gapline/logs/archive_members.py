"""Logs inside .zip, .tar, .tar.gz and .tar.zst files: listed and read as streams, never unpacked to disk."""

import io
import tarfile
import threading
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from functools import lru_cache, partial
from pathlib import Path, PurePosixPath
from typing import Any, NamedTuple, Self, cast

from gapline.errors import GaplineError, TraceError
from gapline.files.archives import DAMAGED, open_zip, wrong_name, wrong_zip_kind, wrong_zip_name
from gapline.files.compression import Unrolled
from gapline.files.open_file import most_bytes, most_document, open_regular, reason_of
from gapline.files.tar_headers import EndsEarlyError, tar_headers, too_many_names, wrong_tar_kind
from gapline.logs.log_files import Kind, Member, Source, beside_names, cut_sources, log_from, marks_of, opened_log
from gapline.logs.reader import LogFile
from gapline.text import printable

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst")
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
# How many passes over a compressed tar are acceptable for reading its members in the order of their names.
_MOST_PASSES = 4
# Phrases for members that may not be read.
_NOUNS = {"there twice": "one that is there twice", "encrypted": "an encrypted one"}


def is_archive(path: str | Path) -> bool:
    """Whether a file has the suffix of an archive."""
    return str(path).lower().endswith(SUFFIXES)


class Listed(NamedTuple):
    """The members of an archive in the order in which they are read, with a note on that order."""

    sources: Sequence[Source]
    note: str = ""


class _Found(NamedTuple):
    """A member as listed in an archive."""

    name: str
    size: int
    member: Member


def list_members(path: str | Path) -> Listed:
    """List the files of an archive, without hidden ones, in the order of a folder walk.

    A large compressed tar in another order is read in its own order, because it can only be read from its start.
    """
    path, marks = str(path), marks_of(path)
    found: list[_Found] = []
    ends: Source | None = None
    try:
        # Members before an error are kept: they may be all that the user wants.
        for one in _members(path):
            found.append(one)
    except OSError as error:
        ends = _wrong_archive(path, marks, f"expected an archive that can be read, got {reason_of(error)}")
    except GaplineError as error:
        ends = _wrong_archive(path, marks, error.message.removeprefix(f"{path}: "))
    twice = {name for name, count in Counter(one.name for one in found).items() if count > 1}
    sources = [
        Source(
            f"{path}/{one.name}",
            one.size,
            (*marks, one.member.offset, one.size),
            one.member if one.name not in twice else one.member._replace(wrong=_noun("there twice")),
        )
        for one in found
    ]
    in_order, note = _ordered(path, sources)
    if ends is not None:
        in_order.append(ends)
    elif not in_order:
        in_order.append(_wrong_archive(path, marks, "expected an archive with files, got none in it"))
    return Listed(in_order, note)


def _wrong_archive(path: str, marks: tuple[int, ...], why: str) -> Source:
    return Source(path, 0, marks, Member(path, Kind.ZIP, wrong=why))


def _ordered(path: str, sources: list[Source]) -> tuple[list[Source], str]:
    """Sort like a folder walk, files before folders; if that needs many passes, keep the archive's order."""
    skip = len(path) + 1
    by_name = sorted(sources, key=lambda one: _walked(one.path[skip:]))
    if not sources or sources[0].inside is None or sources[0].inside.kind != Kind.PACKED_TAR:
        return by_name, ""
    at = passed = end = 0
    for chunk in cut_sources(by_name):
        places = [(one.inside.offset, one.size) for one in chunk if one.inside]
        low, high = min(place for place, _ in places), max(place + size for place, size in places)
        passed += high - at if low >= at else high
        at, end = high, max(end, high)
    if passed <= _MOST_PASSES * end:
        return by_name, ""
    return sources, f"{path}: its files are taken in its own order, not in that of their names"


def _walked(name: str) -> list[tuple[bool, str]]:
    parts = name.split("/")
    return [(place < len(parts) - 1, part) for place, part in enumerate(parts)]


def _members(path: str) -> Iterator[_Found]:
    if path.lower().endswith(".zip"):
        yield from _in_zip(path)
        return
    with open_regular(path) as plain:
        is_packed = plain.peek(4)[:4].startswith(_PACKED)
        if not is_packed:
            yield from _in_tar(path, plain, Kind.TAR)
            return
    with closing(Unrolled(path)) as unrolled:
        yield from _in_tar(path, unrolled, Kind.PACKED_TAR)
        # Read to the end: damage after the last member counts too.
        unrolled.seek(unrolled.tell() + most_bytes())
        if not unrolled.whole:
            raise TraceError(f"{path}: expected a whole archive, got one that ends early or is damaged")


def _in_tar(path: str, stream: Any, kind: Kind) -> Iterator[_Found]:
    before: tarfile.TarInfo | None = None
    try:
        for info in tar_headers(path, stream):
            # A header after a member shows that the member is complete.
            if before is not None:
                yield from _of_tar(path, before, kind)
            before = info
    except EndsEarlyError:
        if before is not None:
            yield from _of_tar(path, before, kind)
        raise
    if before is not None:
        yield from _of_tar(path, before, kind)


def _of_tar(path: str, info: tarfile.TarInfo, kind: Kind) -> Iterator[_Found]:
    name = info.name
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    wrong = wrong_name(name, written=False)
    if not (info.isdir() or (not wrong and _is_hidden(name))):
        place = info.offset_data, info.size
        yield _Found(name, info.size, Member(path, kind, *place, wrong=_noun(wrong or wrong_tar_kind(info))))


def _in_zip(path: str) -> Iterator[_Found]:
    with open_regular(path) as stream:
        infos = open_zip(path, stream, partial(too_many_names, path), at_once=most_document()).infolist()
    for info in infos:
        wrong = wrong_zip_name(info, written=False)
        if not (info.is_dir() or (not wrong and _is_hidden(info.filename))):
            packed = info.header_offset, info.compress_size, info.compress_type, info.CRC
            member = Member(path, Kind.ZIP, *packed, wrong=_noun(wrong or wrong_zip_kind(info)))
            yield _Found(info.orig_filename, info.file_size, member)


def _noun(wrong: str | None) -> str:
    if not wrong or wrong.startswith(("a ", "no ")):
        return wrong or ""
    return _NOUNS.get(wrong, f"one {wrong}")


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name


_LOCAL_HEADER = 30
_BITE = 1 << 16


class Openings:
    """Opens the logs of a chunk, in its order; relative paths start at `root`.

    A compressed tar can only be read from its start: if the chunk has several of its members, which are small then,
    they are read in one pass, and the next chunk continues from there.
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
        """Open a log; `seen` collects the companion files read with it."""
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
            with io.BufferedReader(self._raw(source, path), _BITE) as stream:
                yield log_from(stream, path, companion=lambda name: self._open_beside(member, path, name, seen))
        except OSError as error:
            raise TraceError(f"{path}: expected a file that can be read, got {reason_of(error)}") from error

    def _refuse_changed(self, source: Source) -> None:
        assert source.inside is not None
        now = marks_of(self._root / source.inside.archive)
        # Size and modification time only: on another machine, the same file may have another inode.
        if now[:2] != source.marks[:2]:
            raise TraceError(f"{source.inside.archive}: expected the archive that was listed, got a changed one")

    def _raw(self, source: Source, path: str, *, of: str = "logs") -> io.RawIOBase:
        member = source.inside
        assert member is not None
        place = self._root / member.archive
        if member.kind == Kind.PACKED_TAR:
            # A companion never uses the stream of the logs, which only moves forward.
            if of != "logs" or len(self._packed[member.archive]) < 2:
                return _Slice(_cursor(place, of), member.offset, source.size, path)
            return cast("io.RawIOBase", io.BytesIO(self._taken(member)))
        if member.archive not in self._files:
            self._files[member.archive] = self._stack.enter_context(open_regular(place))
        stream = self._files[member.archive]
        if member.kind == Kind.TAR:
            return _Slice(stream, member.offset, source.size, path)
        return cast("io.RawIOBase", _ZipMember(stream, member, source.size, path))

    def _taken(self, member: Member) -> bytes:
        """Return the bytes of a member of a compressed tar, read together with the other members of the chunk."""
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
        place = self._root / member.archive
        known = _names_in(place, marks_of(place))
        for candidate in beside_names(name):
            inside = str(folder / candidate)
            if (found := known.get(inside)) is not None and found.inside is not None and not found.inside.wrong:
                seen.add((place / inside).resolve())
                where = f"{member.archive}/{inside}"
                with io.BufferedReader(self._raw(found, where, of="companions"), _BITE) as stream:
                    yield log_from(stream, where)
                return
        yield None


class _Slice(io.RawIOBase):
    """A part of a stream; it seeks before each read, because other readers share the stream."""

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


class _ZipMember(zipfile.ZipExtFile):
    """A member of a zip; raises an error if its size or checksum differs from the zip's directory."""

    def __init__(self, stream: Any, member: Member, size: int, path: str) -> None:
        stream.seek(member.offset)
        head = stream.read(_LOCAL_HEADER)
        if len(head) < _LOCAL_HEADER or not head.startswith(b"PK\x03\x04"):
            raise TraceError(f"{path}: expected a member where the list of the zip says, got something else")
        # Skip the name and the extra field, which may be longer here than in the directory.
        skip = int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
        info = zipfile.ZipInfo()
        info.compress_type, info.compress_size, info.file_size = member.method, member.stored, size
        info.CRC = member.crc
        packed: Any = _Slice(stream, member.offset + _LOCAL_HEADER + skip, member.stored, path)
        super().__init__(packed, "r", info)
        self._missing, self._path = size, path

    def readinto(self, target: Any) -> int:
        try:
            data = self.read1(len(target))
            self._missing -= len(data)
            if self._missing and not data and len(target):
                raise EOFError
        except DAMAGED as error:
            claimed = "expected a member as the list of the zip claims, got a damaged one"
            raise TraceError(f"{self._path}: {claimed}") from error
        target[: len(data)] = data
        return len(data)


# One per thread: a cluster worker may have several, and each reads an archive at its own pace.
_kept = threading.local()


def _cursor(path: Path, of: str = "logs") -> Unrolled:
    """Return the stream of a compressed tar at the position where the previous chunk left it."""
    key = str(path), marks_of(path)
    cursors: dict[str, tuple[Any, Unrolled]] = _kept.__dict__.setdefault("cursors", {})
    if of not in cursors or cursors[of][0] != key:
        cursors[of] = key, Unrolled(path)
    return cursors[of][1]


# Cached for the next chunks.
@lru_cache(maxsize=1)
def _names_in(path: Path, _marks: tuple[int, ...]) -> dict[str, Source]:
    """Return the members of an archive by name."""
    skip = len(str(path)) + 1
    return {source.path[skip:]: source for source in list_members(path).sources}

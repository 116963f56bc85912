"""The files of a replication package, a .zip or a .tar.zst: all are looked at before any is read, each is read once."""

import errno
import tarfile
import zipfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

from gapline.errors import TraceError
from gapline.files.archives import DAMAGED, Bounds, accept_members, open_checked_zip, wrong_name
from gapline.files.compression import Unrolled
from gapline.files.open_file import (
    PACKAGE_BYTES,
    PACKAGE_MEMBERS,
    most_package_bytes,
    most_package_members,
    open_regular,
    reason_of,
)
from gapline.files.tar_headers import tar_headers, wrong_tar_kind
from gapline.text import printable

_BITE = 1 << 20
# Of a list of members in a zip, for each that there may be: what stands beside its name, and a name.
_LISTED = 128
_ZSTD = b"\x28\xb5\x2f\xfd"
_EXECUTABLE = 0o111
# Of the headers in a tar, for each member that there may be.
_HEADER = 4096


class PackedFile(NamedTuple):
    """A file of a package; nothing else of its mode counts than whether it can be executed."""

    name: str
    size: int
    executable: bool


class PackageFiles(NamedTuple):
    """The files of a package, and a way to go through their contents once, in the order in which they lie there."""

    files: list[PackedFile]
    read: Callable[[], Iterator[tuple[PackedFile, Iterator[bytes]]]]


def is_packed_tar(path: Path) -> bool:
    """Say whether a file is packed by zstd and calls itself a tar."""
    try:
        with open_regular(path) as stream:
            return path.name.lower().endswith((".tar.zst", ".tzst")) and stream.read(4) == _ZSTD
    except OSError:
        return False


def package_bounds() -> Bounds:
    """Return how much a package may hold."""
    members = most_package_members()
    return Bounds(members, members * _LISTED, most_package_bytes(), (PACKAGE_MEMBERS, PACKAGE_BYTES))


@contextmanager
def open_package(path: Path) -> Iterator[PackageFiles]:
    """Open a package of which everything that it says of its members was looked at.

    Raises
    ------
    TraceError
        Where it is damaged, also while it is read, too large, or has a member that is no plain file of a folder.
    """
    bounds = package_bounds()
    if is_packed_tar(path):
        files = _listed_in_tar(path, bounds)
        yield PackageFiles(files, lambda: _read_tar(path, files))
        return
    with open_checked_zip(path, bounds) as (archive, members):
        infos = sorted(members, key=lambda info: info.header_offset)
        found = [
            PackedFile(info.filename, info.file_size, bool((info.external_attr >> 16) & _EXECUTABLE)) for info in infos
        ]
        yield PackageFiles(
            found,
            lambda: (
                (file, _exactly(path, file, _pieces_of_zip(path, archive, info)))
                for file, info in zip(found, infos, strict=True)
            ),
        )


def _pieces_of_zip(path: Path, archive: zipfile.ZipFile, info: zipfile.ZipInfo) -> Iterator[bytes]:
    try:
        # Reading to its end verifies its checksum.
        with archive.open(info) as stream:
            while piece := stream.read(_BITE):
                yield piece
    except DAMAGED as error:
        raise _damaged(path, info.filename, printable(error)) from error


def _exactly(path: Path, file: PackedFile, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a file, which has to have the size that the archive claims."""
    left = file.size
    for piece in pieces:
        left -= len(piece)
        if left < 0:
            raise _damaged(path, file.name, f"more than the {file.size:,} bytes that are claimed")
        yield piece
    if left:
        raise _damaged(path, file.name, f"{file.size - left:,} of the {file.size:,} bytes that are claimed")


def _damaged(path: Path, name: str, what: str) -> TraceError:
    return TraceError(f"{path}: {name}: expected a whole file, got {what}", hint="get the package again")


def _listed_in_tar(path: Path, bounds: Bounds) -> list[PackedFile]:
    """Return the files of a tar, or say which of its members is none that may be unpacked."""
    with _unrolled(path) as stream:
        members = tar_headers(str(path), stream, in_all=_most_headers())
        files = accept_members(path, map(_described, members), bounds)
        _to_the_end(path, stream)
    return files


def _described(info: tarfile.TarInfo) -> tuple[PackedFile, str, int, str | None]:
    # `tarfile` takes the slash from the name of a folder.
    name = f"{info.name}/" if info.isdir() else info.name
    file = PackedFile(info.name, info.size, bool(info.mode & _EXECUTABLE))
    return file, name, info.size, wrong_name(name) or wrong_tar_kind(info)


def _read_tar(path: Path, files: list[PackedFile]) -> Iterator[tuple[PackedFile, Iterator[bytes]]]:
    with _unrolled(path) as stream:
        rest = iter(files)
        for info in tar_headers(str(path), stream, in_all=_most_headers()):
            if info.isdir():
                continue
            file = next(rest, None)
            # Somebody may have put another one in its place since it was looked at.
            if file is None or (file.name, file.size) != (info.name, info.size):
                raise TraceError(f"{path}: expected the package that was looked at, got one that was changed meanwhile")
            yield file, _exactly(path, file, _pieces_of_tar(stream, file.size))
        _to_the_end(path, stream)


def _pieces_of_tar(stream: Unrolled, size: int) -> Iterator[bytes]:
    while size and (piece := stream.read(min(size, _BITE))):
        size -= len(piece)
        yield piece


@contextmanager
def _unrolled(path: Path) -> Iterator[Unrolled]:
    try:
        with closing(Unrolled(path)) as stream:
            yield stream
    except OSError as error:
        # What the disk says is said as it is; that names go on without end is said of the package.
        if error.errno not in (errno.ENOENT, errno.EFBIG):
            raise
        raise TraceError(f"{path}: expected a replication package, got {reason_of(error)}") from error


def _most_headers() -> int:
    # A member has a header, and another one or two where its name is long.
    return most_package_members() * _HEADER


def _to_the_end(path: Path, stream: Unrolled) -> None:
    """Read what is behind the last member: zeros, as `tar` fills its last block; a bomb does not end soon."""
    left = _BITE
    while piece := stream.read(1 << 16):
        left -= len(piece)
        if left < 0 or piece.strip(b"\0"):
            raise TraceError(f"{path}: expected the end of the archive behind its last member, got more")
    if not stream.whole:
        raise TraceError(f"{path}: expected a whole archive, got one that ends early or is damaged")

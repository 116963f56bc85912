"""The files of a replication package (.zip or .tar.zst): all members are checked before any content is read."""

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
# Bytes per allowed member in the member list of a zip: its fields and its name.
_LISTED = 128
_ZSTD = b"\x28\xb5\x2f\xfd"
_EXECUTABLE = 0o111
# Bytes of headers per allowed member of a tar.
_HEADER = 4096


class PackedFile(NamedTuple):
    """A file of a package; of its mode, only the executable bit is used."""

    name: str
    size: int
    executable: bool


class PackageFiles(NamedTuple):
    """The files of a package, and a function that iterates over their contents in archive order."""

    files: list[PackedFile]
    read: Callable[[], Iterator[tuple[PackedFile, Iterator[bytes]]]]


def is_packed_tar(path: Path) -> bool:
    """Say whether a file has the suffix of a compressed tar and is compressed by zstd."""
    try:
        with open_regular(path) as stream:
            return path.name.lower().endswith((".tar.zst", ".tzst")) and stream.read(4) == _ZSTD
    except OSError:
        return False


def package_bounds() -> Bounds:
    """Return the size limits of a package."""
    members = most_package_members()
    return Bounds(members, members * _LISTED, most_package_bytes(), (PACKAGE_MEMBERS, PACKAGE_BYTES))


@contextmanager
def open_package(path: Path) -> Iterator[PackageFiles]:
    """Open a package after checking the names, sizes and kinds of all its members.

    Raises
    ------
    TraceError
        When it is damaged (also while it is read), too large, or has a member that is not a regular file.
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
        # Reading to the end verifies the checksum.
        with archive.open(info) as stream:
            while piece := stream.read(_BITE):
                yield piece
    except DAMAGED as error:
        raise _damaged(path, info.filename, printable(error)) from error


def _exactly(path: Path, file: PackedFile, pieces: Iterator[bytes]) -> Iterator[bytes]:
    """Yield the content of a file, and refuse one whose size is not the one that the archive claims."""
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
    """Return the files of a tar; raise a `TraceError` that names the first refused member."""
    with _unrolled(path) as stream:
        members = tar_headers(str(path), stream, in_all=_most_headers())
        files = accept_members(path, map(_described, members), bounds)
        _to_the_end(path, stream)
    return files


def _described(info: tarfile.TarInfo) -> tuple[PackedFile, str, int, str | None]:
    # `tarfile` removes the final slash from the name of a folder.
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
            # The file may have been replaced since it was checked.
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
        # Report errors of the disk unchanged, but a missing file and headers beyond the limit as errors of the package.
        if error.errno not in (errno.ENOENT, errno.EFBIG):
            raise
        raise TraceError(f"{path}: expected a replication package, got {reason_of(error)}") from error


def _most_headers() -> int:
    # A member has one header, and one or two more if its name is long.
    return most_package_members() * _HEADER


def _to_the_end(path: Path, stream: Unrolled) -> None:
    """Check that only the padding of `tar`, zeros, follows the last member; limited, as a bomb would not end."""
    left = _BITE
    while piece := stream.read(1 << 16):
        left -= len(piece)
        if left < 0 or piece.strip(b"\0"):
            raise TraceError(f"{path}: expected the end of the archive behind its last member, got more")
    if not stream.whole:
        raise TraceError(f"{path}: expected a whole archive, got one that ends early or is damaged")

"""Zip files of others, unpacked into a folder of our own: their names lead nowhere else, and their size is bounded.

A zip can claim any size, name any place and hold one name twice. Everything it says is looked at before anything is
written; what is written is counted while it is unpacked, because what a zip claims need not be true.
"""

import io
import stat
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from gapline.errors import GaplineError, TraceError
from gapline.model.limits import VARIABLE, most_bytes
from gapline.model.regular import open_regular, reason_of
from gapline.model.text import printable

MOST_MEMBERS = 10_000
# The list of members becomes objects of many times its size before anybody can count them.
_MOST_LIST = 4 << 20
_BITE = 1 << 20
# Of a file with members, and of one without.
_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# Those that cannot take more than a little memory to unpack.
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
_ENCRYPTED = 0x1


def is_zip(path: str | Path) -> bool:
    """Say whether a file is a zip, by its first bytes, or calls itself one."""
    try:
        with open_regular(path) as stream:
            return Path(path).suffix.lower() == ".zip" or stream.read(4) in _MAGIC
    except OSError:
        return False


@contextmanager
def unpacked(path: str | Path, *, only: Callable[[str], bool] = lambda _: True) -> Iterator[Path]:
    """Unpack a zip into a private folder, which is removed at the end; errors name the zip in the folder's place.

    Parameters
    ----------
    only
        Says of a member's name whether it is unpacked; all are looked at, whichever are wanted.

    Raises
    ------
    TraceError
        Where the zip is damaged, too large, or has a member that is no plain file inside the folder.
    """
    with tempfile.TemporaryDirectory(prefix="gapline-", ignore_cleanup_errors=True) as name:
        folder = Path(name)
        try:
            _unpack(Path(path), folder, only)
            yield folder
        except GaplineError as error:
            error.message = error.message.replace(name, str(path))
            error.hint = error.hint and error.hint.replace(name, str(path))
            raise


def _unpack(path: Path, folder: Path, only: Callable[[str], bool]) -> None:
    try:
        with open_regular(path) as stream, zipfile.ZipFile(_Bounded(stream, path)) as archive:
            members = _members(archive, path)
            left = most_bytes()
            for member in members:
                if only(member.filename):
                    left -= _write(archive, member, folder / member.filename, path, left)
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, ValueError) as error:
        raise TraceError(f"{path}: expected a whole zip file, got {printable(error)}") from error
    except FileNotFoundError as error:
        raise TraceError(f"{path}: expected a zip file, got {reason_of(error)}") from error


class _Bounded(io.RawIOBase):
    """A file of which nobody takes more at once than a list of members may have."""

    def __init__(self, stream: BinaryIO, path: Path) -> None:
        super().__init__()
        self._stream, self._path = stream, path

    def read(self, size: int = -1, /) -> bytes:
        if size > _MOST_LIST:
            raise TraceError(f"{self._path}: expected a list of members of at most {_MOST_LIST:,} bytes, got {size:,}")
        return self._stream.read(_MOST_LIST if size < 0 else size)

    def seek(self, place: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_SET and place < 0:
            raise zipfile.BadZipFile("a member before its beginning")
        return self._stream.seek(place, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    """Return the files of an archive, or say which of its members is none that may be unpacked."""
    listed = archive.infolist()
    if len(listed) > MOST_MEMBERS:
        raise TraceError(f"{path}: expected at most {MOST_MEMBERS:,} members, got {len(listed):,}")
    wrong = [f"{member.orig_filename!r:.200} ({why})" for member in listed if (why := _wrong(member))]
    names = [member.filename for member in listed]
    # On some file systems names that differ in their case, or in how a letter is composed, are one name too.
    folded = [PurePosixPath(name.casefold()) for name in names]
    seen: set[PurePosixPath] = set()
    for name, place in zip(names, folded, strict=True):
        if place in seen:
            wrong.append(f"{name!r:.200} (there twice)")
        seen.add(place)
    files = [member for member in listed if not member.is_dir()]
    plain = {PurePosixPath(member.filename.casefold()) for member in files}
    under = {parent for place in folded for parent in place.parents}
    wrong += [f"{str(place)!r:.200} (a file and a folder)" for place in sorted(plain & under)]
    if wrong:
        raise TraceError(
            f"{path}: expected plain files under names of their own, got {wrong[0]}"
            + (f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""),
            hint="nothing of it was unpacked",
        )
    if (claimed := sum(member.file_size for member in files)) > most_bytes():
        raise _too_large(path, claimed)
    return files


def _wrong(member: zipfile.ZipInfo) -> str | None:
    """Say why a member may not be unpacked."""
    name = member.orig_filename
    place = name.removesuffix("/")
    # `zipfile` cuts a name at its first zero byte: what it looks at is then another one.
    if member.filename != name or not place or not name.isprintable() or "\\" in name:
        return "no name of a file"
    if name.startswith("/") or any(part in ("", ".", "..") for part in place.split("/")) or place[1:2] == ":":
        return "outside of the archive"
    mode = member.external_attr >> 16
    # Other systems leave no mode; those that do say what kind of file it is.
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFDIR if member.is_dir() else stat.S_IFREG):
        return "a link" if stat.S_ISLNK(mode) else "no plain file"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted"
    if member.compress_type not in _METHODS:
        return f"packed by method {member.compress_type}, not {' or '.join(_METHODS.values())}"
    return None


def _write(archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path, path: Path, most: int) -> int:
    """Unpack one member and return its size; reading to its end verifies its checksum."""
    place.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    # Exclusively: two names that are one to this file system must not become one file.
    with archive.open(member) as source, place.open("xb") as target:
        while piece := source.read(_BITE):
            size += len(piece)
            if size > most:
                raise _too_large(path, size)
            target.write(piece)
    return size


def _too_large(path: Path, size: int) -> TraceError:
    return TraceError(
        f"{path}: expected at most {most_bytes():,} bytes once unpacked, got {size:,} or more",
        hint=f"{VARIABLE} raises the limit",
    )

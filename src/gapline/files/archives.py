"""Zip files: read safely (bounded size, no path outside the target) and written with the same bytes on any day."""

import io
import shutil
import stat
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

from gapline.errors import GaplineError, TraceError
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import VARIABLE, most_bytes, open_regular, reason_of
from gapline.text import printable

# The first date that a zip can state.
_STAMP = (1980, 1, 1, 0, 0, 0)
_MODE, _EXECUTABLE = 0o100644, 0o100755
_UNIX = 3
# What zlib does where nobody asks for a level, said so that no library decides it.
_LEVEL = 6
# From here on sizes need the long form, which some readers of small files do not know.
_LARGE = 1 << 31


def write_zip(
    path: Path,
    files: Mapping[str, Path | bytes],
    *,
    executable: Collection[str] = (),
    stored: bool = False,
    tell: Callable[[int, int], object] = lambda *_: None,
) -> None:
    """Write files under their names into a zip, as a whole or not at all.

    The same files give the same bytes, on whatever day and in whatever order; another version of zlib may pack them
    otherwise, unless they are `stored` as they are. `tell` is told how many are in it, of how many.
    """
    write_atomically(path, partial(_fill, files=files, executable=executable, stored=stored, tell=tell))


def folder_files(folder: Path, under: str = "") -> dict[str, Path | bytes]:
    """Return the files of a folder by their names in a zip, in the folder `under` of it."""
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    return {f"{under}{file.relative_to(folder).as_posix()}": file for file in found}


def _fill(
    stream: Any,
    *,
    files: Mapping[str, Path | bytes],
    executable: Collection[str],
    stored: bool,
    tell: Callable[[int, int], object],
) -> None:
    # A stream without a way back: sizes and checksums then stand behind each member.
    with zipfile.ZipFile(stream, "w") as archive:
        for number, name in enumerate(sorted(files)):
            tell(number, len(files))
            member = zipfile.ZipInfo(name, _STAMP)
            member.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            member._compresslevel = None if stored else _LEVEL  # type: ignore[attr-defined]  # public since 3.13
            # What `zipfile` would take from the system that it runs on.
            mode = _EXECUTABLE if name in executable else _MODE
            member.create_system, member.external_attr = _UNIX, mode << 16
            content = files[name]
            with io.BytesIO(content) if isinstance(content, bytes) else open_regular(content) as source:
                size = source.seek(0, io.SEEK_END)
                source.seek(0)
                with archive.open(member, "w", force_zip64=size >= _LARGE) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        tell(len(files), len(files))


# Of one part of a name and of the whole, in bytes: what file systems take.
_LONGEST_PART, _LONGEST = 255, 1024


def wrong_name(name: str) -> str | None:
    """Say why no file of a folder of ours may have a name; None where it may. A folder's name ends in a slash.

    >>> wrong_name("in/a.txt"), wrong_name("../a.txt"), wrong_name("a\\x1b[2J")
    (None, 'outside of the archive', 'no name of a file')
    """
    place = name.removesuffix("/")
    # Control characters and those that turn the direction of a text are not printable either.
    if not place or not name.isprintable() or "\\" in name:
        return "no name of a file"
    parts = place.split("/")
    if any(part in ("", ".", "..") for part in parts) or place[1:2] == ":":
        return "outside of the archive"
    if len(place.encode()) > _LONGEST or any(len(part.encode()) > _LONGEST_PART for part in parts):
        return "a name that is too long"
    return None


def clashing_names(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return names that cannot stand beside the others, each with the reason; a folder's name ends in a slash.

    >>> clashing_names(["a", "A", "b", "b/c", "d/"])
    [('A', 'there twice'), ('b', 'a file and a folder')]
    """
    wrong: list[tuple[str, str]] = []
    files: dict[str, str] = {}
    folders: set[str] = set()
    seen: set[str] = set()
    for name in names:
        place = _folded(name.removesuffix("/"))
        if place in seen:
            wrong.append((name, "there twice"))
        seen.add(place)
        if not name.endswith("/"):
            files.setdefault(place, name)
        end = place.rfind("/")
        # What is known has its parents known too.
        while end > 0 and (parent := place[:end]) not in folders:
            folders.add(parent)
            end = parent.rfind("/")
    return wrong + sorted((files[place], "a file and a folder") for place in folders & files.keys())


def _folded(name: str) -> str:
    # On some file systems names that differ in their case, or in how a letter is composed, are one name too.
    return (
        name.casefold()
        if name.isascii()
        else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    )


MOST_MEMBERS = 10_000
# The list of members becomes objects of many times its size before anybody can count them.
_MOST_LIST = 4 << 20
_BITE = 1 << 20
# Of a file with members, and of one without.
_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# Those that cannot take more than a little memory to unpack.
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
ENCRYPTED = 0x1


def is_zip(path: str | Path) -> bool:
    """Say whether a file is a zip, by its first bytes, or calls itself one."""
    try:
        with open_regular(path) as stream:
            return Path(path).suffix.lower() == ".zip" or stream.read(4) in _MAGIC
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much a zip may hold: members, bytes of the list of them, bytes once unpacked; and what raises that."""

    members: int
    listed: int
    unpacked: int
    raised_by: tuple[str, str] = ("", VARIABLE)

    @property
    def more_members(self) -> str | None:
        """What raises the number of members."""
        return f"{self.raised_by[0]} raises the limit" if self.raised_by[0] else None

    def too_large(self, path: Path, size: int) -> TraceError:
        """Return the error of an archive that unpacks to more than it may."""
        return TraceError(
            f"{path}: expected at most {self.unpacked:,} bytes once unpacked, got {size:,} or more",
            hint=f"{self.raised_by[1]} raises the limit",
        )

    def too_many(self, path: Path, number: int) -> TraceError:
        """Return the error of an archive with more members than it may have."""
        return TraceError(
            f"{path}: expected at most {self.members:,} members, got {number:,} or more", hint=self.more_members
        )


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
    scratch = tempfile.TemporaryDirectory(prefix="gapline-", ignore_cleanup_errors=True)
    with scratch as name, named_instead(name, path):
        _unpack(Path(path), Path(name), only)
        yield Path(name)


@contextmanager
def named_instead(folder: str | Path, path: str | Path) -> Iterator[None]:
    """Let errors name the archive that was unpacked in the place of the folder that it lies in."""
    try:
        yield
    except GaplineError as error:
        name_instead(error, folder, path)
        raise


def name_instead(error: GaplineError, folder: str | Path, path: str | Path) -> None:
    """Put the name of an archive in the place of the folder that it was unpacked into, wherever an error has it."""
    error.message = error.message.replace(str(folder), str(path))
    error.hint = error.hint and error.hint.replace(str(folder), str(path))


def _unpack(path: Path, folder: Path, only: Callable[[str], bool]) -> None:
    bounds = Bounds(MOST_MEMBERS, _MOST_LIST, most_bytes())
    with looked_through(path, bounds) as (archive, members):
        left = bounds.unpacked
        for member in members:
            if only(member.filename):
                left -= _write(archive, member, folder / member.filename, path, bounds, left)


@contextmanager
def looked_through(path: Path, bounds: Bounds) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open a zip of which everything that it says was looked at; yield it and its files, whose names lead nowhere.

    Raises
    ------
    TraceError
        Where it is damaged, also while it is read, too large, or has a member that is no plain file of a folder.
    """
    try:
        with open_regular(path) as stream, zipfile.ZipFile(_Bounded(stream, path, bounds)) as archive:
            yield archive, _members(archive, path, bounds)
    except (
        zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, UnicodeDecodeError, ValueError,
    ) as error:  # fmt: skip
        raise TraceError(f"{path}: expected a whole zip file, got {printable(error)}") from error
    except FileNotFoundError as error:
        raise TraceError(f"{path}: expected a zip file, got {reason_of(error)}") from error


class _Bounded(io.RawIOBase):
    """A file of which nobody takes more at once than a list of members may have."""

    def __init__(self, stream: BinaryIO, path: Path, bounds: Bounds) -> None:
        super().__init__()
        self._stream, self._path, self._bounds = stream, path, bounds

    def read(self, size: int = -1, /) -> bytes:
        most = self._bounds.listed
        if size > most:
            raise TraceError(
                f"{self._path}: expected a list of members of at most {most:,} bytes, got {size:,}",
                hint=self._bounds.more_members,
            )
        return self._stream.read(most if size < 0 else size)

    def seek(self, place: int, whence: int = io.SEEK_SET, /) -> int:
        if whence == io.SEEK_SET and place < 0:
            raise zipfile.BadZipFile("a member before its beginning")
        return self._stream.seek(place, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True


def _members(archive: zipfile.ZipFile, path: Path, bounds: Bounds) -> list[zipfile.ZipInfo]:
    """Return the files of an archive, or say which of its members is none that may be unpacked."""
    listed = archive.infolist()
    if len(listed) > bounds.members:
        raise bounds.too_many(path, len(listed))
    refuse_wrong(
        path,
        [
            *((member.orig_filename, why) for member in listed if (why := _wrong(member))),
            *clashing_names(member.filename for member in listed),
        ],
    )
    files = [member for member in listed if not member.is_dir()]
    if (claimed := sum(member.file_size for member in files)) > bounds.unpacked:
        raise bounds.too_large(path, claimed)
    return files


def refuse_wrong(path: Path, wrong: list[tuple[str, str]]) -> None:
    """Refuse an archive with members that may not be unpacked: the first of them is named, with the reason."""
    if wrong:
        name, why = wrong[0]
        raise TraceError(
            f"{path}: expected plain files under names of their own, got {name!r:.200} ({why})"
            + (f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""),
            hint="nothing of it was unpacked",
        )


def _wrong(member: zipfile.ZipInfo) -> str | None:
    """Say why a member may not be unpacked."""
    name = member.orig_filename
    # `zipfile` cuts a name at its first zero byte: what it looks at is then another one.
    if why := wrong_name(name) if member.filename == name else "no name of a file":
        return why
    mode = member.external_attr >> 16
    # Other systems leave no mode; those that do say what kind of file it is.
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFDIR if member.is_dir() else stat.S_IFREG):
        return "a link" if stat.S_ISLNK(mode) else "no plain file"
    if member.flag_bits & ENCRYPTED:
        return "encrypted"
    if member.volume:
        return "on another disk of an archive that spans several"
    if member.compress_type not in _METHODS:
        return f"packed by method {member.compress_type}, not {' or '.join(_METHODS.values())}"
    return None


def _write(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, place: Path, path: Path, bounds: Bounds, most: int
) -> int:
    """Unpack one member and return its size; reading to its end verifies its checksum."""
    place.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    # Exclusively: two names that are one to this file system must not become one file.
    with archive.open(member) as source, place.open("xb") as target:
        while piece := source.read(_BITE):
            size += len(piece)
            if size > most:
                raise bounds.too_large(path, size)
            target.write(piece)
    return size

"""Zip files: read safely (bounded size, no path outside the target) and written with the same bytes on any day."""

import io
import shutil
import stat
import sys
import tempfile
import unicodedata
import zipfile
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, TypeVar

from gapline.errors import GaplineError, TraceError
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import VARIABLE, most_bytes, open_regular, reason_of
from gapline.text import printable

Member = TypeVar("Member")
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


def wrong_name(name: str, *, written: bool = True) -> str | None:
    """Say why no file of a folder of ours may have a name; None where it may. A folder's name ends in a slash.

    A name under which nothing is `written` may be long, and have bytes that are no UTF-8.

    >>> wrong_name("in/a.txt"), wrong_name("../a.txt"), wrong_name("a\\x1b[2J")
    (None, 'outside of the archive', 'no name of a file')
    """
    place = name.removesuffix("/")
    if not written:
        # They stand as surrogates, as in the names of a folder.
        name = "".join("?" if "\udc80" <= sign <= "\udcff" else sign for sign in name)
    # Control characters and those that turn the direction of a text are not printable either.
    if not place or not name.isprintable() or "\\" in name:
        return "no name of a file"
    parts = place.split("/")
    if any(part in ("", ".", "..") for part in parts) or (place[1:2] == ":" and (written or place[2:3] == "/")):
        return "outside of the archive"
    if not written:
        return None
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
    with scratch as name, naming_archive(name, path):
        _unpack(Path(path), Path(name), only)
        yield Path(name)


@contextmanager
def naming_archive(folder: str | Path, path: str | Path) -> Iterator[None]:
    """Let errors name the archive that was unpacked in the place of the folder that it lies in."""
    try:
        yield
    except GaplineError as error:
        name_archive(error, folder, path)
        raise


def name_archive(error: GaplineError, folder: str | Path, path: str | Path) -> None:
    """Put the name of an archive in the place of the folder that it was unpacked into, wherever an error has it."""
    error.message = error.message.replace(str(folder), str(path))
    error.hint = error.hint and error.hint.replace(str(folder), str(path))


def _unpack(path: Path, folder: Path, only: Callable[[str], bool]) -> None:
    with open_checked_zip(path, Bounds(MOST_MEMBERS, _MOST_LIST, most_bytes())) as (archive, members):
        for member in members:
            if only(member.filename):
                place = folder / member.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                # `zipfile` gives no more of it than is claimed, and at its end verifies its checksum. Exclusively: two
                # names that are one to this file system must not become one file.
                with archive.open(member) as source, place.open("xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)


class Careful:
    """A stream of which only so much is taken at once, and so much in all: what is taken is held in memory.

    `refuse` makes the error of too much, of which it is told the size and the limit.
    """

    def __init__(
        self,
        stream: Any,
        refuse: Callable[[int, int], Exception],
        *,
        at_once: int,
        in_all: int = sys.maxsize,
        forward: bool = False,
    ) -> None:
        self._stream, self._refuse, self._forward = stream, refuse, forward
        self._at_once, self._in_all, self._taken = at_once, in_all, 0

    def read(self, size: int = -1, /) -> bytes:
        """Return so many bytes, or refuse to."""
        size = self._at_once if size < 0 else size
        self._taken += size
        if size > self._at_once or self._taken > self._in_all:
            raise self._refuse(size, self._at_once if size > self._at_once else self._in_all)
        found: bytes = self._stream.read(size)
        return found

    def seek(self, place: int, whence: int = 0, /) -> int:
        """Go to a place; where the stream only goes on, not back."""
        if whence == 0 and place < (self._stream.tell() if self._forward else 0):
            raise ValueError("members that are not one behind the other")
        found: int = self._stream.seek(place, whence)
        return found

    def tell(self) -> int:
        """Return the place in the stream."""
        found: int = self._stream.tell()
        return found

    def seekable(self) -> bool:
        """Say that places can be gone to."""
        return True


def open_zip(
    path: str | Path, stream: Any, refuse: Callable[[int, int], Exception], *, at_once: int
) -> zipfile.ZipFile:
    """Read the list of members of a zip, which may have so many bytes."""
    careful: Any = Careful(stream, refuse, at_once=at_once)
    try:
        return zipfile.ZipFile(careful)
    except (GaplineError, OSError):
        raise
    # A damaged list ends in whatever reading it comes to.
    except Exception as error:
        raise damaged_zip(path, error) from error


# What `zipfile` raises while it reads a damaged member.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)


def damaged_zip(path: str | Path, error: Exception) -> TraceError:
    """Return the error of a zip that cannot be read to its end."""
    return TraceError(f"{path}: expected a whole zip file, got {printable(error)}")


@contextmanager
def open_checked_zip(path: Path, bounds: Bounds) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open a zip of which everything that it says was looked at; yield it and its files, whose names lead nowhere.

    Raises
    ------
    TraceError
        Where it is damaged, also while it is read, too large, or has a member that is no plain file of a folder.
    """

    def refuse(size: int, most: int) -> TraceError:
        what = f"expected a list of members of at most {most:,} bytes, got {size:,}"
        return TraceError(f"{path}: {what}", hint=bounds.more_members)

    try:
        with open_regular(path) as stream, open_zip(path, stream, refuse, at_once=bounds.listed) as archive:
            members = (
                (one, one.orig_filename, one.file_size, wrong_zip_name(one) or wrong_zip_kind(one))
                for one in archive.infolist()
            )
            yield archive, accept_members(path, members, bounds)
    except DAMAGED as error:
        raise damaged_zip(path, error) from error
    except FileNotFoundError as error:
        raise TraceError(f"{path}: expected a zip file, got {reason_of(error)}") from error


def accept_members(path: Path, members: Iterable[tuple[Member, str, int, str | None]], bounds: Bounds) -> list[Member]:
    """Return the files among members, each given with its name, its size and what is wrong with it.

    Raises
    ------
    TraceError
        Where there are too many, they are too large, or one may not be unpacked: the first is named, with the reason.
    """
    names: list[str] = []
    files: list[Member] = []
    wrong: list[tuple[str, str]] = []
    claimed = 0
    for member, name, size, why in members:
        names.append(name)
        claimed += size
        if len(names) > bounds.members:
            few = f"expected at most {bounds.members:,} members, got {len(names):,} or more"
            raise TraceError(f"{path}: {few}", hint=bounds.more_members)
        # Before anything of it is passed over: what a packed tar claims has to be unpacked for that.
        if claimed > bounds.unpacked:
            small = f"expected at most {bounds.unpacked:,} bytes once unpacked, got {claimed:,} or more"
            raise TraceError(f"{path}: {small}", hint=f"{bounds.raised_by[1]} raises the limit")
        if why:
            wrong.append((name, why))
        elif not name.endswith("/"):
            files.append(member)
    if wrong := wrong + clashing_names(names):
        name, reason = wrong[0]
        raise TraceError(
            f"{path}: expected plain files under names of their own, got {name!r:.200} ({reason})"
            + (f" and {len(wrong) - 1:,} more" if len(wrong) > 1 else ""),
            hint="nothing of it was unpacked",
        )
    return files


def wrong_zip_name(member: zipfile.ZipInfo, *, written: bool = True) -> str | None:
    """Say why no file may have the name of a member."""
    name = member.orig_filename
    # `zipfile` cuts a name at its first zero byte: what it looks at is then another one.
    return wrong_name(name, written=written) if member.filename == name else "no name of a file"


def wrong_zip_kind(member: zipfile.ZipInfo) -> str | None:
    """Say why a member may not be unpacked, whatever its name."""
    mode = member.external_attr >> 16
    # Other systems leave no mode; those that do say what kind of file it is.
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFDIR if member.is_dir() else stat.S_IFREG):
        return "a link" if stat.S_ISLNK(mode) else "no plain file"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted"
    if member.volume:
        return "on another disk of an archive that spans several"
    if member.compress_type not in _METHODS:
        return f"packed by method {member.compress_type}, not {' or '.join(_METHODS.values())}"
    return None

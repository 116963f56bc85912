"""Zip files: safe reading (bounded size, no path outside the target) and reproducible writing."""

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
# The earliest date that a zip can store.
_STAMP = (1980, 1, 1, 0, 0, 0)
_MODE, _EXECUTABLE = 0o100644, 0o100755
_UNIX = 3
# The default of zlib; given explicitly, so that the output does not depend on a library's default.
_LEVEL = 6
# Files of this size and larger get zip64 headers, which some old readers do not support.
_LARGE = 1 << 31


def write_zip(
    path: Path,
    files: Mapping[str, Path | bytes],
    *,
    executable: Collection[str] = (),
    stored: bool = False,
    tell: Callable[[int, int], object] = lambda *_: None,
) -> None:
    """Write files under their names into a zip, atomically.

    The same files give the same bytes, whatever the day and their order; another version of zlib may compress
    differently, unless the files are `stored` uncompressed. `tell` is called with the number of files written and the
    total.
    """
    write_atomically(path, partial(_fill, files=files, executable=executable, stored=stored, tell=tell))


def folder_files(folder: Path, under: str = "") -> dict[str, Path | bytes]:
    """Return the files of a folder by their names in a zip, prefixed by `under`."""
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
    # The stream cannot seek, so sizes and checksums follow each member.
    with zipfile.ZipFile(stream, "w") as archive:
        for number, name in enumerate(sorted(files)):
            tell(number, len(files))
            member = zipfile.ZipInfo(name, _STAMP)
            member.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            member._compresslevel = None if stored else _LEVEL  # type: ignore[attr-defined]  # public since 3.13
            # `zipfile` would otherwise take these from the operating system.
            mode = _EXECUTABLE if name in executable else _MODE
            member.create_system, member.external_attr = _UNIX, mode << 16
            content = files[name]
            with io.BytesIO(content) if isinstance(content, bytes) else open_regular(content) as source:
                size = source.seek(0, io.SEEK_END)
                source.seek(0)
                with archive.open(member, "w", force_zip64=size >= _LARGE) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        tell(len(files), len(files))


# Limits in bytes of one path component and of the whole path, as of common file systems.
_LONGEST_PART, _LONGEST = 255, 1024


def wrong_name(name: str, *, written: bool = True) -> str | None:
    """Return why a member name is refused, or None if it is allowed; a folder's name ends in a slash.

    A name that is not `written` to disk may be long and have bytes that are not UTF-8.

    >>> wrong_name("in/a.txt"), wrong_name("../a.txt"), wrong_name("a\\x1b[2J")
    (None, 'outside of the archive', 'no name of a file')
    """
    place = name.removesuffix("/")
    if not written:
        # Bytes that are not UTF-8 are surrogates here, as in `os.listdir`.
        name = "".join("?" if "\udc80" <= sign <= "\udcff" else sign for sign in name)
    # `isprintable` also refuses control characters and those that change the direction of text.
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
    """Return the names that conflict with others, each with the reason; a folder's name ends in a slash.

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
        # The parents of a known folder are known too.
        while end > 0 and (parent := place[:end]) not in folders:
            folders.add(parent)
            end = parent.rfind("/")
    return wrong + sorted((files[place], "a file and a folder") for place in folders & files.keys())


def _folded(name: str) -> str:
    # Some file systems treat names that differ only in case or in Unicode composition as equal.
    return (
        name.casefold()
        if name.isascii()
        else unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
    )


MOST_MEMBERS = 10_000
# Limit in bytes: `zipfile` turns the whole list into much larger objects before they can be counted.
_MOST_LIST = 4 << 20
# First bytes of a zip with members, and of an empty one.
_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# Only methods that need little memory to unpack.
_METHODS = {zipfile.ZIP_STORED: "stored", zipfile.ZIP_DEFLATED: "deflated"}
_ENCRYPTED = 0x1


def is_zip(path: str | Path) -> bool:
    """Say whether a file is a zip, by its first bytes or its suffix."""
    try:
        with open_regular(path) as stream:
            return Path(path).suffix.lower() == ".zip" or stream.read(4) in _MAGIC
    except OSError:
        return False


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of a zip: members, bytes of the member list, unpacked bytes; and the settings that raise them."""

    members: int
    listed: int
    unpacked: int
    raised_by: tuple[str, str] = ("", VARIABLE)

    @property
    def more_members(self) -> str | None:
        """The hint that names the setting for the number of members, if there is one."""
        return f"{self.raised_by[0]} raises the limit" if self.raised_by[0] else None


@contextmanager
def unpacked(path: str | Path, *, only: Callable[[str], bool] = lambda _: True) -> Iterator[Path]:
    """Unpack a zip into a private folder, which is removed at the end; errors name the zip instead of the folder.

    Parameters
    ----------
    only
        Whether to unpack a member, by its name; all members are checked, even those that are not unpacked.

    Raises
    ------
    TraceError
        When the zip is damaged, too large, or has a member that is not a regular file inside the folder.
    """
    scratch = tempfile.TemporaryDirectory(prefix="gapline-", ignore_cleanup_errors=True)
    with scratch as name, naming_archive(name, path):
        _unpack(Path(path), Path(name), only)
        yield Path(name)


@contextmanager
def naming_archive(folder: str | Path, path: str | Path) -> Iterator[None]:
    """Replace, in errors, the path of the folder by the path of the archive that was unpacked into it."""
    try:
        yield
    except GaplineError as error:
        name_archive(error, folder, path)
        raise


def name_archive(error: GaplineError, folder: str | Path, path: str | Path) -> None:
    """Replace, in one error, the path of the folder by the path of the archive that was unpacked into it."""
    error.message = error.message.replace(str(folder), str(path))
    error.hint = error.hint and error.hint.replace(str(folder), str(path))


def _unpack(path: Path, folder: Path, only: Callable[[str], bool]) -> None:
    with open_checked_zip(path, Bounds(MOST_MEMBERS, _MOST_LIST, most_bytes())) as (archive, members):
        for member in members:
            if only(member.filename):
                place = folder / member.filename
                place.parent.mkdir(parents=True, exist_ok=True)
                # `zipfile` yields at most the claimed size and verifies the checksum at the end. Mode "x": two names
                # that this file system treats as equal must not become one file.
                with archive.open(member) as source, place.open("xb") as target:
                    shutil.copyfileobj(source, target, 1 << 20)


class Careful:
    """A stream that limits the size of each read and of all reads together, because the reader keeps it in memory.

    `refuse` returns the error for a read beyond a limit; it is called with the size and the limit.
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
        """Read `size` bytes; raise an error if that exceeds a limit."""
        size = self._at_once if size < 0 else size
        self._taken += size
        if size > self._at_once or self._taken > self._in_all:
            raise self._refuse(size, self._at_once if size > self._at_once else self._in_all)
        found: bytes = self._stream.read(size)
        return found

    def seek(self, place: int, whence: int = 0, /) -> int:
        """Seek in the stream; a stream that is `forward` only refuses to go back."""
        if whence == 0 and place < (self._stream.tell() if self._forward else 0):
            raise ValueError("members that are not one behind the other")
        found: int = self._stream.seek(place, whence)
        return found

    def tell(self) -> int:
        """Return the position in the stream."""
        found: int = self._stream.tell()
        return found

    def seekable(self) -> bool:
        """Return True, as `zipfile` and `tarfile` expect."""
        return True


def open_zip(
    path: str | Path, stream: Any, refuse: Callable[[int, int], Exception], *, at_once: int
) -> zipfile.ZipFile:
    """Open a zip, and refuse one whose member list is larger than `at_once` bytes."""
    careful: Any = Careful(stream, refuse, at_once=at_once)
    try:
        return zipfile.ZipFile(careful)
    except (GaplineError, OSError):
        raise
    # Reading a damaged list can raise any exception.
    except Exception as error:
        raise damaged_zip(path, error) from error


# The exceptions that `zipfile` raises for a damaged member.
DAMAGED = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, ValueError)


def damaged_zip(path: str | Path, error: Exception) -> TraceError:
    """Return the error for a zip that is damaged or truncated."""
    return TraceError(f"{path}: expected a whole zip file, got {printable(error)}")


@contextmanager
def open_checked_zip(path: Path, bounds: Bounds) -> Iterator[tuple[zipfile.ZipFile, list[zipfile.ZipInfo]]]:
    """Open a zip and check all its members; yield the archive and its files, whose names stay inside the folder.

    Raises
    ------
    TraceError
        When the zip is damaged (also while it is read), too large, or has a member that is not a regular file.
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
    """Return the files among the members, each given with its name, its size and the reason to refuse it, if any.

    Raises
    ------
    TraceError
        When there are too many members, they are too large, or one is refused; the first is named, with the reason.
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
        # Check before the next member: to skip the content of a member of a compressed tar, it has to be unpacked.
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
    """Return why the name of a member is refused, or None."""
    name = member.orig_filename
    # `zipfile` truncates a name at its first NUL byte, so that the two names differ.
    return wrong_name(name, written=written) if member.filename == name else "no name of a file"


def wrong_zip_kind(member: zipfile.ZipInfo) -> str | None:
    """Return why a member is refused, apart from its name, or None."""
    mode = member.external_attr >> 16
    # Archives from systems other than Unix may have no mode; if there is one, it gives the file type.
    if mode and stat.S_IFMT(mode) not in (0, stat.S_IFDIR if member.is_dir() else stat.S_IFREG):
        return "a link" if stat.S_ISLNK(mode) else "no plain file"
    if member.flag_bits & _ENCRYPTED:
        return "encrypted"
    if member.volume:
        return "on another disk of an archive that spans several"
    if member.compress_type not in _METHODS:
        return f"packed by method {member.compress_type}, not {' or '.join(_METHODS.values())}"
    return None

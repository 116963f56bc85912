"""What lies in an archive (.zip, .tar, .tar.gz, .tar.zst), as sources of an import: listed, looked at, never unpacked.

Whatever an archive says is somebody's word: a name that leads out of it, a link, a device or a name that is there twice
is a source that is refused when its turn comes, and so is an archive that ends early.
"""

import stat
import tarfile
import zipfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple

from gapline.capture.sources import Kind, Member, Source, cut_sources, marks_of
from gapline.capture.tar_headers import Careful, EndsEarlyError, tar_headers
from gapline.capture.unrolled import Unrolled
from gapline.errors import GaplineError, TraceError
from gapline.model.limits import most_bytes, most_document
from gapline.model.regular import open_regular, reason_of
from gapline.model.text import printable

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst")
_PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
# How often a packed tar may be gone through to take its members in the order of their names.
_MOST_PASSES = 4
_ENCRYPTED = 0x1
_METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)


def is_archive(path: str | Path) -> bool:
    """Say whether a file calls itself an archive."""
    return str(path).lower().endswith(SUFFIXES)


class Listed(NamedTuple):
    """The members of an archive in the order in which they are read, and what there is to say of that."""

    sources: Sequence[Source]
    note: str = ""


class _Found(NamedTuple):
    """A member as an archive names it."""

    name: str
    size: int
    member: Member


def list_members(path: str | Path) -> Listed:
    """List the files of an archive, hidden ones left out, in the order in which a folder would be walked.

    A large packed tar whose own order is another one is read in its own: it can only be gone through from its start.
    """
    path, marks = str(path), marks_of(path)
    found: list[_Found] = []
    ends: Source | None = None
    try:
        # What came before an error is kept: it may be that all of it is wanted.
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
            one.member if one.name not in twice else one.member._replace(wrong="one that is there twice"),
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
    """Sort as a folder is walked: its files before its folders; and say so where that would take too many passes."""
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
        # To the end: a stream that is damaged behind the last member is damaged.
        unrolled.seek(unrolled.tell() + most_bytes())
        if not unrolled.whole:
            raise TraceError(f"{path}: expected a whole archive, got one that ends early or is damaged")


def _in_tar(path: str, stream: Any, kind: Kind) -> Iterator[_Found]:
    before: tarfile.TarInfo | None = None
    try:
        for info in tar_headers(path, stream):
            # That there is one behind it shows that the one before it is whole.
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
    if info.isdir():
        return
    name = info.name
    while name.startswith("./"):
        name = name[2:].lstrip("/")
    wrong = _wrong_name(name)
    if not wrong and _is_hidden(name):
        return
    if not wrong and (info.issym() or info.islnk()):
        wrong = "a link"
    if not wrong and (not info.isreg() or info.issparse()):
        wrong = "no plain file"
    yield _Found(name, info.size, Member(path, kind, info.offset_data, info.size, wrong=wrong))


def _in_zip(path: str) -> Iterator[_Found]:
    with open_regular(path) as stream:
        careful: Any = Careful(stream, path, at_once=most_document(), forward=False)
        try:
            infos = zipfile.ZipFile(careful).infolist()
        except (GaplineError, OSError):
            raise
        # As of tars: a damaged list ends in whatever reading it comes to.
        except Exception as error:
            raise TraceError(f"{path}: expected a whole zip file, got {printable(error)}") from error
    for info in infos:
        # `zipfile` cuts a name at its first zero byte: what it shows is then another one.
        wrong = _wrong_name(info.orig_filename) if info.filename == info.orig_filename else "no name of a file"
        if info.is_dir() or (not wrong and _is_hidden(info.filename)):
            continue
        mode = info.external_attr >> 16
        # Other systems leave no mode; those that do say what kind of file it is.
        if not wrong and mode and stat.S_IFMT(mode) not in (0, stat.S_IFREG):
            wrong = "a link" if stat.S_ISLNK(mode) else "no plain file"
        if not wrong and info.flag_bits & _ENCRYPTED:
            wrong = "an encrypted one"
        if not wrong and info.compress_type not in _METHODS:
            wrong = f"one packed by method {info.compress_type}, not stored or deflated"
        packed = info.header_offset, info.compress_size, info.compress_type, info.CRC
        yield _Found(info.orig_filename, info.file_size, Member(path, Kind.ZIP, *packed, wrong=wrong))


def _wrong_name(name: str) -> str:
    """Say why a name is none that a file of a folder has."""
    # Bytes that are no UTF-8 stand as surrogates, as in the names of a folder.
    if not name or "\\" in name or not all(sign.isprintable() or "\udc80" <= sign <= "\udcff" for sign in name):
        return "no name of a file"
    if any(part in ("", ".", "..") for part in name.split("/")) or name[1:3] == ":/":
        return "one outside of the archive"
    return ""


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or "/." in name

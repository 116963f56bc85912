"""Replication packages as sources: recognised, verified, and unpacked for as long as the process lasts."""

import hashlib
import json
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, BinaryIO

from gapline.campaign.store import file_digest
from gapline.contract.layout import CONTRACT_FILE, CRATE, DOCUMENT, JOURNALS, RESULTS, SCHEMA, SUMS, Identity, is_study
from gapline.errors import GaplineError, IntegrityError, TraceError, UsageError, listing
from gapline.files.archives import is_zip, name_archive, naming_archive, open_checked_zip
from gapline.files.digests import directory_identifier, parse_sums
from gapline.files.open_file import open_regular, read_regular, reason_of
from gapline.files.scratch_arrays import no_room
from gapline.files.scratch_folder import clear_leftovers, keep_folder, release_folder, scratch_folder
from gapline.traces.package_files import PackedFile, is_packed_tar, open_package, package_bounds

# Of package.json and of the list of sums: documents become objects of many times their size.
MOST_DOCUMENT = 64 << 20
_AGAIN = "get the package again, or ask who sent it: nothing of it was read"


@dataclass(frozen=True, slots=True)
class UnpackedPackage:
    """A package whose sums were verified, and the folder in which what was asked for lies unpacked.

    `digests` are those of all members but the list of sums ("sha256:…"), whether they were unpacked or not.
    """

    path: Path
    folder: Path
    identity: Identity
    digests: dict[str, str]

    @contextmanager
    def named(self) -> Iterator[None]:
        """Let errors name the package in the place of the folder."""
        with naming_archive(self.folder, self.path):
            yield


@dataclass(slots=True)
class _UnpackedFile:
    """What was found of a member while it was read."""

    sha256: str
    blob: bytes
    executable: bool


def is_package(path: str | Path) -> bool:
    """Say whether a file is a replication package, or means to be one.

    A zip is one by its package.json; a .tar.zst is no other source, and is looked at when it is opened.
    """
    place = Path(path)
    return is_packed_tar(place) or (is_zip(place) and _is_packed_zip(place, file_mark(place)))


# The list of a large package takes a second, and whoever reads a source asks several times.
@lru_cache(maxsize=64)
def _is_packed_zip(place: Path, _mark: tuple[int, ...]) -> bool:
    try:
        with open_checked_zip(place, package_bounds()) as (archive, members):
            sizes = {member.filename: member.file_size for member in members}
            # One whose document was damaged is still a package: its sums say so.
            if DOCUMENT not in sizes or SUMS in sizes or sizes[DOCUMENT] > MOST_DOCUMENT:
                return DOCUMENT in sizes
            return _schema_of(archive.read(DOCUMENT)).startswith(SCHEMA.partition("/")[0])
    except (GaplineError, OSError):
        # What cannot even be listed is refused by whoever opens it; here it says that it is a package, or it does not.
        return _names_itself(place)


def _names_itself(path: Path) -> bool:
    """Say whether the names of a package stand in the list at the end of a zip that cannot be read as one."""
    try:
        with open_regular(path) as stream:
            size = stream.seek(0, os.SEEK_END)
            stream.seek(max(0, size - MOST_DOCUMENT))
            return _mentions(stream, DOCUMENT.encode(), SUMS.encode())
    except OSError:
        return False


def _mentions(stream: BinaryIO, *names: bytes) -> bool:
    missing, before = set(names), b""
    while missing and (piece := stream.read(1 << 20)):
        missing -= {name for name in missing if name in before + piece}
        before = piece[-64:]
    return not missing


@contextmanager
def unpacked_package(
    path: str | Path, *, only: Callable[[str], bool] = lambda _: True, as_is: bool = False
) -> Iterator[UnpackedPackage]:
    """Unpack a package into a private folder, which is removed at the end; errors name the package in its place.

    Parameters
    ----------
    only
        Says of a member's name whether it is unpacked. All are verified, whichever are wanted; the list of sums and
        package.json are always there.
    as_is
        Leave it to the caller to compare the members with their sums, and to read what package.json says.

    Raises
    ------
    TraceError
        Where it is no package, damaged, too large, or has a member that is no plain file of a folder.
    IntegrityError
        Where a member is not what the sums say; the first one is named.
    """
    clear_leftovers()
    with scratch_folder() as folder:
        package = unpack_into(Path(path), folder, only, as_is=as_is)
        with package.named():
            yield package


def unpack_into(path: Path, folder: Path, only: Callable[[str], bool], *, as_is: bool = False) -> UnpackedPackage:
    """Verify a package, and write those of its members that are wanted into an empty folder."""
    with naming_archive(folder, path):
        before = file_mark(path)
        taken = _take(path, folder, lambda name: name in (SUMS, DOCUMENT) or only(name))
        digest = file_digest(path)
        if file_mark(path) != before:
            raise IntegrityError(f"{path}: expected a package that stays as it is, got one that was changed meanwhile")
        digests = {name: one.sha256 for name, one in taken.items() if name != SUMS}
        if not as_is:
            _compare(path, digests, _read_sums(path, folder))
            _check_document(path, folder)
        swhid = directory_identifier({name: (one.blob, one.executable) for name, one in taken.items()})
    return UnpackedPackage(path, folder, Identity(path.name, digest, swhid), digests)


def unpack_more(package: UnpackedPackage, only: Callable[[str], bool]) -> None:
    """Write further members of a package into its folder; what is there already stays."""
    missing = {name for name in package.digests if only(name) and not (package.folder / name).exists()}
    if not missing:
        return
    with package.named():
        taken = _take(package.path, package.folder, missing.__contains__, read=missing.__contains__)
        _compare(
            package.path, {name: one.sha256 for name, one in taken.items()}, {n: package.digests[n] for n in missing}
        )


def file_mark(path: Path) -> tuple[int, ...]:
    """Return by what a file is known to be as it was."""
    try:
        facts = path.stat()
    except OSError as error:
        raise TraceError(f"{path}: expected a replication package, got {reason_of(error)}") from error
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _take(
    path: Path, folder: Path, only: Callable[[str], bool], *, read: Callable[[str], bool] = lambda _: True
) -> dict[str, _UnpackedFile]:
    """Go through the members once: digests of all that are read, and files of those that are wanted."""
    with open_package(path) as package:
        _refuse_no_package(path, package.files)
        _make_folders(folder, package.files, only)
        taken = {}
        for file, pieces in package.read():
            if read(file.name):
                taken[file.name] = _take_one(file, pieces, folder / file.name if only(file.name) else None)
        return taken


def _make_folders(folder: Path, files: list[PackedFile], only: Callable[[str], bool]) -> None:
    """Make the folders of what is wanted, and those at the top of all: that there are journals can be seen of them."""
    made = {name.rpartition("/")[0] for name in (file.name for file in files) if only(name)}
    made |= {file.name.partition("/")[0] for file in files if "/" in file.name}
    for name in sorted(made):
        (folder / name).mkdir(parents=True, exist_ok=True)


def _take_one(file: PackedFile, pieces: Iterator[bytes], place: Path | None) -> _UnpackedFile:
    digest = hashlib.sha256()
    # git chose SHA-1; what is verified is the sha256 beside it.
    blob = hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with nullcontext() if place is None else _create(place, executable=file.executable) as target:
        for piece in pieces:
            digest.update(piece)
            blob.update(piece)
            if target is not None:
                _write(target, piece, file.size)
    return _UnpackedFile(f"sha256:{digest.hexdigest()}", blob.digest(), file.executable)


def _create(place: Path, *, executable: bool) -> BinaryIO:
    # Exclusively: two names that are one to this file system must not become one file.
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(place, how, 0o755 if executable else 0o644), "wb")


def _write(target: BinaryIO, piece: bytes, size: int) -> None:
    try:
        target.write(piece)
    except OSError as error:
        raise no_room(error, size) from error


def _refuse_no_package(path: Path, files: list[PackedFile]) -> None:
    """Refuse what lacks what a package has, and documents of a size that nobody means well with."""
    sizes = {file.name: file.size for file in files}
    if lacking := [name for name in (DOCUMENT, SUMS, CONTRACT_FILE) if name not in sizes]:
        got = "" if DOCUMENT in sizes else f" ({listing(sorted(sizes), most=3) or 'nothing in it'})"
        raise TraceError(
            f"{path}: expected a replication package with {listing(lacking)}, got none{got}",
            hint="`gapline pack STUDY -o PACKAGE` writes one; archives of logs are read by `gapline import`",
        )
    for name in (DOCUMENT, SUMS):
        if sizes[name] > MOST_DOCUMENT:
            raise TraceError(f"{path}: {name}: expected at most {MOST_DOCUMENT:,} bytes, got {sizes[name]:,}")


def _read_sums(path: Path, folder: Path) -> dict[str, str]:
    where = f"{path}: {SUMS}"
    try:
        return parse_sums(read_regular(folder / SUMS, most=MOST_DOCUMENT).decode("utf-8"), where)
    except UnicodeDecodeError as error:
        raise IntegrityError(f"{where}: expected text in UTF-8, got another byte at {error.start}") from error


def _compare(path: Path, found: dict[str, str], stated: dict[str, str]) -> None:
    """Refuse a package of which a member is not what the sums say; the first one by its name is named."""
    differing = sorted(name for name in found.keys() | stated.keys() if found.get(name) != stated.get(name))
    if not differing:
        return
    first, more = differing[0], f", and {len(differing) - 1:,} more members" if len(differing) > 1 else ""
    if first not in found:
        said = f"expected it in the package, as {SUMS} lists it, got no such member"
    elif first not in stated:
        said = f"expected no member that {SUMS} does not list, got this one"
    else:
        said = f"expected {stated[first]}, got {found[first]}"
    raise IntegrityError(f"{path}: {first!r:.200}: {said}{more}", hint=_AGAIN)


def _check_document(path: Path, folder: Path) -> None:
    found = _schema_of(read_regular(folder / DOCUMENT, most=MOST_DOCUMENT))
    if found != SCHEMA:
        newer = found.startswith(SCHEMA.partition("/")[0])
        raise TraceError(
            f"{path}: {DOCUMENT}: expected schema {SCHEMA}, got {found!r:.200}",
            hint="upgrade gapline to read it" if newer else None,
        )


def _schema_of(data: bytes) -> str:
    try:
        document: Any = json.loads(data)
    except (ValueError, RecursionError):
        return ""
    return str(document.get("schema")) if isinstance(document, dict) else ""


# Packages that were opened, each with what its file is known by to be the same.
_opened: dict[Path, tuple[UnpackedPackage, tuple[int, ...]]] = {}
_one_at_a_time = threading.RLock()


def opened_package(path: str | Path, *, journals: bool = False) -> UnpackedPackage:
    """Return a package, verified and unpacked as far as its study is read; it stays until the process ends.

    Parameters
    ----------
    journals
        Unpack the journals too: their verdicts are read.
    """

    def wanted(name: str) -> bool:
        return _is_read(name) or (journals and name.startswith(f"{JOURNALS}/"))

    place = Path(path).absolute()
    with _one_at_a_time:
        mark, (known, before) = file_mark(place), _opened.get(place, (None, ()))
        # A fork sees the folder of its parent, as long as that one lives.
        if known is not None and before == mark and known.folder.is_dir():
            unpack_more(known, wanted)
            return known
        if known is not None:
            release_folder(known.folder)
        clear_leftovers()
        folder = keep_folder()
        try:
            package = unpack_into(Path(path), folder, wanted)
        except BaseException:
            release_folder(folder)
            raise
        _opened[place] = package, mark
        return package


def _is_read(name: str) -> bool:
    """Say whether opening a study may read a member: all but results, and the journals of runs, which are most of it.

    Instances too: a contract names them by patterns, which stand for the files that are there.
    """
    top, _, rest = name.partition("/")
    return "/" not in rest if top == JOURNALS else top not in (RESULTS, CRATE)


def study_folder(path: str | Path) -> Path | None:
    """Return where the study that a source names lies: itself, or what is unpacked of a package; None for others."""
    if is_study(path):
        return Path(path)
    return opened_package(path).folder if is_package(path) else None


def source_folder(path: str | Path) -> Path:
    """Return where a source lies: what is unpacked of a package, and any other source itself."""
    return opened_package(path).folder if is_package(path) else Path(path)


def identity_of(path: str | Path) -> Identity | None:
    """Return by what a package is known; None for any other source."""
    return opened_package(path).identity if is_package(path) else None


@contextmanager
def naming_packages() -> Iterator[None]:
    """Let errors name packages in the place of the folders that they were unpacked into."""
    try:
        yield
    except GaplineError as error:
        for package, _ in _opened.values():
            name_archive(error, package.folder, package.path)
        raise


def refuse_package(path: str | Path, command: str, instead: str, *, on: str = "a study directory") -> None:
    """Refuse a package where something else is needed, and say what takes one."""
    if is_package(path):
        raise UsageError(f"{path}: {command} works on {on}, and this is a replication package", hint=instead)


def forget_packages() -> None:
    """Remove all that is unpacked, as the end of the process does; who reads a package next unpacks it again."""
    with _one_at_a_time:
        while _opened:
            release_folder(_opened.popitem()[1][0].folder)

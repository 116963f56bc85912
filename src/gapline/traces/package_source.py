"""Replication packages as sources: recognise, verify and unpack them for the lifetime of the process."""

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

# Size limit of package.json and of the list of sums, which take many times their size once parsed.
MOST_DOCUMENT = 64 << 20
_AGAIN = "get the package again, or ask who sent it: nothing of it was read"


@dataclass(frozen=True, slots=True)
class UnpackedPackage:
    """A verified package, and the folder that holds the members unpacked so far.

    `digests` are those of all members except the list of sums ("sha256:…"), unpacked or not.
    """

    path: Path
    folder: Path
    identity: Identity
    digests: dict[str, str]

    @contextmanager
    def named(self) -> Iterator[None]:
        """Replace, in errors, the path of the folder by that of the package."""
        with naming_archive(self.folder, self.path):
            yield


@dataclass(slots=True)
class _UnpackedFile:
    """The digests and mode of a member, computed while it was read."""

    sha256: str
    blob: bytes
    executable: bool


def is_package(path: str | Path) -> bool:
    """Say whether a file is, or claims to be, a replication package.

    A zip is recognised by its package.json. A .tar.zst can be no other kind of source; it is checked when opened.
    """
    place = Path(path)
    return is_packed_tar(place) or (is_zip(place) and _is_packed_zip(place, file_mark(place)))


# Cached: listing a large package takes a second, and reading a source asks several times.
@lru_cache(maxsize=64)
def _is_packed_zip(place: Path, _mark: tuple[int, ...]) -> bool:
    try:
        with open_checked_zip(place, package_bounds()) as (archive, members):
            sizes = {member.filename: member.file_size for member in members}
            # With sums, a package with a damaged document is still a package.
            if DOCUMENT not in sizes or SUMS in sizes or sizes[DOCUMENT] > MOST_DOCUMENT:
                return DOCUMENT in sizes
            return _schema_of(archive.read(DOCUMENT)).startswith(SCHEMA.partition("/")[0])
    except (GaplineError, OSError):
        # A zip that cannot be listed is refused when it is opened; here only its names are searched.
        return _names_itself(place)


def _names_itself(path: Path) -> bool:
    """Say whether the end of an unreadable zip, where its member list is, contains the names of a package."""
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
    """Unpack a package into a private folder, which is removed at the end; errors name the package, not the folder.

    Parameters
    ----------
    only
        Whether to unpack a member, by its name. All members are verified in any case, and the list of sums and
        package.json are always unpacked.
    as_is
        Do not compare the members with their sums, and do not check package.json; the caller does both.

    Raises
    ------
    TraceError
        When it is not a package, is damaged or too large, or has a member that is not a regular file.
    IntegrityError
        When a member does not match its sum; the first one is named.
    """
    clear_leftovers()
    with scratch_folder() as folder:
        package = unpack_into(Path(path), folder, only, as_is=as_is)
        with package.named():
            yield package


def unpack_into(path: Path, folder: Path, only: Callable[[str], bool], *, as_is: bool = False) -> UnpackedPackage:
    """Verify a package, and unpack the selected members into an empty folder."""
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
    """Unpack further members of a package into its folder; existing files are kept."""
    missing = {name for name in package.digests if only(name) and not (package.folder / name).exists()}
    if not missing:
        return
    with package.named():
        taken = _take(package.path, package.folder, missing.__contains__, read=missing.__contains__)
        _compare(
            package.path, {name: one.sha256 for name, one in taken.items()}, {n: package.digests[n] for n in missing}
        )


def file_mark(path: Path) -> tuple[int, ...]:
    """Return the file status by which a change of the file is detected."""
    try:
        facts = path.stat()
    except OSError as error:
        raise TraceError(f"{path}: expected a replication package, got {reason_of(error)}") from error
    return facts.st_dev, facts.st_ino, facts.st_size, facts.st_mtime_ns, facts.st_ctime_ns


def _take(
    path: Path, folder: Path, only: Callable[[str], bool], *, read: Callable[[str], bool] = lambda _: True
) -> dict[str, _UnpackedFile]:
    """Read the members once: compute the digests of those in `read`, and unpack those in `only`."""
    with open_package(path) as package:
        _refuse_no_package(path, package.files)
        _make_folders(folder, package.files, only)
        taken = {}
        for file, pieces in package.read():
            if read(file.name):
                taken[file.name] = _take_one(file, pieces, folder / file.name if only(file.name) else None)
        return taken


def _make_folders(folder: Path, files: list[PackedFile], only: Callable[[str], bool]) -> None:
    """Create the folders of selected members and all top-level folders, from which the presence of journals shows."""
    made = {name.rpartition("/")[0] for name in (file.name for file in files) if only(name)}
    made |= {file.name.partition("/")[0] for file in files if "/" in file.name}
    for name in sorted(made):
        (folder / name).mkdir(parents=True, exist_ok=True)


def _take_one(file: PackedFile, pieces: Iterator[bytes], place: Path | None) -> _UnpackedFile:
    digest = hashlib.sha256()
    # The identifier requires SHA-1; integrity is verified with sha256.
    blob = hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    with nullcontext() if place is None else _create(place, executable=file.executable) as target:
        for piece in pieces:
            digest.update(piece)
            blob.update(piece)
            if target is not None:
                _write(target, piece, file.size)
    return _UnpackedFile(f"sha256:{digest.hexdigest()}", blob.digest(), file.executable)


def _create(place: Path, *, executable: bool) -> BinaryIO:
    # O_EXCL: two names that this file system treats as equal must not become one file.
    how = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(place, how, 0o755 if executable else 0o644), "wb")


def _write(target: BinaryIO, piece: bytes, size: int) -> None:
    try:
        target.write(piece)
    except OSError as error:
        raise no_room(error, size) from error


def _refuse_no_package(path: Path, files: list[PackedFile]) -> None:
    """Refuse an archive without the files of a package, or with documents beyond the size limit."""
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
    """Refuse a package if a member does not match the sums; the first one in order of names is reported."""
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


# Packages that were opened, each with the status that identifies its file.
_opened: dict[Path, tuple[UnpackedPackage, tuple[int, ...]]] = {}
_one_at_a_time = threading.RLock()


def opened_package(path: str | Path, *, journals: bool = False) -> UnpackedPackage:
    """Return a package, verified, with the files that opening its study reads; it is kept until the process ends.

    Parameters
    ----------
    journals
        Unpack the journals too, so that their verdicts can be read.
    """

    def wanted(name: str) -> bool:
        return _is_read(name) or (journals and name.startswith(f"{JOURNALS}/"))

    place = Path(path).absolute()
    with _one_at_a_time:
        mark, (known, before) = file_mark(place), _opened.get(place, (None, ()))
        # A fork shares the folder of its parent, which exists only as long as the parent.
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
    """Say whether opening a study may read a member: all except results and the journals of runs, the largest part.

    Instance files are included, because a contract may name them by patterns, which match existing files.
    """
    top, _, rest = name.partition("/")
    return "/" not in rest if top == JOURNALS else top not in (RESULTS, CRATE)


def study_folder(path: str | Path) -> Path | None:
    """Return the folder of the study that a source names, unpacked if it is a package; None for other sources."""
    if is_study(path):
        return Path(path)
    return opened_package(path).folder if is_package(path) else None


def source_folder(path: str | Path) -> Path:
    """Return the path of a source; for a package, the folder into which it is unpacked."""
    return opened_package(path).folder if is_package(path) else Path(path)


def identity_of(path: str | Path) -> Identity | None:
    """Return the identity of a package; None for any other source."""
    return opened_package(path).identity if is_package(path) else None


@contextmanager
def naming_packages() -> Iterator[None]:
    """Replace, in errors, the paths of unpacked folders by those of their packages."""
    try:
        yield
    except GaplineError as error:
        for package, _ in _opened.values():
            name_archive(error, package.folder, package.path)
        raise


def refuse_package(path: str | Path, command: str, instead: str, *, on: str = "a study directory") -> None:
    """Refuse a package as input of a command that cannot read one, with a hint on the alternative."""
    if is_package(path):
        raise UsageError(f"{path}: {command} works on {on}, and this is a replication package", hint=instead)


def forget_packages() -> None:
    """Remove all unpacked packages, as at the end of the process; the next read unpacks a package again."""
    with _one_at_a_time:
        while _opened:
            release_folder(_opened.popitem()[1][0].folder)

"""Packages in the place of study directories: unpacked once, as far as a study is read, until the process ends."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gapline.capture.package import UnpackedPackage, file_mark, is_package, unpack_into, unpack_more
from gapline.errors import GaplineError, UsageError
from gapline.model.layout import JOURNALS, RESULTS, is_study
from gapline.model.package import CRATE, Identity
from gapline.model.scratch_folder import clear_leftovers, held_folder, release_folder
from gapline.model.zip_read import name_instead


@dataclass(frozen=True, slots=True)
class _Held:
    """A package that was opened, and by what its file is known to be the same."""

    package: UnpackedPackage
    mark: tuple[int, ...]


_opened: dict[Path, _Held] = {}
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
        mark, held = file_mark(place), _opened.get(place)
        # A fork sees the folder of its parent, as long as that one lives.
        if held is not None and held.mark == mark and held.package.folder.is_dir():
            unpack_more(held.package, wanted)
            return held.package
        if held is not None:
            release_folder(held.package.folder)
        clear_leftovers()
        folder = held_folder()
        try:
            package = unpack_into(Path(path), folder, wanted)
        except BaseException:
            release_folder(folder)
            raise
        _opened[place] = _Held(package, mark)
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
        for held in _opened.values():
            name_instead(error, held.package.folder, held.package.path)
        raise


def refuse_package(path: str | Path, command: str, instead: str, *, on: str = "a study directory") -> None:
    """Refuse a package where something else is needed, and say what takes one."""
    if is_package(path):
        raise UsageError(f"{path}: {command} works on {on}, and this is a replication package", hint=instead)


def forget_packages() -> None:
    """Remove all that is unpacked, as the end of the process does; who reads a package next unpacks it again."""
    with _one_at_a_time:
        while _opened:
            release_folder(_opened.popitem()[1].package.folder)

"""The files of a study directory that are not in its package, and why."""

import os
from collections.abc import Callable, Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path
from stat import S_ISLNK, S_ISREG
from typing import NamedTuple

from gapline.campaign.store import is_campaign_file
from gapline.contract.layout import CAMPAIGN, CARRIED_REFERENCES, JOURNALS, RESULTS
from gapline.journal.unknown_files import find_strays

# Listed for every package, whether or not they exist, so that the list does not depend on leftovers in the folder.
NEVER = {
    "journal/index.jsonl": "what was read of the journals; it is made anew where it is missing",
    "journal/campaign.json": "what the campaign was made of, by facts of this machine's files",
    "journal/options.json": "the options of the last call of the runner",
    "journal/*/claim": "who worked on a run",
    "journal/**/*.lock": "locks of running commands",
    "**/.*": "hidden files and folders",
    "**/__pycache__": "compiled Python",
    "results/**/*.pdf": "figures that are not the same bytes twice; they are in the package as SVG and PNG",
}
LINK = "a symbolic link, which is not followed"
# Written again for the package, not copied.
_ANEW = (JOURNALS, CAMPAIGN)


class ExcludedFile(NamedTuple):
    """A path of the study, or a pattern of paths, that is not in its package."""

    path: str
    why: str


def list_excluded(
    study: Path, taken: Iterable[str], *, copies: Iterable[str] = (), beside: Iterable[Path] = ()
) -> list[ExcludedFile]:
    """List the files that no package contains, and files of the study that nothing names; skip those in `beside`."""
    listed = [ExcludedFile(path, why) for path, why in NEVER.items()]
    listed += [ExcludedFile(path, "a copy of a run that has a folder of its own") for path in copies]
    strays = [path for path in find_strays(study) if "/." not in path]
    strays += [
        f"{CAMPAIGN}/{name}"
        for name, _ in _walk(study / CAMPAIGN)
        if not is_campaign_file(name) and name != CARRIED_REFERENCES
    ]
    listed += [ExcludedFile(path, "not of gapline") for path in strays]
    taken = set(taken)
    ignored = {os.path.normpath(path.absolute()) for path in beside}
    # A folder from which nothing is packed is one line, however many files it has.
    parents = {parent.as_posix() for name in taken for parent in Path(name).parents}
    for name, is_folder in walk_files(study, into=parents.__contains__):
        place = os.path.normpath((study / name).absolute())
        made_again = name in _ANEW or (is_folder and name == RESULTS)
        if name not in taken and place not in ignored and not made_again:
            why = LINK if (study / name).is_symlink() else "the contract does not name it"
            listed.append(ExcludedFile(f"{name}/" if is_folder else name, why))
    return listed


def list_other_results(study: Path, folder: Path) -> list[ExcludedFile]:
    """List the files in the results of a study that are not in the report in a folder."""
    if (study / RESULTS).is_symlink():
        return []
    return [
        ExcludedFile(name, LINK if (study / name).is_symlink() else "the report of what is packed does not have it")
        for name in (f"{RESULTS}/{inside}" for inside, is_folder in _walk(study / RESULTS) if not is_folder)
        # PDF figures are listed by their pattern.
        if not fnmatchcase(name, f"{RESULTS}/figures/*.pdf") and not (folder / name).exists()
    ]


def walk_files(study: Path, into: Callable[[str], bool] = lambda _: True) -> Iterator[tuple[str, bool]]:
    """Yield the names of files and of folders not entered, skipping hidden ones and caches; a link is a file."""
    return _walk(study, lambda name: name not in _ANEW and into(name))


def _walk(root: Path, into: Callable[[str], bool] = lambda _: True) -> Iterator[tuple[str, bool]]:
    for place, folders, files in os.walk(root):
        inside = Path(place).relative_to(root).as_posix()
        under = "" if inside == "." else f"{inside}/"
        shown = sorted(name for name in folders if not name.startswith(".") and name != "__pycache__")
        links = [name for name in shown if (Path(place) / name).is_symlink()]
        folders[:] = [name for name in shown if name not in links and into(f"{under}{name}")]
        yield from ((f"{under}{name}", name not in links) for name in shown if name not in folders)
        yield from ((f"{under}{name}", False) for name in sorted(files) if not name.startswith("."))


def is_hidden(path: Path) -> bool:
    """Return whether a path of the study, or a folder above it, is hidden."""
    return any(part.startswith(".") and part not in (".", "..") for part in path.parts)


def odd_file(study: Path, file: Path) -> str | None:
    """Name the kind of a path that is not, or does not lead to, a plain file: a link, a pipe; None if it is one.

    A missing file counts as plain.
    """
    place = study
    for part in file.relative_to(study).parts:
        place /= part
        try:
            mode = place.lstat().st_mode
        except (FileNotFoundError, NotADirectoryError):
            return None
        if S_ISLNK(mode):
            return f"{place.relative_to(study).as_posix()} (a symbolic link to {place.readlink()})"
    return None if S_ISREG(mode) else f"{place.relative_to(study).as_posix()} (not a regular file)"

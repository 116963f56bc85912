"""The layout of a MAMUT-routing repository: families, objectives, instances, best-known solutions and sidecars."""

import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from gapline.errors import GaplineError, SnapshotError, UsageError, listing
from gapline.references.git_store import Repository, follow_submodules, open_revision
from gapline.text import meant

INSTANCE = ".vrp.json"
_BKS = re.compile(r"^(?P<stem>.+)\.bks\.(?P<objective>[^./]+)\.json$")
_SIZE = re.compile(r"^n=\d+$")


class StoredSolution(msgspec.Struct):
    """The fields of a `.bks.` file that a snapshot needs."""

    cost: float | None = None
    routes: list[list[int]] = []
    objective_function: str | None = None
    instance_name: str | None = None
    metadata: dict[str, Any] = {}


@dataclass(frozen=True, slots=True)
class Stored:
    """One instance of a family and its best-known solution at a commit: paths and blob ids."""

    key: str
    bks: str
    bks_blob: str
    instance: str
    instance_blob: str | None
    sidecars: Mapping[str, str]


def families(paths: Iterable[str]) -> set[str]:
    """Return the folders above the sizes that contain best-known solutions."""
    return {_above_size(path) for path in paths if _BKS.match(path.rpartition("/")[2])}


def find_family(paths: Mapping[str, str], wanted: str | None, *, where: str, unread: Sequence[str] = ()) -> str:
    """Find the folder of a family: the named one, by its path or its last parts, or the only one above the sizes.

    `unread` are notes on what could not be read, where the family may be.
    """
    try:
        return _find_family(paths, wanted, where=where)
    except GaplineError as error:
        hints = [f"{note}: --clones FOLDER names a folder of clones" for note in unread]
        raise type(error)(error.message, hint="\n".join(filter(None, (error.hint, *hints))) or None) from None


def _find_family(paths: Mapping[str, str], wanted: str | None, *, where: str) -> str:
    folders = families(paths)
    if not folders:
        raise SnapshotError(f"{where}: expected files NAME.bks.OBJECTIVE.json, got none among {len(paths)}")
    if wanted is None:
        if len(folders) > 1:
            common = posixpath.commonpath(folders) or "."
            raise UsageError(
                f"{where}: expected one family, got {len(folders)}: {listing(sorted(folders))}",
                hint=f"name one with --family FOLDER; --family {common} takes them all",
            )
        return folders.pop()
    name = wanted.strip("/").removeprefix("./")
    if name in ("", "."):
        return ""
    holders = {folder for path in paths for folder in _parents(path) if _BKS.match(path.rpartition("/")[2])}
    found = [name] if name in holders else sorted(folder for folder in holders if folder.endswith(f"/{name}"))
    if len(found) != 1:
        got = f"several: {listing(found)}" if found else "none"
        hint = f"families: {listing(sorted(folders))}"
        raise UsageError(f"{where}: expected one folder {wanted!r}, got {got}", hint=hint)
    return found[0]


def find_objective(paths: Mapping[str, str], family: str, wanted: str | None, *, where: str) -> str:
    """Return the objective to read; in a store with several, one has to be named."""
    matches = (_BKS.match(path.rpartition("/")[2]) for path in files_inside(paths, family))
    counts = Counter(match["objective"] for match in matches if match)
    shown = listing(f"{name} ({number})" for name, number in sorted(counts.items())) or "none"
    if wanted is None:
        if len(counts) != 1:
            message = f"{where}: {family or '.'}: expected one objective, got {shown}"
            raise UsageError(message, hint="name one with --objective")
        return next(iter(counts))
    if wanted not in counts:
        message = f"{where}: {family or '.'}: expected objective {wanted!r}, got {shown}"
        raise UsageError(message, hint=meant(wanted, counts))
    return wanted


def stored_solutions(paths: Mapping[str, str], family: str, objective: str) -> Iterator[Stored]:
    """Yield the best-known solutions of one objective, ordered by key, each with the instance next to it."""
    siblings: dict[tuple[str, str], dict[str, str]] = {}
    inside = sorted(files_inside(paths, family))
    for path in inside:
        folder, _, file = path.rpartition("/")
        if ".bks." not in file and not file.endswith(INSTANCE):
            siblings.setdefault((folder, file.partition(".")[0]), {})[file] = paths[path]
    for path in inside:
        folder, _, file = path.rpartition("/")
        match = _BKS.match(file)
        if match is None or match["objective"] != objective:
            continue
        base = f"{folder}/{match['stem']}" if folder else match["stem"]
        beside = siblings.get((folder, match["stem"].partition(".")[0]), {})
        yield Stored(
            key=base[len(family) :].lstrip("/"),
            bks=path,
            bks_blob=paths[path],
            instance=base + INSTANCE,
            instance_blob=paths.get(base + INSTANCE),
            sidecars={name: blob for name, blob in beside.items() if name.startswith(f"{match['stem']}.")},
        )


def _parents(path: str) -> Iterator[str]:
    return (str(parent) for parent in PurePosixPath(path).parents if str(parent) != ".")


def _above_size(path: str) -> str:
    parts = path.split("/")[:-1]
    for place, part in enumerate(parts):
        if _SIZE.match(part):
            return "/".join(parts[:place])
    return "/".join(parts)


def files_inside(paths: Mapping[str, str], family: str) -> Iterator[str]:
    """Yield the paths inside the folder of a family."""
    prefix = f"{family}/" if family else ""
    return (path for path in paths if path.startswith(prefix))


@dataclass(frozen=True, slots=True)
class MamutFiles:
    """Every file of a commit and of its submodules; `root` is the folder of the chosen family.

    `source` names the same commit in the form that `freeze` takes: both read one version even if a branch moves.
    """

    repository: Repository
    blobs: Mapping[str, str]
    root: str
    commit: str
    source: str

    @property
    def paths(self) -> Collection[str]:
        """The path of every file from the root of the repository."""
        return self.blobs.keys()

    def read(self, paths: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each file, None if the clone does not have them."""
        return self.repository.read(self.blobs[path] for path in paths)

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the number of bytes of each file, None if the clone does not have them."""
        return self.repository.sizes(self.blobs[path] for path in paths)


def open_mamut(location: str, *, family: str | None = None, clones: str | None = None) -> MamutFiles:
    """Open `PATH@COMMIT`: the named family, or else all of them under their common folder."""
    repository, commit, where = open_revision(location)
    mounts = follow_submodules(repository, commit, None if clones is None else Path(clones))
    blobs = repository.blobs(commit) | mounts.paths
    wanted = family or repository.prefix or None
    if wanted is None and len(found := families(blobs)) > 1:
        wanted = posixpath.commonpath(found) or "."
    return MamutFiles(
        repository=mounts.repository,
        blobs=blobs,
        root=find_family(blobs, wanted, where=where, unread=mounts.notes),
        commit=commit.id,
        source=f"mamut:{where.rpartition('@')[0]}@{commit.id}",
    )

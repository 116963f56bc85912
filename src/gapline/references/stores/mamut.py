"""`mamut:PATH@COMMIT`: values, routes and instances of a MAMUT-routing repository at one commit."""

import hashlib
import posixpath
import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from gapline.contract.instance_digest import Beside, pointed_digest, problem_digest
from gapline.errors import GaplineError, SnapshotError, UsageError, listing
from gapline.files.digests import EXACT
from gapline.references.freeze import FreezeRequest, Frozen, Moved
from gapline.references.git_store import Commit, Repository, follow_submodules, open_revision
from gapline.references.snapshot import Snapshot
from gapline.text import meant

INSTANCE = ".vrp.json"
_BKS = re.compile(r"^(?P<stem>.+)\.bks\.(?P<objective>[^./]+)\.json$")
_SIZE = re.compile(r"^n=\d+$")
# An instance that states the digest of its sidecars needs no second look at them.
_PINNED = re.compile(rb'_sha256"\s*:\s*"')
# The objective whose first component is the number of routes.
_HIERARCHICAL = "HierarchicalVehicleCost"


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


@dataclass(slots=True)
class _Noticed:
    entries: dict[str, dict[str, Any]] = field(default_factory=dict)
    unusable: list[str] = field(default_factory=list)
    undigested: list[str] = field(default_factory=list)
    doubted: list[str] = field(default_factory=list)
    checkers: Counter[str] = field(default_factory=Counter)


def freeze_mamut(request: FreezeRequest) -> Frozen:
    """Freeze one objective of one family at one commit."""
    repository, commit, where = open_revision(request.location)
    mounts = follow_submodules(repository, commit, None if request.clones is None else Path(request.clones))
    repository, paths = mounts.repository, repository.blobs(commit) | mounts.paths
    family = find_family(paths, request.family or repository.prefix or None, where=where, unread=mounts.notes)
    objective = find_objective(paths, family, request.objective, where=where)
    stored = list(stored_solutions(paths, family, objective))
    noticed = _read_entries(repository, paths, stored, objective)
    used = {one.key: mount for one in stored if (mount := mounts.holding(one.bks)) is not None}
    for key, mount in used.items():
        noticed.entries[key]["store"] = mount.document()
    # What a store mounts may be younger than the store: then it was known only with the youngest.
    known = max((commit, *(one.commit for one in used.values())), key=lambda one: one.committed).known_at(request.as_of)
    moved: tuple[Moved, ...] = ()
    notes = [*_notes(paths, family, stored, noticed), *mounts.notes]
    checker = request.checker
    checked: Mapping[str, str] = {}
    if request.reprice:
        from gapline.references.fold_candidates import reprice_entries

        moved, checked, unpriced, checker = reprice_entries(
            repository, paths, stored, noticed.entries, objective, tolerance=request.tolerance
        )
        notes += unpriced
    snapshot = Snapshot.from_entries(
        noticed.entries,
        name=request.name,
        store=_describe_store(request, repository, commit, family),
        as_of=known,
        objective=objective,
        checker=checker,
    )
    return Frozen(snapshot, tuple(notes), moved, checked)


def families(paths: Iterable[str]) -> set[str]:
    """Return the folders above the sizes that hold best-known solutions."""
    return {_above_size(path) for path in paths if _BKS.match(path.rpartition("/")[2])}


def find_family(paths: Mapping[str, str], wanted: str | None, *, where: str, unread: Sequence[str] = ()) -> str:
    """Find the folder of a family: the one named, by its path or its last parts, or the only one above the sizes.

    `unread` are notes on what could not be read, in which the family may lie.
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
    """Find the objective to read; a store with several needs one to be named."""
    matches = (_BKS.match(path.rpartition("/")[2]) for path in _inside(paths, family))
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
    """Yield the best-known solutions of one objective, ordered by key, with the instance each stands beside."""
    siblings: dict[tuple[str, str], dict[str, str]] = {}
    inside = sorted(_inside(paths, family))
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


def instance_digest(data: bytes) -> str:
    """Return the digest of an instance file; a large-file pointer already states that of the file it stands for."""
    return "sha256:" + (pointed_digest(data) or hashlib.sha256(data).hexdigest())


def _read_entries(repository: Repository, paths: Mapping[str, str], stored: list[Stored], objective: str) -> _Noticed:
    noticed = _Noticed()
    decode = msgspec.json.Decoder(StoredSolution).decode
    wanted = [blob for one in stored for blob in (one.bks_blob, one.instance_blob) if blob is not None]
    blobs = repository.read(wanted)
    for one in stored:
        data = next(blobs)
        # A best-known solution that cannot be read would silently become "no value".
        if data is None:
            raise SnapshotError(f"{one.bks}: expected blob {one.bks_blob}, got none: the clone is not complete")
        entry = _read_entry(one, data, decode, objective, noticed)
        instance = next(blobs) if one.instance_blob is not None else None
        if instance is None:
            noticed.undigested.append(one.key)
        else:
            entry["instance_digest"] = instance_digest(instance)
            # A large-file pointer says nothing of the problem in the file it stands for.
            if pointed_digest(instance) is None:
                entry["problem_digest"] = problem_digest(instance, one.instance, _sidecars(repository, paths, one))
            if one.sidecars and not _PINNED.search(instance):
                entry["sidecars"] = {name: f"git:{blob}" for name, blob in one.sidecars.items()}
        noticed.entries[one.key] = entry
    return noticed


def read_stored(path: str, blob: str, data: bytes, objective: str) -> dict[str, Any]:
    """Return the entry of one best-known solution, as its file states it."""
    stored = Stored(key=path, bks=path, bks_blob=blob, instance="", instance_blob=None, sidecars={})
    return _read_entry(stored, data, msgspec.json.Decoder(StoredSolution).decode, objective, _Noticed())


def _sidecars(repository: Repository, paths: Mapping[str, str], one: Stored) -> Beside:
    """Return what gives the bytes of a sidecar that an instance names, beside it or from a folder above."""

    def beside(name: str) -> bytes | None:
        places = (str(parent / name) for parent in PurePosixPath(one.instance).parents)
        blob = next((paths[place] for place in places if place in paths), None)
        return None if blob is None else next(repository.read([blob]))

    return beside


def _read_entry(one: Stored, data: bytes, decode: Any, objective: str, noticed: _Noticed) -> dict[str, Any]:
    entry: dict[str, Any] = {"value": None, "certified": False, "source": one.bks, "blob": f"git:{one.bks_blob}"}
    try:
        solution: StoredSolution = decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError) as error:
        noticed.unusable.append(one.key)
        return entry | {"stated": f"not a solution: {error}"}
    metadata = solution.metadata
    entry["value"] = solution.cost
    if solution.cost is None:
        noticed.unusable.append(one.key)
        entry["stated"] = "no cost"
    if solution.objective_function not in (None, objective):
        noticed.doubted.append(f"{one.key}: {solution.objective_function}")
    who = [str(metadata[name]) for name in ("authors", "date") if metadata.get(name)]
    if who:
        entry["source"] = ", ".join(who) + f" ({one.bks})"
    provenance = {k: v for k, v in metadata.items() if isinstance(v, str | int | float | bool) and _fits(v)}
    if provenance:
        entry["provenance"] = provenance
    repriced = metadata.get("repriced")
    if isinstance(repriced, dict):
        entry["repriced"] = {k: v for k, v in repriced.items() if not isinstance(v, list | dict) and _fits(v)}
        # The rules under which the value that stands there was priced, which need not be those of its finder.
        if priced_by := repriced.get("contract") or repriced.get("checker"):
            entry["checker"] = str(priced_by)
            noticed.checkers[str(priced_by)] += 1
    optimality = metadata.get("optimality")
    if isinstance(optimality, dict) and optimality.get("proven") is True and solution.cost is not None:
        entry["certified"] = True
        entry["certificate"] = {k: v for k, v in optimality.items() if not isinstance(v, list | dict) and _fits(v)}
    if objective == _HIERARCHICAL and solution.cost is not None and solution.routes:
        entry |= {"primary": float(len(solution.routes)), "secondary": solution.cost}
    return entry


def _fits(value: object) -> bool:
    """Say whether canonical JSON can hold a scalar: an integer beyond 2^53 is not one double."""
    return not isinstance(value, int) or abs(value) <= EXACT


def _describe_store(request: FreezeRequest, repository: Repository, commit: Commit, family: str) -> dict[str, Any]:
    store: dict[str, Any] = {
        "name": f"mamut:{family.rpartition('/')[2]}" if family else "mamut",
        "version": request.version or commit.id,
        "url": request.url or repository.url(),
        "folder": family,
    }
    return store | ({"swhid": commit.swhid} if commit.swhid else {})


def _notes(paths: Mapping[str, str], family: str, stored: list[Stored], noticed: _Noticed) -> list[str]:
    solved = {one.instance for one in stored}
    unsolved = [p for p in _inside(paths, family) if p.endswith(INSTANCE) and p not in solved]
    problems = (
        (unsolved, "instances without a solution for this objective"),
        (noticed.unusable, "solutions without a usable value"),
        (noticed.undigested, "solutions without their instance in the clone, so without its digest"),
        (noticed.doubted, "solutions that state another objective inside"),
    )
    notes = [f"{what}: {len(found)} ({listing(sorted(found))})" for found, what in problems if found]
    if noticed.checkers:
        shown = listing(f"{name} ({number})" for name, number in sorted(noticed.checkers.items()))
        notes.append(f"values re-priced in the store, by {shown}, of {len(noticed.entries)}")
    return notes


def _parents(path: str) -> Iterator[str]:
    return (str(parent) for parent in PurePosixPath(path).parents if str(parent) != ".")


def _above_size(path: str) -> str:
    parts = path.split("/")[:-1]
    for place, part in enumerate(parts):
        if _SIZE.match(part):
            return "/".join(parts[:place])
    return "/".join(parts)


def _inside(paths: Mapping[str, str], family: str) -> Iterator[str]:
    prefix = f"{family}/" if family else ""
    return (path for path in paths if path.startswith(prefix))


@dataclass(frozen=True, slots=True)
class MamutFiles:
    """Every file of a commit and of the submodules it mounts; `root` is the folder of the family that is meant.

    `source` names the same commit as `freeze` takes it: whatever a branch does meanwhile, both read one version.
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
        """Yield the bytes of each file, None where the clone does not have them."""
        return self.repository.read(self.blobs[path] for path in paths)

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the number of bytes of each file, None where the clone does not have them."""
        return self.repository.sizes(self.blobs[path] for path in paths)


def open_mamut(location: str, *, family: str | None = None, clones: str | None = None) -> MamutFiles:
    """Open `PATH@COMMIT`: one family, or all of them under the folder that they share where none is named."""
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

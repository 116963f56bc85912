"""`mamut:PATH@COMMIT`: values, routes and instances of a MAMUT-routing repository at one commit."""

import hashlib
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from gapline.contract.instance_digest import COLLECTION_MARKER, Beside, pointed_digest, problem_digest, sidecar_names
from gapline.errors import EnvironmentLacksError, SnapshotError, listing
from gapline.files.digests import EXACT
from gapline.references.fold_candidates import CannotPriceError, price_all
from gapline.references.freeze import FreezeRequest, Frozen, Moved
from gapline.references.git_store import Commit, Repository, follow_submodules, open_revision
from gapline.references.snapshot import Snapshot
from gapline.references.stores.mamut_layout import (
    INSTANCE,
    Stored,
    StoredSolution,
    files_inside,
    find_family,
    find_objective,
    stored_solutions,
)

# An instance that states the digests of its sidecars does not need them to be read.
_PINNED = re.compile(rb'_sha256"\s*:\s*"')
# The objective whose first component is the number of routes.
_HIERARCHICAL = "HierarchicalVehicleCost"


@dataclass(slots=True)
class _StoreNotes:
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
    # A submodule may be younger than the store: the values are as old as the youngest commit.
    known = max((commit, *(one.commit for one in used.values())), key=lambda one: one.committed).known_at(request.as_of)
    moved: tuple[Moved, ...] = ()
    notes = [*_notes(paths, family, stored, noticed), *mounts.notes]
    checker = request.checker
    checked: Mapping[str, str] = {}
    if request.reprice:
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


def instance_digest(data: bytes) -> str:
    """Return the digest of an instance file; a Git LFS pointer states that of its file."""
    return "sha256:" + (pointed_digest(data) or hashlib.sha256(data).hexdigest())


def _read_entries(
    repository: Repository, paths: Mapping[str, str], stored: list[Stored], objective: str
) -> _StoreNotes:
    noticed = _StoreNotes()
    decode = msgspec.json.Decoder(StoredSolution).decode
    wanted = [blob for one in stored for blob in (one.bks_blob, one.instance_blob) if blob is not None]
    blobs = repository.read(wanted)
    for one in stored:
        data = next(blobs)
        # An unreadable best-known solution would silently become "no value".
        if data is None:
            raise SnapshotError(f"{one.bks}: expected blob {one.bks_blob}, got none: the clone is not complete")
        entry = _read_entry(one, data, decode, objective, noticed)
        instance = next(blobs) if one.instance_blob is not None else None
        if instance is None:
            noticed.undigested.append(one.key)
        else:
            entry["instance_digest"] = instance_digest(instance)
            # A Git LFS pointer says nothing about the problem in its file.
            if pointed_digest(instance) is None:
                entry["problem_digest"] = problem_digest(instance, one.instance, _sidecars(repository, paths, one))
            if one.sidecars and not _PINNED.search(instance):
                entry["sidecars"] = {name: f"git:{blob}" for name, blob in one.sidecars.items()}
        noticed.entries[one.key] = entry
    return noticed


def read_stored(path: str, blob: str, data: bytes, objective: str) -> dict[str, Any]:
    """Return the entry of one best-known solution, as its file states it."""
    stored = Stored(key=path, bks=path, bks_blob=blob, instance="", instance_blob=None, sidecars={})
    return _read_entry(stored, data, msgspec.json.Decoder(StoredSolution).decode, objective, _StoreNotes())


def _sidecars(repository: Repository, paths: Mapping[str, str], one: Stored) -> Beside:
    """Return a function that reads a sidecar of an instance, from its folder or from a folder above."""

    def beside(name: str) -> bytes | None:
        places = (str(parent / name) for parent in PurePosixPath(one.instance).parents)
        blob = next((paths[place] for place in places if place in paths), None)
        return None if blob is None else next(repository.read([blob]))

    return beside


def _read_entry(one: Stored, data: bytes, decode: Any, objective: str, noticed: _StoreNotes) -> dict[str, Any]:
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
        # The rules under which the stored value was priced, which may differ from those of its finder.
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
    """Return whether canonical JSON can hold a scalar: an integer beyond 2^53 may not be a double."""
    return not isinstance(value, int) or abs(value) <= EXACT


def _describe_store(request: FreezeRequest, repository: Repository, commit: Commit, family: str) -> dict[str, Any]:
    store: dict[str, Any] = {
        "name": f"mamut:{family.rpartition('/')[2]}" if family else "mamut",
        "version": request.version or commit.id,
        "url": request.url or repository.url(),
        "folder": family,
    }
    return store | ({"swhid": commit.swhid} if commit.swhid else {})


def _notes(paths: Mapping[str, str], family: str, stored: list[Stored], noticed: _StoreNotes) -> list[str]:
    solved = {one.instance for one in stored}
    unsolved = [p for p in files_inside(paths, family) if p.endswith(INSTANCE) and p not in solved]
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


def reprice_entries(
    repository: Repository,
    paths: Mapping[str, str],
    stored: Iterable[Stored],
    entries: Mapping[str, dict[str, Any]],
    objective: str,
    *,
    tolerance: float,
) -> tuple[tuple[Moved, ...], dict[str, str], list[str], str]:
    """Evaluate the stored routes of time-dependent instances like `price_all`; the last result is the checker."""
    try:
        import mamut_routing_lib.td  # noqa: F401
    except ImportError:
        raise EnvironmentLacksError.for_extra("mamut-routing-lib", "routing") from None
    by_key = {one.key: one for one in stored}

    def price(key: str) -> tuple[float | None, str]:
        try:
            return _price(repository, paths, by_key[key], objective)
        except CannotPriceError:
            entries[key]["priced_by"] = "store"
            raise

    checker = _checker_name()
    return *price_all(entries, price, checker, tolerance=tolerance), checker


def _checker_name() -> str:
    """Name the checker and the contract of its prices, which releases before 0.12 do not state themselves."""
    from mamut_routing_lib.td import checker

    contract = getattr(checker, "TD_CHECKER_CONTRACT", "td-fold/1")
    return f"mamut-routing-lib {version('mamut-routing-lib')}, {contract}"


def _price(repository: Repository, paths: Mapping[str, str], one: Stored, objective: str) -> tuple[float | None, str]:
    from mamut_routing_lib.enums import ObjectiveFunction
    from mamut_routing_lib.models import BenchmarkSolution
    from mamut_routing_lib.td import check_td_solution, load_td_instance
    from pydantic import ValidationError

    if one.instance_blob is None:
        raise CannotPriceError("no instance beside it")
    bks, instance = repository.read([one.bks_blob, one.instance_blob])
    if bks is None or instance is None:
        raise CannotPriceError("not in the clone")
    solution = msgspec.json.decode(bks, type=StoredSolution)
    if not solution.routes:
        raise CannotPriceError("no routes")
    with tempfile.TemporaryDirectory(prefix="gapline-") as scratch:
        file = Path(scratch) / one.instance
        _lay_out(repository, paths, one, instance, Path(scratch))
        try:
            loaded = load_td_instance(file)
        except FileNotFoundError as error:
            raise CannotPriceError(f"no sidecar {Path(str(error.filename)).name}") from None
        except (ValueError, OSError, KeyError) as error:
            raise CannotPriceError(str(error).splitlines()[0][:120]) from None
        try:
            candidate = BenchmarkSolution(instance_name=loaded.instance.instance_name, routes=solution.routes)
        except ValidationError as error:
            return None, f"malformed routes: {error.errors()[0]['msg']}"
        try:
            result = check_td_solution(loaded, candidate, ObjectiveFunction(objective))
        except ValueError as error:
            raise CannotPriceError(str(error).splitlines()[0][:120]) from None
    return (float(result.routing_cost), "") if result.is_valid() else (None, str(result.error_message))


def _lay_out(repository: Repository, paths: Mapping[str, str], one: Stored, instance: bytes, root: Path) -> None:
    """Write the instance and the files that it refers to under their own paths, from blobs."""
    folder = PurePosixPath(one.instance).parent
    wanted = {f"{folder}/{name}": blob for name, blob in one.sidecars.items()}
    for parent in PurePosixPath(one.instance).parents:
        # Sidecars are named relative to the root of their collection, which contains a marker file.
        marker = str(parent / COLLECTION_MARKER)
        for name in sidecar_names(instance) if parent == folder or marker in paths else ():
            path = str(parent / name)
            if path in paths:
                wanted[path] = paths[path]
        if marker in paths:
            wanted[marker] = paths[marker]
    files = {str(PurePosixPath(path)): blob for path, blob in wanted.items()}
    for path, data in zip(files, repository.read(files.values()), strict=True):
        if data is not None:
            _write(root, path, data)
    _write(root, one.instance, instance)


def _write(root: Path, path: str, data: bytes) -> None:
    file = root / path
    if not file.resolve().is_relative_to(root.resolve()):
        raise CannotPriceError(f"path {path!r} leads out of the store")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)

"""Re-pricing: stored routes evaluated again with the checker at hand, so that references and runs share it."""

import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path, PurePosixPath
from typing import Any

import msgspec

from gapline.errors import EnvironmentLacksError, listing
from gapline.model.problem import COLLECTION_MARKER, sidecar_names
from gapline.reference.freeze import Moved
from gapline.reference.git_store import Repository
from gapline.reference.price import put_price
from gapline.reference.stores.mamut import Stored, StoredSolution


@dataclass(frozen=True, slots=True)
class Repriced:
    """Which stored values moved, who priced them, what could not be priced, and who priced each that could."""

    moved: tuple[Moved, ...]
    checker: str
    notes: list[str]
    checked: Mapping[str, str]


def reprice_entries(
    repository: Repository,
    paths: Mapping[str, str],
    stored: Iterable[Stored],
    entries: dict[str, dict[str, Any]],
    objective: str,
    *,
    tolerance: float,
) -> Repriced:
    """Evaluate the stored routes of time-dependent instances and put the checker's value into the entries, in place.

    A value that moves by more than the relative tolerance loses its certificate and is listed; routes that turn out
    infeasible leave the entry without a value and are listed. The stored value stays in the entry as `stored`.
    """
    try:
        import mamut_routing_lib.td  # noqa: F401
    except ImportError:
        raise EnvironmentLacksError.for_extra("mamut-routing-lib", "routing") from None
    checker, checked = _checker_name(), dict[str, str]()
    moved: list[Moved] = []
    unpriced: list[str] = []
    for one in stored:
        entry = entries[one.key]
        if entry["value"] is None:
            continue
        try:
            priced, reason = _price(repository, paths, one, objective)
        except _CannotPriceError as error:
            unpriced.append(f"{one.key} ({error})")
            entry["priced_by"] = "store"
            continue
        checked[one.key] = checker
        if (found := put_price(one.key, entry, priced, reason, tolerance=tolerance)) is not None:
            moved.append(found)
    notes = [f"solutions that could not be re-priced: {len(unpriced)} ({listing(unpriced)})"] if unpriced else []
    return Repriced(tuple(moved), checker, notes, checked)


def _checker_name() -> str:
    """Name the referee and the contract it prices under, which releases before 0.12 do not state themselves."""
    from mamut_routing_lib.td import checker

    contract = getattr(checker, "TD_CHECKER_CONTRACT", "td-fold/1")
    return f"mamut-routing-lib {version('mamut-routing-lib')}, {contract}"


class _CannotPriceError(Exception):
    """The instance, a sidecar or the routes cannot be used; the stored value stands."""


def _price(repository: Repository, paths: Mapping[str, str], one: Stored, objective: str) -> tuple[float | None, str]:
    from mamut_routing_lib.enums import ObjectiveFunction
    from mamut_routing_lib.models import BenchmarkSolution
    from mamut_routing_lib.td import check_td_solution, load_td_instance
    from pydantic import ValidationError

    if one.instance_blob is None:
        raise _CannotPriceError("no instance beside it")
    bks, instance = repository.read([one.bks_blob, one.instance_blob])
    if bks is None or instance is None:
        raise _CannotPriceError("not in the clone")
    solution = msgspec.json.decode(bks, type=StoredSolution)
    if not solution.routes:
        raise _CannotPriceError("no routes")
    with tempfile.TemporaryDirectory(prefix="gapline-") as scratch:
        file = Path(scratch) / one.instance
        _lay_out(repository, paths, one, instance, Path(scratch))
        try:
            loaded = load_td_instance(file)
        except FileNotFoundError as error:
            raise _CannotPriceError(f"no sidecar {Path(str(error.filename)).name}") from None
        except (ValueError, OSError, KeyError) as error:
            raise _CannotPriceError(str(error).splitlines()[0][:120]) from None
        try:
            candidate = BenchmarkSolution(instance_name=loaded.instance.instance_name, routes=solution.routes)
        except ValidationError as error:
            return None, f"malformed routes: {error.errors()[0]['msg']}"
        try:
            result = check_td_solution(loaded, candidate, ObjectiveFunction(objective))
        except ValueError as error:
            raise _CannotPriceError(str(error).splitlines()[0][:120]) from None
    return (float(result.routing_cost), "") if result.is_valid() else (None, str(result.error_message))


def _lay_out(repository: Repository, paths: Mapping[str, str], one: Stored, instance: bytes, root: Path) -> None:
    """Write the instance and what it refers to under its own path, from blobs."""
    folder = PurePosixPath(one.instance).parent
    wanted = {f"{folder}/{name}": blob for name, blob in one.sidecars.items()}
    for parent in PurePosixPath(one.instance).parents:
        # A collection names sidecars from its own root, which its marker file shows.
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
        raise _CannotPriceError(f"path {path!r} leads out of the store")
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)

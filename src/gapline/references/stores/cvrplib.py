"""`cvrplib:DIR`: a folder of CVRPLIB solution files, `NAME.sol` with routes and a line `Cost VALUE`."""

import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from gapline.campaign.store import file_digest
from gapline.checkers.routing import CvrpChecker
from gapline.checkers.verdict import CheckerFailure
from gapline.contract.instance_digest import problem_digest_of
from gapline.contract.number_limits import is_rounded
from gapline.errors import SnapshotError, import_extra, listing
from gapline.files.open_file import read_document
from gapline.references.fold_candidates import CannotPriceError, price_all
from gapline.references.freeze import FreezeRequest, Frozen, Moved
from gapline.references.snapshot import lines
from gapline.traces.candidates import NUMBER

_COST = re.compile(r"^\s*cost\s*:?\s+(\S+)\s*$", re.IGNORECASE | re.MULTILINE)
_ROUTE = re.compile(r"^\s*route\s*#?\s*\d+\s*:(.*)$", re.IGNORECASE | re.MULTILINE)


def freeze_cvrplib(request: FreezeRequest) -> Frozen:
    """Freeze a folder of `.sol` files, keyed by path inside it; a `.vrp` next to one gives the instance digest.

    With `reprice`, the routes are checked against that `.vrp`, and the checker's value replaces the stated one.
    """
    folder = Path(request.location)
    if not folder.is_dir():
        found = "a file" if folder.exists() else "nothing"
        raise SnapshotError(f"{folder}: expected a folder of .sol files, got {found}")
    entries: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    cut: list[str] = []
    for file in sorted(folder.rglob("*.sol")):
        key = file.relative_to(folder).with_suffix("").as_posix()
        entry = _read_solution(file, problems, cut)
        if entry is not None:
            entries[key] = entry
    if problems:
        raise SnapshotError(lines(problems))
    if not entries:
        raise SnapshotError(f"{folder}: expected .sol files, got none")
    bare = sum("instance_digest" not in entry for entry in entries.values())
    notes = [f"solutions without a .vrp file beside them, so without an instance digest: {bare}"] if bare else []
    if cut:
        notes.append(f"solutions that end inside the line of their cost, which may be cut: {len(cut)} ({listing(cut)})")
    if not request.reprice:
        return request.frozen(entries, "cvrplib", tuple(notes))
    moved, checked, unpriced = _price_all(folder, entries, request.tolerance)
    priced = replace(request, checker=next(iter(checked.values()), request.checker))
    frozen = priced.frozen(entries, "cvrplib", (*notes, *unpriced))
    return replace(frozen, moved=moved, checked=checked)


def _price_all(
    folder: Path, entries: Mapping[str, dict[str, Any]], tolerance: float
) -> tuple[tuple[Moved, ...], dict[str, str], list[str]]:
    import_extra("vrplib", "routing")
    checker = CvrpChecker()

    def price(key: str) -> tuple[float | None, str]:
        if "instance_digest" not in entries[key]:
            raise CannotPriceError("no instance beside it")
        try:
            # Not `with_suffix`: a name may contain a dot itself.
            verdict = checker.check(folder / f"{key}.vrp", _read_routes(folder / f"{key}.sol"))
        except CheckerFailure as error:
            raise CannotPriceError(error.message[:120]) from None
        return verdict.objective, verdict.reason

    return price_all(entries, price, f"{checker.name} {checker.version}", tolerance=tolerance)


def _read_routes(file: Path) -> list[list[object]]:
    """Return the routes of a solution; a word that is not a number is kept, and the checker rejects it."""
    text = read_document(file).decode("utf-8").replace("\r\n", "\n")
    return [[int(word) if word.isdecimal() else word for word in found.split()] for found in _ROUTE.findall(text)]


def _read_solution(file: Path, problems: list[str], cut: list[str]) -> dict[str, Any] | None:
    try:
        text = read_document(file).decode("utf-8").replace("\r\n", "\n")
    except (OSError, UnicodeDecodeError) as error:
        problems.append(f"{file}: expected text in UTF-8, got {error}")
        return None
    costs = _COST.findall(text)
    if len(costs) != 1 or not re.match(NUMBER, costs[0]):
        problems.append(f"{file}: expected one line `Cost VALUE`, got {', '.join(costs) or 'none'}")
        return None
    if is_rounded(costs[0]):
        problems.append(f"{file}: expected a cost that a double holds, got {costs[0]}")
        return None
    if text.endswith(costs[0]):
        cut.append(file.name)
    entry: dict[str, Any] = {
        "value": float(costs[0]),
        "certified": False,
        "source": file.name,
        "solution_digest": file_digest(file),
        "routes": len(_ROUTE.findall(text)),
    }
    # Instance files of Solomon's and other sets have the suffix .txt.
    instance = next((one for suffix in (".vrp", ".txt") if (one := file.with_suffix(suffix)).is_file()), None)
    if instance is not None:
        entry |= {"instance_digest": file_digest(instance), "problem_digest": problem_digest_of(instance)}
    return entry

"""Best values by date: `history:FILE`, a CSV with a row for each new value, and `combopt:PATH@COMMIT`.

The latter is the git repository behind CombOpt's tables. The path of every best-known solution in it states date,
routes and distance: `best_known_solutions/LiLim/2019-11-06/lr1_4_8.14_10512.3217.txt`. With `as_of`, the values are
those known at the end of that day; later ones are not read.
"""

import csv
import io
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from gapline.errors import SnapshotError, UsageError, listing
from gapline.references.freeze import FreezeRequest, Frozen, read_text, unended
from gapline.references.git_store import open_revision
from gapline.references.snapshot import Snapshot, lines, parse_moment
from gapline.references.stores.files import read_number
from gapline.traces.candidates import TRUE

_NAMES = {
    "day": ("date", "when", "day", "as_of"),
    "instance": ("instance", "name"),
    "value": ("value", "distance", "cost", "objective", "best", "bks"),
    "routes": ("routes", "vehicles"),
    "source": ("source", "who", "author", "authors", "reference"),
    "certified": ("certified", "optimal"),
}
# CombOpt's table of improvements: a row states two values of one instance, each a distance or a number of routes.
_IMPROVEMENTS = {"when", "instance", "improved", "new_bks", "prev_bks", "prev_when"}
_PATH = re.compile(r"(?:^|/)(?P<day>\d{4}-\d\d-\d\d)/(?P<instance>[^./]+)\.(?P<routes>\d+)_(?P<value>[\d.]+)\.txt$")


@dataclass(frozen=True, slots=True)
class _Fact:
    """A value that became known for an instance on a day."""

    instance: str
    day: str
    value: float | None
    routes: float | None = None
    source: str = ""
    certified: bool = False


def freeze_history(request: FreezeRequest) -> Frozen:
    """Freeze a CSV of best values by date, as of the end of the requested day, or else of its last day."""
    file = Path(request.location)
    text = read_text(file, "CSV of best values by date", encoding="utf-8-sig")
    facts, ordered = _read_csv(text, file)
    store = {"name": f"history:{file.name}", "version": request.version, "url": request.url}
    frozen = _freeze(facts, request, store, where=str(file), ordered=ordered)
    return replace(frozen, notes=(*frozen.notes, *unended(text, file)))


def freeze_combopt(request: FreezeRequest) -> Frozen:
    """Freeze CombOpt's repository at a commit, as of the end of the requested day, or else of its last day."""
    repository, commit, where = open_revision(request.location)
    inside = request.family or repository.prefix
    facts = []
    for path in sorted(repository.blobs(commit)):
        match = _PATH.search(path)
        if match and (not inside or f"/{inside.strip('/')}/" in f"/{path}"):
            value, routes = float(match["value"]), float(match["routes"])
            facts.append(_Fact(match["instance"], match["day"], value, routes, source=path))
    if not facts:
        what = "files best_known_solutions/BENCHMARK/DATE/NAME.ROUTES_DISTANCE.txt"
        raise SnapshotError(f"{where}: expected {what}, got none" + (f" in {inside}" if inside else ""))
    store = {"name": "combopt", "version": request.version or commit.id, "url": request.url or repository.url()}
    store |= {"committed": commit.committed} | ({"swhid": commit.swhid} if commit.swhid else {})
    return _freeze(facts, request, store, where=where, ordered=False)


def _freeze(
    facts: Iterable[_Fact], request: FreezeRequest, store: Mapping[str, Any], *, where: str, ordered: bool
) -> Frozen:
    days = sorted({fact.day for fact in facts}, key=parse_moment)
    as_of = request.as_of or days[-1]
    if parse_moment(as_of) < parse_moment(days[0]):
        raise UsageError(f"--as-of {as_of}: expected a day from {days[0]} on, where {where} begins, got an earlier one")
    sign = -1.0 if request.sense == "max" else 1.0
    best: dict[str, _Fact] = {}
    worse = []
    for fact in sorted(facts, key=lambda fact: parse_moment(fact.day)):
        before = best.get(fact.instance)
        if parse_moment(fact.day) > parse_moment(as_of):
            continue
        if before is None or ordered or _rank(fact, sign) < _rank(before, sign):
            best[fact.instance] = fact
        elif _rank(fact, sign) > _rank(before, sign):
            worse.append(f"{fact.instance} of {fact.day}")
    entries = {instance: _entry(fact) for instance, fact in best.items()}
    unknown = sorted({fact.instance for fact in facts} - set(best))
    unusable = [instance for instance, entry in entries.items() if entry["value"] is None]
    problems = (
        (unknown, f"instances of which nothing was known on {as_of}"),
        (unusable, "instances without a usable value"),
        (worse, "rows that are worse than an earlier one, taken as no news"),
    )
    notes = [f"{what}: {len(found)} ({listing(found)})" for found, what in problems if found]
    notes.append(f"values are those known on {as_of}; the dates are the store's own word")
    return Frozen(
        Snapshot.from_entries(entries, name=request.name, store=store, **request.declared() | {"as_of": as_of}),
        tuple(notes),
    )


def _rank(fact: _Fact, sign: float) -> tuple[float, float]:
    """Return the sort key: the number of routes if it is stated, then the value."""
    return fact.routes or 0.0, float("inf") if fact.value is None else sign * fact.value


def _entry(fact: _Fact) -> dict[str, Any]:
    source = ", ".join(filter(None, (fact.source, fact.day)))
    entry: dict[str, Any] = {"value": fact.value, "certified": fact.certified, "source": source, "since": fact.day}
    if fact.value is None:
        entry["stated"] = f"{fact.routes:g} routes, and no distance" if fact.routes else "no value"
    elif fact.routes is not None:
        entry |= {"primary": fact.routes, "secondary": fact.value}
    return entry


def _read_csv(text: str, file: Path) -> tuple[list[_Fact], bool]:
    """Read the facts of a CSV, and return whether each is an improvement on the one before it."""
    header = text.partition("\n")[0]
    delimiter = max(",;\t", key=header.count)
    rows = csv.DictReader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    found = [name.strip().lower() for name in rows.fieldnames or ()]
    rows.fieldnames = found
    improvements = set(found) >= _IMPROVEMENTS
    columns = {kind: next((name for name in names if name in found), None) for kind, names in _NAMES.items()}
    for kind in ("day", "instance", "value"):
        if columns[kind] is None and not improvements:
            wanted = " or ".join(_NAMES[kind])
            raise SnapshotError(f"{file}:1: expected a column {wanted}, got {listing(found) or 'nothing'}")
    facts: list[_Fact] = []
    problems: list[str] = []
    try:
        for row in rows:
            where = f"{file}:{rows.line_num}"
            cells = {name: (cell or "").strip() for name, cell in row.items() if isinstance(cell, str | None) and name}
            if improvements:
                facts += _read_improvement(cells, where, problems)
            elif any(cells.values()):
                named = {kind: cells.get(name, "") if name else "" for kind, name in columns.items()}
                facts += _read_fact(named, where, problems)
    except csv.Error as error:
        raise SnapshotError(f"{file}:{rows.line_num}: expected CSV, got {error}") from error
    if problems:
        raise SnapshotError(lines(problems))
    if not facts:
        raise SnapshotError(f"{file}: expected rows with a date, an instance and a value, got none")
    return _merged(facts) if improvements else facts, improvements


def _read_fact(cells: Mapping[str, str], where: str, problems: list[str]) -> list[_Fact]:
    before = len(problems)
    try:
        parse_moment(cells["day"])
    except ValueError as error:
        problems.append(f"{where}: {error}")
    if not cells["instance"]:
        problems.append(f"{where}: expected an instance, got nothing")
    numbers = {}
    for name in ("value", "routes"):
        if name == "value" or cells.get(name):
            numbers[name] = read_number(cells.get(name), where, f"in {name}", problems)
    if len(problems) > before:
        return []
    certified = cells.get("certified", "").lower() in TRUE
    return [_Fact(cells["instance"], cells["day"], source=cells.get("source", ""), certified=certified, **numbers)]


def _read_improvement(cells: Mapping[str, str], where: str, problems: list[str]) -> list[_Fact]:
    facts: list[_Fact] = []
    for day, value, who in (("prev_when", "prev_bks", "beaten"), ("when", "new_bks", "who")):
        stated = {"day": cells[day], "instance": cells["instance"], "value": cells[value], "source": cells.get(who, "")}
        for fact in _read_fact(stated, where, problems):
            routes = cells["improved"] == "routes"
            facts.append(replace(fact, value=None, routes=fact.value) if routes else fact)
    return facts


def _merged(facts: Iterable[_Fact]) -> list[_Fact]:
    """Merge two rows about one solution; the routes are dropped, since most rows do not state them."""
    found: dict[tuple[str, str], _Fact] = {}
    for fact in facts:
        known = found.get((fact.instance, fact.day))
        if known is None or known.value is None:
            found[fact.instance, fact.day] = fact
    return [replace(fact, routes=None if fact.value is not None else fact.routes) for fact in found.values()]

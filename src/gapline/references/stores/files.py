"""Reference values in files: `csv:FILE`, `solu:FILE` (`=opt= NAME VALUE`) and `snapshot:FILE`."""

import csv
import io
import re
from pathlib import Path
from typing import Any

from gapline.contract.number_limits import is_rounded
from gapline.errors import SnapshotError, UsageError, closest, listing
from gapline.references.freeze import FreezeRequest, Frozen, read_text, refuse_earlier, unended
from gapline.references.snapshot import Snapshot, lines
from gapline.text import model_name
from gapline.traces.candidates import FALSE, NUMBER, TRUE

_NUMBER = re.compile(NUMBER)
# These mean that the store names the instance but has no number for it; scoring lists such instances.
_NO_NUMBER = ("", "nan", "inf", "-inf", "+inf", "infinity", "-infinity", "na", "n/a", "null", "none", "-")
_NUMBERS = ("value", "primary", "secondary")


def freeze_csv(request: FreezeRequest) -> Frozen:
    """Freeze a references CSV; columns that gapline does not know are kept with their entries."""
    file = Path(request.location)
    text = read_text(file, "references CSV", encoding="utf-8-sig")
    entries = _read_entries(text, file)
    unusable = [instance for instance, entry in entries.items() if entry["value"] is None]
    # Neither the path nor the digest of the bytes: the same rows in another order or folder have the same content.
    notes = [f"instances without a usable value: {len(unusable)} ({listing(unusable)})"] if unusable else []
    return request.frozen(entries, f"csv:{file.name}", (*notes, *unended(text, file)))


def _read_entries(text: str, file: Path) -> dict[str, dict[str, Any]]:
    rows = csv.reader(io.StringIO(text, newline=""), strict=True)
    problems: list[str] = []
    entries: dict[str, dict[str, Any]] = {}
    seen: dict[str, int] = {}
    header: list[str] | None = None
    try:
        for row in rows:
            if not any(cell.strip() for cell in row):
                continue
            if header is None:
                header = _check_header([cell.strip() for cell in row], file)
                continue
            where = f"{file}:{rows.line_num}"
            if len(row) != len(header):
                problems.append(f"{where}: expected {len(header)} cells, got {len(row)}")
                continue
            cells = {name: cell.strip() for name, cell in zip(header, row, strict=True)}
            instance = cells.pop("instance")
            if not instance:
                problems.append(f"{where}: expected an instance, got nothing")
            elif instance in entries:
                problems.append(
                    f"{where}: expected each instance once, got {instance!r} of line {seen[instance]} again"
                )
            else:
                seen[instance] = rows.line_num
                entries[instance] = _read_entry(cells, where, problems)
    except csv.Error as error:
        raise SnapshotError(f"{file}:{rows.line_num}: expected CSV, got {error}") from error
    if header is None:
        raise SnapshotError(f"{file}: expected a header line instance,value, got an empty file")
    if problems:
        raise SnapshotError(lines(problems))
    return entries


def _check_header(header: list[str], file: Path) -> list[str]:
    for needed in ("instance", "value"):
        if needed not in header:
            near = closest(needed, header)
            hint = f"rename the column {near!r}?" if near else None
            if {"time", "objective"} <= {name.lower() for name in header}:
                hint = "this is a table of runs: references are a CSV instance,value"
            raise SnapshotError(f"{file}:1: expected a column {needed}, got {listing(header)}", hint=hint)
    if twins := sorted({name for name in header if header.count(name) > 1}):
        raise SnapshotError(f"{file}:1: expected each column once, got {listing(twins)} again")
    return header


def _read_entry(cells: dict[str, str], where: str, problems: list[str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"value": None, "certified": False, "source": cells.pop("source", "") or "references CSV"}
    certified = cells.pop("certified", "").lower()
    if certified in TRUE:
        entry["certified"] = True
    elif certified and certified not in FALSE:
        problems.append(f"{where}: expected true or false in certified, got {certified!r}")
    for name, cell in cells.items():
        if name not in _NUMBERS:
            if cell:
                entry[name] = cell
        elif cell.lower() in _NO_NUMBER:
            if name == "value":
                entry["stated"] = cell
        elif (number := read_number(cell, where, f"in {name}", problems)) is not None:
            # 1e400 becomes an infinite float, which `from_entries` moves to `stated`.
            entry[name] = number
    return entry


def read_number(cell: str | None, where: str, what: str, problems: list[str]) -> float | None:
    """Return the number in a cell; if there is none, or none that a double holds, add that to the problems."""
    if cell is None or not _NUMBER.match(cell):
        problems.append(f"{where}: expected a number {what}, got {cell!r}")
    elif is_rounded(cell):
        problems.append(f"{where}: expected a number that a double holds {what}, got {cell}")
    else:
        return float(cell)
    return None


_LINE = re.compile(r"^=\s*(\w+)\s*=\s+(\S+)(?:\s+(\S+))?")
# Whether the value after a tag is certified; the other tags name an instance without a primal value.
_VALUED = {"opt": True, "best": False}
_VALUELESS = ("inf", "unkn", "unbd", "bestdual", "cutoff", "feas")


def freeze_solu(request: FreezeRequest) -> Frozen:
    """Freeze a `.solu` file; `=opt=` is a certificate, `=best=` is not."""
    file = Path(request.location)
    text = read_text(file, ".solu file")
    entries: dict[str, dict[str, Any]] = {}
    problems: list[str] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if line:
            _read_line(line, f"{file}:{number}", entries, problems)
    if problems:
        raise SnapshotError(lines(problems))
    if not entries:
        raise SnapshotError(f"{file}: expected lines such as `=opt= NAME VALUE`, got none")
    unusable = [instance for instance, entry in entries.items() if entry["value"] is None]
    notes = [f"instances without a primal value: {len(unusable)} ({listing(unusable)})"] if unusable else []
    return request.frozen(entries, f"solu:{file.name}", (*notes, *unended(text, file)))


def _read_line(line: str, where: str, entries: dict[str, dict[str, Any]], problems: list[str]) -> None:
    match = _LINE.match(line)
    if match is None or match[1] not in (*_VALUED, *_VALUELESS):
        problems.append(f"{where}: expected `=opt= NAME VALUE` or another tag, got {line[:60]!r}")
        return
    tag, instance, cell = match[1], model_name(match[2]), match[3]
    if tag == "bestdual":
        # A dual bound says nothing about the best known solution; the instance has another line.
        return
    entry: dict[str, Any] = {"value": None, "certified": False, "source": f"={tag}="}
    if tag in _VALUED:
        number = read_number(cell, where, f"after {instance}", problems)
        if number is None:
            return
        entry |= {"value": number, "certified": _VALUED[tag]}
    else:
        entry["stated"] = f"={tag}="
    if instance in entries:
        problems.append(f"{where}: expected each instance once, got {instance!r} again")
        return
    entries[instance] = entry


def freeze_file(request: FreezeRequest) -> Frozen:
    """Freeze the content of a snapshot; it becomes the parent, and its own statements are kept."""
    given = Snapshot.load(request.location)
    for name in ("objective", "checker", "sense"):
        asked, stated = getattr(request, name), getattr(given, name, None)
        if asked is not None and stated is not None and asked != stated:
            raise UsageError(f"{request.location}: expected the {name} {asked}, got {stated}")
    if request.as_of is not None and given.as_of is not None:
        refuse_earlier(request.as_of, given.as_of, f"snapshot {given.name}")
    declared = {name: value for name, value in request.declared().items() if value is not None}
    told = {name: value for name in ("version", "url") if (value := getattr(request, name)) is not None}
    stated = {"as_of": given.as_of, "objective": given.objective, "checker": given.checker}
    # The fold that made the given snapshot is not the origin of this one.
    more = {name: value for name, value in given.more.items() if name != "fold"}
    snapshot = Snapshot.from_entries(
        {instance: entry.document() for instance, entry in given.values.items()},
        name=request.name,
        store=given.store.model_dump(exclude_unset=True) | told,
        parent=given.digest,
        **more | stated | declared,
    )
    return Frozen(snapshot)

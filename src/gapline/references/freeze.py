"""Freezing: one or several stores of best-known values become a `Snapshot`."""

import csv
import gzip
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from gapline.campaign.remote import is_url, local_path
from gapline.contract.reading import TOLERANCE
from gapline.errors import (
    EnvironmentLacksError,
    IntegrityError,
    SnapshotError,
    TraceError,
    UsageError,
    found_at,
    listing,
    near,
)
from gapline.files.compression import read_bytes
from gapline.files.open_file import open_regular, reason_of
from gapline.references.snapshot import Snapshot, parse_moment
from gapline.text import meant

# A snapshot is a store too, of values that were frozen before.
SUFFIXES = {".csv": "csv", ".solu": "solu", ".json": "snapshot"}


def split_source(text: str) -> tuple[str, str] | None:
    """Return store and place of a source, None if neither a scheme nor a suffix names the store.

    >>> split_source("csv:refs.txt"), split_source("lib.solu.gz"), split_source("references/old.json")
    (('csv', 'refs.txt'), ('solu', 'lib.solu.gz'), ('snapshot', 'references/old.json'))
    >>> split_source("a/b:c.csv"), split_source("folder")
    (('csv', 'a/b:c.csv'), None)
    """
    scheme, colon, location = text.partition(":")
    # A drive letter is no store, and a file or a folder may have a colon in its name.
    if colon and len(scheme) > 1 and "/" not in scheme and not Path(text).exists():
        return (scheme, location) if location else None
    suffix = Path(text.removesuffix(".gz")).suffix.lower()
    return (SUFFIXES[suffix], text) if suffix in SUFFIXES else None


def holds_values(text: str) -> bool:
    """Return whether a source of a fold states values; any other source is read as runs.

    A CSV may be either: one with a column `value`, and without the columns of a trace, holds values.
    """
    found = split_source(text)
    if found is None or found[0] == "campaign":
        return False
    return text.startswith("csv:") or found[0] != "csv" or _has_values(Path(text))


def _has_values(file: Path) -> bool:
    try:
        # A trace may be huge: only its beginning is read. A pipe is not waited for.
        with open_regular(file) as packed, gzip.open(packed) if file.suffix == ".gz" else packed as stream:
            head = stream.read(1 << 16).decode("utf-8-sig", "replace")
        header = next((row for row in csv.reader(head.splitlines()) if any(cell.strip() for cell in row)), [])
    except (OSError, EOFError, csv.Error):
        return False
    names = {cell.strip() for cell in header}
    return {"instance", "value"} <= names and not names & {"arm", "objective", "time"}


ENTRY_POINTS = "gapline.stores"


@dataclass(frozen=True, slots=True)
class FreezeRequest:
    """A request to a store: the text behind the colon of `csv:FILE`, and the name of the snapshot.

    `objective` and `family` (a folder; instances are keyed by their path inside it) are for stores that hold several;
    `clones` is the folder in which the submodules of a git store are searched. `as_of`, `version`, `url`, `checker` and
    `sense` (`min` or `max`) are declared if the store does not state them. `trust_solver` accepts candidates that only
    the solver validated. `reprice` evaluates stored solutions again with the available checker; beyond the relative
    `tolerance` a value counts as moved. `reading` holds the options of `gapline.read` for traces.
    """

    location: str
    name: str
    objective: str | None = None
    family: str | None = None
    clones: str | None = None
    as_of: str | None = None
    version: str | None = None
    url: str | None = None
    checker: str | None = None
    sense: str | None = None
    trust_solver: bool = False
    reprice: bool = False
    tolerance: float = TOLERANCE
    reading: Mapping[str, Any] = field(default_factory=dict)

    def declared(self) -> dict[str, Any]:
        """Return what the user declared for the whole snapshot, as arguments of `Snapshot.from_entries`."""
        out: dict[str, Any] = {"as_of": self.as_of, "objective": self.objective, "checker": self.checker}
        return out | ({"sense": "max"} if self.sense == "max" else {})

    def frozen(self, entries: Mapping[str, Mapping[str, Any]], store: str, notes: tuple[str, ...]) -> "Frozen":
        """Return the snapshot of entries from a store without a version of its own."""
        origin = {"name": store, "version": self.version, "url": self.url}
        return Frozen(Snapshot.from_entries(entries, name=self.name, store=origin, **self.declared()), notes)


@dataclass(frozen=True, slots=True)
class Moved:
    """A stored solution that the available checker prices differently, or finds infeasible (`repriced` is None)."""

    instance: str
    stored: float
    repriced: float | None
    reason: str


@dataclass(frozen=True, slots=True)
class Frozen:
    """A snapshot with notes from freezing it; `checked` names the checker of an instance's solution."""

    snapshot: Snapshot
    notes: tuple[str, ...] = ()
    moved: tuple[Moved, ...] = ()
    checked: Mapping[str, str] = field(default_factory=dict)


Freeze = Callable[[FreezeRequest], Frozen]

# Scheme -> its function. Other packages add theirs under the entry point group `gapline.stores`.
_STORES = {
    "csv": "gapline.references.stores.files:freeze_csv",
    "solu": "gapline.references.stores.files:freeze_solu",
    "cvrplib": "gapline.references.stores.cvrplib:freeze_cvrplib",
    "mamut": "gapline.references.stores.mamut:freeze_mamut",
    "campaign": "gapline.references.stores.campaign:freeze_campaign",
    "history": "gapline.references.stores.history:freeze_history",
    "combopt": "gapline.references.stores.history:freeze_combopt",
    "snapshot": "gapline.references.stores.files:freeze_file",
}


def store_names() -> list[str]:
    """Return the names of all stores, those of other packages included."""
    return [*_STORES, *sorted({point.name for point in entry_points(group=ENTRY_POINTS)} - set(_STORES))]


def freeze_snapshot(*sources: str, name: str, **options: Any) -> Snapshot:
    """Freeze `refs.csv`, `lib.solu`, `old.json` or stores such as `mamut:PATH@COMMIT` into one snapshot.

    `FreezeRequest` lists the options.
    """
    return freeze(*sources, name=name, **options).snapshot


def freeze(*sources: str, name: str, **options: Any) -> Frozen:
    """Freeze stores into one snapshot, with notes."""
    if not sources:
        raise UsageError("freeze: expected a file such as refs.csv, or STORE:PLACE, got nothing")
    frozen = {source: _freeze_one(source, name, options) for source in sources}
    if len(frozen) == 1:
        return next(iter(frozen.values()))

    return join_stores(frozen, name=name)


def _freeze_one(source: str, name: str, options: Mapping[str, Any]) -> Frozen:
    found = split_source(source)
    if found is None:
        raise UsageError(
            f"{source}: expected a file {listing(SUFFIXES)}, or STORE:PLACE; stores: {listing(store_names())}",
            hint=f"what is in the folder? campaign:{source} or cvrplib:{source}" if Path(source).is_dir() else None,
        )
    scheme, location = found
    strange = sorted(set(options) - set(FreezeRequest.__dataclass_fields__))
    if strange:
        raise UsageError(f"freeze: expected options of FreezeRequest, got {listing(strange)}")
    request = FreezeRequest(location=location, name=name, **options)
    if request.as_of is not None:
        check_moment(request.as_of)
    if request.sense not in (None, "min", "max"):
        raise UsageError(f"sense: expected min or max, got {request.sense!r}")
    return find_store(scheme)(request)


def freeze_references(given: str | Path, *, name: str | None = None) -> Frozen:
    """Read references as a user names them when scoring: a CSV, a `.solu` file, a snapshot, or `STORE:PLACE`."""
    text = str(local_path(given) if is_url(given) else given)
    scheme, location = split_source(text) or ("csv", text)
    if scheme == "snapshot":
        return Frozen(Snapshot.load(location))
    stem = Path(location.removesuffix(".gz")).stem
    called = stem if scheme in ("csv", "solu") else f"{scheme}:{stem}"
    try:
        return freeze(f"{scheme}:{location}", name=name or called)
    except UsageError as error:
        if scheme not in store_names():
            raise
        # A command that scores cannot pass the options that the store needs.
        first = f"first freeze it, `gapline snapshot freeze {text} --name NAME -o FILE.json`, then give --snapshot"
        raise UsageError(error.message, hint=f"{error.hint}; {first}" if error.hint else first) from None


def read_references(path: str | Path, *, name: str | None = None) -> Snapshot:
    """Read references: a CSV `instance,value,…`, a `.solu` file, a snapshot, or `STORE:PLACE` of a store to freeze."""
    return freeze_references(path, name=name).snapshot


def read_text(file: Path, what: str, *, encoding: str = "utf-8") -> str:
    """Read a text file of a store, compressed or not."""
    if not file.is_file():
        raise SnapshotError(f"{file}: expected a {what}, got {found_at(file)}", hint=near(file))
    try:
        return read_bytes(file).decode(encoding)
    except (OSError, UnicodeDecodeError, TraceError) as error:
        got = reason_of(error) if isinstance(error, OSError) else error
        raise SnapshotError(f"{file}: expected a {what} in UTF-8, got {got}") from error


def unended(text: str, file: Path) -> list[str]:
    """Return a note if a table of values does not end with a line end: `951` may have become `9`."""
    ended = not text or text.endswith(("\n", "\r"))
    return [] if ended else [f"{file}: expected a line end after the last row, got none: its last number may be cut"]


def check_moment(as_of: str) -> None:
    """Refuse a declared date that cannot be parsed."""
    try:
        parse_moment(as_of)
    except ValueError as error:
        raise UsageError(f"as_of: {error}") from None


def refuse_earlier(as_of: str, known: str, what: str) -> None:
    """Refuse a declared date before the moment at which the values could first be known.

    >>> refuse_earlier("2026-08-01", "2026-08-01T12:00:00Z", "the commit")
    """
    try:
        earliest = parse_moment(known)
    except ValueError as error:
        raise IntegrityError(f"{what}: {error}") from None
    # A date stands for its end, so the day of the commit itself is accepted.
    if parse_moment(as_of) < earliest:
        raise UsageError(
            f"--as-of {as_of}: expected a moment not before {what} of {known}",
            hint="values cannot have been known earlier; leave --as-of out, or give a later moment",
        )


def refuse_foreknowledge(as_of: str, entries: Iterable[Mapping[str, Any]]) -> None:
    """Refuse a declared date before the start of a run that found one of the values."""
    for entry in entries:
        found = entry["fold"]
        if found["started"] is not None:
            refuse_earlier(as_of, str(found["started"]), f"the start of run {found['run']}, which found a value,")


def find_store(scheme: str) -> Freeze:
    """Return the function that freezes a store of this scheme."""
    if scheme in _STORES:
        module, _, function = _STORES[scheme].partition(":")
        found: Freeze = getattr(import_module(module), function)
        return found
    for point in entry_points(group=ENTRY_POINTS, name=scheme):
        try:
            plugin: Freeze = point.load()
        except ImportError as error:
            raise EnvironmentLacksError(f"store {scheme!r}: {point.value} cannot be loaded: {error}") from error
        return plugin
    hint = meant(scheme, store_names())
    raise UsageError(f"store: expected one of {listing(store_names())}, got {scheme!r}", hint=hint)


def join_stores(frozen: Mapping[str, Frozen], *, name: str) -> Frozen:
    """Join the snapshots of several stores, by source; an instance that two of them have is refused."""
    snapshots = {source: one.snapshot for source, one in frozen.items()}
    owner: dict[str, str] = {}
    twins = []
    for source, snapshot in snapshots.items():
        twins += [f"{instance} in {owner[instance]} and {source}" for instance in snapshot.values if instance in owner]
        owner |= dict.fromkeys(snapshot.values, source)
    if twins:
        raise UsageError(
            f"expected each instance in one store, got {len(twins)} in several: {listing(twins, most=3)}",
            hint="freeze one snapshot for each store, and give --snapshot several times when scoring",
        )
    # Values of different objectives, or priced by different rules, are not one reference.
    said: dict[str, Any] = {}
    for fact in ("objective", "checker", "sense"):
        stated = {s: v for s, one in snapshots.items() if (v := getattr(one, fact, None)) is not None}
        if len(set(stated.values())) > 1:
            shown = listing(f"{value} in {source}" for source, value in stated.items())
            raise UsageError(f"expected one {fact} in all stores, got {shown}")
        if stated:
            said[fact] = next(iter(stated.values()))
    stores = [snapshot.store.model_dump(exclude_unset=True) for snapshot in snapshots.values()]
    entries = {
        instance: {"store": store} | entry.document()
        for store, snapshot in zip(stores, snapshots.values(), strict=True)
        for instance, entry in snapshot.values.items()
    }
    moments = [snapshot.as_of for snapshot in snapshots.values()]
    joined = Snapshot.from_entries(
        entries,
        name=name,
        store={"name": " + ".join(store["name"] for store in stores), "stores": stores},
        # All of it was known only when the last part was.
        as_of=None if None in moments else max((str(moment) for moment in moments), key=parse_moment),
        **said,
    )
    notes = [f"{source}: {note}" for source, one in frozen.items() for note in one.notes]
    checked = {instance: who for one in frozen.values() for instance, who in one.checked.items()}
    return Frozen(joined, tuple(notes), tuple(moved for one in frozen.values() for moved in one.moved), checked)

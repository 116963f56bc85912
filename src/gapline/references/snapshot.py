"""`Snapshot`: the known values of instances at one date, immutable and identified by a digest."""

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

import polars as pl
from pydantic import ConfigDict, Field, ValidationError, field_validator

from gapline.campaign.remote import local_path
from gapline.contract.number_limits import is_exact
from gapline.contract.result_table import Shown
from gapline.errors import GaplineError, IntegrityError, SnapshotError, found_at, listing
from gapline.files.atomic_write import write_atomically
from gapline.files.digests import content_digest, parse_document
from gapline.files.open_file import read_regular, reason_of
from gapline.references.reference import ExtensibleModel, Reference, Store

SCHEMA = "gapline.snapshot/1"


class Snapshot(ExtensibleModel, Shown):
    """Reference values frozen at one date.

    >>> snapshot = Snapshot.from_values({"i1": 10.0}, name="mine", certified=["i1"])
    >>> snapshot.values["i1"].value, snapshot.values["i1"].certified
    (10.0, True)
    >>> snapshot.digest == Snapshot.from_values({"i1": 10}, name="mine", certified=["i1"]).digest
    True
    """

    model_config = ConfigDict(**ExtensibleModel.model_config, ignored_types=(cached_property,))

    schema_: str = Field(alias="schema")
    name: str
    created: str | None = None
    as_of: str | None = None
    store: Store
    objective: str | None = None
    checker: str | None = None
    parent: str | None = None
    values: Mapping[str, Reference]

    @field_validator("values", mode="after")
    @classmethod
    def _freeze_values(cls, values: Mapping[str, Reference]) -> Mapping[str, Reference]:
        return MappingProxyType(dict(values))

    @field_validator("created", "as_of")
    @classmethod
    def _check_moment(cls, moment: str | None) -> str | None:
        if moment is not None:
            parse_moment(moment)
        return moment

    @classmethod
    def from_entries(
        cls,
        entries: Mapping[str, Mapping[str, Any]],
        *,
        name: str,
        store: Mapping[str, Any],
        as_of: str | None = None,
        objective: str | None = None,
        checker: str | None = None,
        parent: str | None = None,
        **more: Any,
    ) -> Self:
        """Build a snapshot from the entries of a store, ordered by instance; NaN and ±inf become `stated`."""
        document = {
            "schema": SCHEMA,
            "name": name,
            "as_of": as_of,
            "store": dict(store),
            "objective": objective,
            "checker": checker,
            "parent": parent,
            **more,
            "values": {instance: _usable(entries[instance]) for instance in sorted(entries)},
        }
        return cls._validated(document, where=name)

    @classmethod
    def from_values(
        cls,
        values: Mapping[str, float],
        *,
        name: str,
        certified: Collection[str] = (),
        source: str = "given",
        as_of: str | None = None,
        objective: str | None = None,
    ) -> Self:
        """Build a snapshot from numbers by instance."""
        if strangers := sorted(set(certified) - set(values)):
            raise SnapshotError(f"{name}: expected certified instances among the values, got {listing(strangers)}")
        entries: dict[str, dict[str, Any]] = {}
        for instance, value in values.items():
            if isinstance(value, int) and not is_exact(value):
                raise SnapshotError(f"{name}: expected a number that a double holds for {instance}, got {value!r}")
            try:
                number = float(value)
            except (TypeError, ValueError):
                raise SnapshotError(f"{name}: expected a number for {instance}, got {value!r}") from None
            entries[instance] = {"value": number, "certified": instance in certified, "source": source}
        return cls.from_entries(entries, name=name, store={"name": "values"}, as_of=as_of, objective=objective)

    def child(self, entries: Mapping[str, Mapping[str, Any]], *, name: str, as_of: str | None, fold: Any) -> "Snapshot":
        """Build the snapshot that a fold makes from this one; fields beyond the schema are inherited."""
        return Snapshot.from_entries(
            entries,
            name=name,
            store=self.store.model_dump(exclude_unset=True),
            as_of=as_of,
            objective=self.objective,
            checker=self.checker,
            parent=self.digest,
            **self.more | {"fold": fold},
        )

    @classmethod
    def from_document(cls, document: Mapping[str, Any], *, where: str) -> Self:
        """Build a snapshot from a parsed file; one whose content does not match its digest is refused."""
        _check_schema(document.get("schema"), where)
        stated = document.get("digest")
        if stated is None:
            hint = "freeze hand-written values instead: gapline snapshot freeze FILE.csv --name NAME -o FILE.json"
            raise IntegrityError(f"{where}: expected a digest, got none", hint=hint)
        found = content_digest(document, where=where)
        if found != stated:
            raise IntegrityError(f"{where}: the file was changed: expected digest {stated}, got {found}")
        return cls._validated({name: value for name, value in document.items() if name != "digest"}, where=where)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a snapshot file or URL; a changed one is refused, and compared with related snapshots in its folder."""
        file = local_path(path)
        document = read_document(file)
        try:
            return cls.from_document(document, where=str(file))
        except IntegrityError as error:
            evidence = describe_tampering(file, document)
            if evidence is None:
                raise
            raise IntegrityError(f"{error.message}\n{evidence}", hint=error.hint) from None

    @classmethod
    def _validated(cls, document: Mapping[str, Any], *, where: str) -> Self:
        try:
            return cls.model_validate(document)
        except ValidationError as error:
            faults = [
                f"{where}: {'.'.join(map(str, fault['loc'])) or 'snapshot'}: {_plain(fault)}"
                for fault in error.errors(include_url=False)
            ]
            raise SnapshotError(lines(faults)) from None

    @cached_property
    def digest(self) -> str:
        """The sha256 of the canonical JSON of everything but `digest` and `created`."""
        return content_digest(self.document())

    def sense_of(self, instance: str) -> str | None:
        """Return `min` or `max` if the entry or the snapshot states a direction."""
        entry = self.values.get(instance)
        stated = None if entry is None else entry.more.get("sense")
        stated = stated or self.more.get("sense")
        return stated if stated in ("min", "max") else None

    def document(self) -> dict[str, Any]:
        """Return the content as in the file, without the digest."""
        head = self.model_dump(exclude_unset=True, by_alias=True, exclude={"values"})
        return head | {"values": {instance: entry.document() for instance, entry in self.values.items()}}

    def save(self, path: str | Path) -> Path:
        """Write the snapshot file, dated today; a file with another snapshot is never overwritten."""
        file = Path(path)
        # Saving twice is no error; the date of the first file is kept.
        if file.exists():
            there = read_document(file)
            if there.get("digest") != self.digest:
                raise SnapshotError(
                    f"{file}: expected a new file, got one that holds {there.get('digest') or 'something else'}",
                    hint="a snapshot never changes: give the new one a name of its own",
                )
            if content_digest(there) == self.digest:
                return file
        created = self.created or datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
        write_atomically(file, lambda stream: stream.write(self.to_bytes(created=created)))
        return file

    def to_bytes(self, *, created: str | None = None) -> bytes:
        """Return the content of a snapshot file; without a known or given date, the same on any day."""
        date = created or self.created
        document = self.document() | ({"created": date} if date else {}) | {"digest": self.digest}
        return (json.dumps(document, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8")

    def __len__(self) -> int:
        return len(self.values)

    def __reduce__(self) -> tuple[Any, ...]:
        # Workers get snapshots by pickle, and a read-only view of a mapping cannot be pickled.
        return type(self).model_validate, (self.document(),)

    def __deepcopy__(self, memo: object = None) -> Self:
        return self

    __copy__ = __deepcopy__

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Snapshot) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)

    # Those of pydantic would print every value.
    __repr__ = Shown.__repr__
    __str__ = Shown.__repr__

    def to_polars(self) -> pl.DataFrame:
        """Return instance, value, certified and source, a row for each instance."""
        names = ("value", "certified", "source")
        columns = {name: [getattr(entry, name) for entry in self.values.values()] for name in names}
        return pl.DataFrame({"instance": list(self.values), **columns}, schema_overrides={"value": pl.Float64})

    def caption(self) -> str:
        """Return a description in one line."""
        certified = sum(entry.certified for entry in self.values.values())
        return f"{self.name!r}, {len(self)} instances, {certified} certified, {self.digest[:19]}…"


def read_document(file: Path) -> dict[str, Any]:
    """Read the JSON object in a file, without checking it."""
    if not file.is_file():
        raise SnapshotError(f"{file}: expected a snapshot file, got {found_at(file)}")
    try:
        return parse_document(read_regular(file).decode("utf-8"), str(file))
    except (OSError, UnicodeDecodeError) as error:
        got = reason_of(error) if isinstance(error, OSError) else error
        raise SnapshotError(f"{file}: expected JSON in UTF-8, got {got}") from error


def parse_moment(text: str) -> datetime:
    """Parse an ISO 8601 moment; without a zone it is UTC, and a day stands for its last second.

    A value known on some day may have become known after a run of that day began, so the day counts as its end.

    >>> parse_moment("2026-08-01").isoformat()
    '2026-08-01T23:59:59+00:00'
    """
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        raise ValueError(f"expected an ISO 8601 moment such as 2026-08-01T12:00:00Z, got {text!r}") from None
    # A date alone; with a time the text is longer.
    if len(text) <= len("2026-08-01"):
        moment = moment.replace(hour=23, minute=59, second=59)
    return moment.replace(tzinfo=UTC) if moment.tzinfo is None else moment


def find_snapshot(digest: str | None, folder: Path) -> Path | None:
    """Return the unchanged snapshot file with this digest in a folder, None if there is none."""
    for file, document in _documents(folder):
        if digest is not None and document.get("digest") == digest and _is_whole(document):
            return file
    return None


def index_snapshots(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the snapshot files of folders by their stated digest, without checking it."""
    index: dict[str, list[Path]] = {}
    for folder in folders:
        for file, document in _documents(folder):
            index.setdefault(str(document.get("digest")), []).append(file)
    return index


def describe_tampering(file: Path, document: Mapping[str, Any]) -> str | None:
    """List the entries in which a changed file differs from an unchanged copy, its parent or a child in its folder."""
    stated, parent = document.get("digest"), document.get("parent")
    others = [(path, found) for path, found in _documents(file.parent) if path.resolve() != file.resolve()]
    # A copy shows exactly what was changed; a parent or a child also differs where a fold rightly changed it.
    kinds = (("copy", "digest", stated), ("parent", "digest", parent), ("child", "parent", stated))
    for relation, field, digest in kinds:
        for other, found in others:
            if digest is not None and found.get(field) == digest and _is_whole(found):
                return _describe(relation, other, found, document)
    return None


def _describe(relation: str, other: Path, found: Mapping[str, Any], document: Mapping[str, Any]) -> str:
    ours, theirs = _mapping(document.get("values")), _mapping(found.get("values"))
    differing = []
    for instance in sorted(set(ours) | set(theirs)):
        here, there = ours.get(instance), theirs.get(instance)
        if here != there:
            differing.append(f"{instance}: {_short(there)} there, {_short(here)} here")
    head = sorted(
        name
        for name in (set(document) | set(found)) - {"values", "digest", "created", "parent", "name", "fold"}
        if relation == "copy" and document.get(name) != found.get(name)
    )
    differing += [f"{name}: {found.get(name)!r} there, {document.get(name)!r} here" for name in head]
    legitimate = " (a fold changes entries too: those name a run)" if relation != "copy" else ""
    what = listing(differing, most=20) if differing else "no entry differs"
    return f"compared with its {relation} {other.name}{legitimate}: {what}"


def _short(entry: Any) -> str:
    if not isinstance(entry, Mapping):
        return "absent" if entry is None else repr(entry)
    certified = " certified" if entry.get("certified") else ""
    return f"{entry.get('value')!r}{certified} ({entry.get('source')})"


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _is_whole(document: Mapping[str, Any]) -> bool:
    try:
        Snapshot.from_document(document, where="")
    except GaplineError:
        return False
    return content_digest(document) == document.get("digest")


def _documents(folder: Path) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    for file in sorted(folder.glob("*.json")):
        try:
            document = read_document(file)
        except GaplineError:
            continue
        if str(document.get("schema")).startswith("gapline.snapshot/"):
            yield file, document


def _usable(entry: Mapping[str, Any]) -> dict[str, Any]:
    """Move a value that is no finite number to `stated`: JSON has no NaN, and scoring has to list the value."""
    value = entry.get("value")
    if isinstance(value, bool) or not isinstance(value, int | float) or math.isfinite(value):
        return dict(entry)
    return dict(entry) | {"value": None, "stated": str(value)}


def _check_schema(schema: Any, where: str) -> None:
    name, _, version = str(schema).partition("/")
    if name != "gapline.snapshot" or not version.isdecimal():
        raise SnapshotError(f"{where}: expected schema {SCHEMA}, got {schema!r:.200}")
    if int(version) > int(SCHEMA.partition("/")[2]):
        hint = "upgrade gapline to read it"
        raise SnapshotError(f"{where}: expected schema {SCHEMA} or older, got {schema}", hint=hint)


def lines(problems: Sequence[str], *, most: int = 20) -> str:
    """Join problems, one per line, with the number of those left out."""
    more = [f"… and {len(problems) - most} more"] if len(problems) > most else []
    return "\n".join([*problems[:most], *more])


def _plain(fault: Mapping[str, Any]) -> str:
    message = str(fault["msg"]).removeprefix("Value error, ")
    return message if message.startswith("expected") else f"{message}, got {fault['input']!r:.80}"

"""Differences of two snapshots, and the snapshots of a folder that are parents of each other."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from gapline.contract.reading import TOLERANCE
from gapline.errors import GaplineError, listing
from gapline.files.digests import content_digest
from gapline.native.kernel_formulas import check_tolerance
from gapline.references.alarms import snapshot_sense
from gapline.references.resolve import same_instance
from gapline.references.snapshot import Reference, Snapshot, read_document

CLASSES = ("improved", "worsened", "within_tolerance", "added", "removed", "certified", "withdrawn", "instance_changed")

_ABSENT = Reference(value=None)


@dataclass(frozen=True, slots=True)
class Difference:
    """One instance in both snapshots: values, certificates, sources and instance digests, old and new."""

    instance: str
    old: float | None
    new: float | None
    old_certified: bool
    new_certified: bool
    old_source: str
    new_source: str
    old_instance_digest: str | None
    new_instance_digest: str | None


@dataclass(frozen=True, slots=True)
class SnapshotDiff:
    """The differences, classified; an instance may be improved and certified, but `instance_changed` stands alone."""

    old: str
    new: str
    common: int
    unchanged: int
    improved: tuple[Difference, ...]
    worsened: tuple[Difference, ...]
    within_tolerance: tuple[Difference, ...]
    added: tuple[Difference, ...]
    removed: tuple[Difference, ...]
    certified: tuple[Difference, ...]
    withdrawn: tuple[Difference, ...]
    instance_changed: tuple[Difference, ...]

    def document(self) -> dict[str, Any]:
        """Return the diff for JSON."""
        return asdict(self)

    def classes(self) -> dict[str, tuple[Difference, ...]]:
        """Return the classes by name, in the order they are printed."""
        return {name: getattr(self, name) for name in CLASSES}


def diff_snapshots(
    old: Snapshot, new: Snapshot, *, tolerance: float = TOLERANCE, sense: str | None = None
) -> SnapshotDiff:
    """Classify what changed from one snapshot to another.

    Values that differ by no more than the relative tolerance are neither improved nor worsened. Under `sense="max"`
    the larger value is the better one.

    >>> old = Snapshot.from_values({"a": 10.0, "b": 5.0}, name="old")
    >>> new = Snapshot.from_values({"a": 9.0, "c": 1.0}, name="new", certified=["a"])
    >>> diff = diff_snapshots(old, new)
    >>> [(d.instance, d.old, d.new) for d in diff.improved], [d.instance for d in diff.certified]
    ([('a', 10.0, 9.0)], ['a'])
    """
    check_tolerance(tolerance)
    found: dict[str, list[Difference]] = {name: [] for name in CLASSES}
    unchanged = 0
    for instance in sorted(old.values.keys() | new.values.keys()):
        before, after = old.values.get(instance), new.values.get(instance)
        one, other = before or _ABSENT, after or _ABSENT
        difference = Difference(
            instance, one.value, other.value, one.certified, other.certified, one.source, other.source,
            one.instance_digest, other.instance_digest,
        )  # fmt: skip
        sign = -1.0 if snapshot_sense(instance, [old, new], sense) == "max" else 1.0
        classes = classify(before, after, sign, tolerance)
        unchanged += not classes
        for name in classes:
            found[name].append(difference)
    return SnapshotDiff(
        old=old.digest,
        new=new.digest,
        common=len(old.values.keys() & new.values.keys()),
        unchanged=unchanged,
        **{name: tuple(differences) for name, differences in found.items()},
    )


def classify(before: Reference | None, after: Reference | None, sign: float, tolerance: float) -> list[str]:
    """Return the classes of a change of one entry, none where value and certificate are what they were."""
    if before is None or after is None:
        return ["added" if before is None else "removed"]
    # First: values of two instances are neither better nor worse.
    if not same_instance(before, after):
        return ["instance_changed"]
    classes = []
    if before.value != after.value:
        classes.append(_direction(before.value, after.value, sign, tolerance))
    if before.certified != after.certified:
        classes.append("certified" if after.certified else "withdrawn")
    return classes


def _direction(old: float | None, new: float | None, sign: float, tolerance: float) -> str:
    if old is None or new is None:
        # A number where there was none is news; a number that vanished is a loss.
        return "improved" if old is None else "worsened"
    if abs(old - new) <= tolerance * max(abs(old), abs(new)):
        return "within_tolerance"
    return "improved" if sign * (old - new) > 0 else "worsened"


def find_snapshot(digest: str | None, folder: Path) -> Path | None:
    """Find the untouched snapshot file with this digest in a folder."""
    for file, document in _documents(folder):
        if digest is not None and document.get("digest") == digest and _is_whole(document):
            return file
    return None


def index_snapshots(folders: Iterable[Path]) -> dict[str, list[Path]]:
    """Return the snapshot files of folders by the digest they state, without judging whether they hold it."""
    index: dict[str, list[Path]] = {}
    for folder in folders:
        for file, document in _documents(folder):
            index.setdefault(str(document.get("digest")), []).append(file)
    return index


def describe_tampering(file: Path, document: Mapping[str, Any]) -> str | None:
    """List the entries in which a changed file differs from an untouched copy, its parent or a child beside it."""
    stated, parent = document.get("digest"), document.get("parent")
    others = [(path, found) for path, found in _documents(file.parent) if path.resolve() != file.resolve()]
    # A copy shows exactly what was changed; a parent or a child differs also where a fold changed it rightly.
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

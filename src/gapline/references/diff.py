"""Differences of two snapshots."""

from dataclasses import asdict, dataclass
from typing import Any

from gapline.contract.reading import TOLERANCE
from gapline.native.kernel_formulas import check_tolerance
from gapline.references.alarms import snapshot_sense
from gapline.references.reference import Reference
from gapline.references.resolve import same_instance
from gapline.references.snapshot import Snapshot

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
    """The differences by class; an instance may be both improved and certified, but `instance_changed` only that."""

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
    """Return the classes of a change of one entry, none if value and certificate are unchanged."""
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
        # A value that is new is an improvement; one that vanished is a loss.
        return "improved" if old is None else "worsened"
    if abs(old - new) <= tolerance * max(abs(old), abs(new)):
        return "within_tolerance"
    return "improved" if sign * (old - new) > 0 else "worsened"

"""From a snapshot to the numbers that a score divides by; what is unusable is listed, all of it, before anything is scored."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.errors import MissingReferenceError, closest, listing
from gapline.reference.snapshot import Reference, Snapshot

Floats = NDArray[np.float64]
Transform = Callable[..., Floats]

_MOST = 50


def resolve_references(
    snapshot: Snapshot, instances: Sequence[str], *, transform: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Return one strictly positive reference per instance, on the scale that is scored.

    Parameters
    ----------
    instances
        Names, in the order wanted; a name may stand more than once.
    transform
        The declared transform, applied to the raw values before positivity is demanded. One with an attribute
        `hierarchical` that is true is called with (value, primary, secondary) instead.

    Raises
    ------
    MissingReferenceError
        Listing every instance whose reference is missing, zero, negative or not finite.

    >>> snapshot = Snapshot.from_values({"i1": 10.0, "i2": 0.0}, name="mine")
    >>> resolve_references(snapshot, ["i1", "i1"])
    array([10., 10.])
    >>> resolve_references(snapshot, ["i1", "i2", "i3"])
    Traceback (most recent call last):
        ...
    gapline.errors.MissingReferenceError: mine: expected a positive reference for each of 3 instances, got 2 without: i2 (0), i3 (missing)
    Hint: complete the snapshot, or leave these instances out; for objectives that are not positive declare a transform
    """
    names = list(dict.fromkeys(instances))
    values = transformed_references(snapshot, names, transform=transform)
    usable = np.isfinite(values) & (values > 0)
    if not usable.all():
        bad = [name for name, fine in zip(names, usable, strict=True) if not fine]
        shown = [f"{name} ({_describe(snapshot.values.get(name), transform)})" for name in bad]
        raise MissingReferenceError(
            f"{snapshot.name}: expected a positive reference for each of {len(names)} instances, "
            f"got {len(bad)} without: {listing(shown, most=_MOST)}",
            hint=_hint(snapshot, bad),
        )
    by_name = dict(zip(names, values, strict=True))
    return np.array([by_name[name] for name in instances], np.float64)


def transformed_references(
    snapshot: Snapshot, instances: Sequence[str], *, transform: Callable[[Floats], Floats] | None = None
) -> Floats:
    """Return one reference per instance on the scale that is scored, NaN where there is none."""
    entries = [snapshot.values.get(name) for name in instances]
    values = _column(entries, "value")
    if transform is None:
        return values
    with np.errstate(all="ignore"):
        # A reciprocal of zero is no reference; it is listed with the others instead of warned about.
        return np.asarray(transform(values), np.float64)


def _column(entries: Sequence[Reference | None], name: str) -> Floats:
    found: list[Any] = [None if entry is None else getattr(entry, name) for entry in entries]
    return np.array([np.nan if value is None else value for value in found], np.float64)


def _describe(entry: Reference | None, transform: object) -> str:
    if entry is None:
        return "missing"
    if entry.value is None:
        stated = entry.more.get("stated")
        return f"no number: {stated}" if stated else "no value"
    return f"{entry.value:g}" + (" before the transform" if transform is not None else "")


def _hint(snapshot: Snapshot, bad: Sequence[str]) -> str:
    absent = [name for name in bad if name not in snapshot.values]
    if absent and len(absent) == len(bad) and (near := closest(absent[0], snapshot.values)):
        return f"the snapshot has {near!r}: are names keyed differently?"
    if any(name in snapshot.values and snapshot.values[name].value is not None for name in bad):
        return "complete the snapshot, or leave these instances out; for objectives that are not positive declare a transform"
    return "complete the snapshot, or leave these instances out"

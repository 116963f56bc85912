"""From a snapshot to the numbers that a score divides by; what is unusable is listed, all of it, before any scoring."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import MissingReferenceError, closest, listing
from gapline.model.transform import Transform
from gapline.reference.snapshot import Reference, Snapshot

Floats = NDArray[np.float64]
Sizes = Mapping[str, float]

_MOST = 50


def resolve_references(
    snapshot: Snapshot, instances: Sequence[str], *, transform: Transform | None = None, sizes: Sizes | None = None
) -> Floats:
    """Return one strictly positive reference per instance, on the scale that is scored.

    The transform is applied before positivity is demanded; a hierarchical one scalarises `primary` and `secondary` of
    entries that have both, with n of each instance from `sizes` for a multiplier such as 10n.

    >>> snapshot = Snapshot.from_values({"i1": 10.0, "i2": 0.0}, name="mine")
    >>> resolve_references(snapshot, ["i1", "i1"])
    array([10., 10.])
    >>> resolve_references(snapshot, ["i1", "i2", "x"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gapline.errors.MissingReferenceError: mine: expected ... of 3 instances, got 2 without: i2 (0), x (missing)
    Hint: complete the snapshot; for objectives that are not positive, declare a transform
    """
    names = list(dict.fromkeys(instances))
    values = transformed_references(snapshot, names, transform=transform, sizes=sizes)
    by_name = dict(zip(names, values, strict=True))
    usable = np.isfinite(values) & (values > 0)
    if not usable.all():
        bad = [name for name, fine in zip(names, usable, strict=True) if not fine]
        shown = [f"{name} ({_describe(snapshot.values.get(name), by_name[name])})" for name in bad]
        raise MissingReferenceError(
            f"{snapshot.name}: expected a positive reference for each of {len(names)} instances, "
            f"got {len(bad)} without: {listing(shown, most=_MOST)}",
            hint=_hint(snapshot, bad),
        )
    return np.array([by_name[name] for name in instances], np.float64)


def transformed_references(
    snapshot: Snapshot, instances: Sequence[str], *, transform: Transform | None = None, sizes: Sizes | None = None
) -> Floats:
    """Return one reference per instance on the scale that is scored, NaN where there is none."""
    entries = [snapshot.values.get(name) for name in instances]
    values = _column(entries, "value")
    if transform is None:
        return values
    out = transform.apply(values)
    if transform.hierarchical:
        primary, secondary = _column(entries, "primary"), _column(entries, "secondary")
        both = np.flatnonzero(np.isfinite(primary) & np.isfinite(secondary)).tolist()
        if len(both):
            size = None if sizes is None else np.array([sizes.get(instances[k], np.nan) for k in both])
            out = out.copy()
            out[both] = transform.scalarise(primary[both], secondary[both], size=size)
    return out


def instance_sizes(runs: pl.DataFrame) -> dict[str, float] | None:
    """Return n of each instance from the `size` column of a runs table, or None without one."""
    if "size" not in runs.columns:
        return None
    known = runs.select("instance", pl.col("size").cast(pl.Float64)).drop_nulls().unique("instance")
    return dict(known.iter_rows())


def _column(entries: Sequence[Reference | None], name: str) -> Floats:
    found = [None if entry is None else getattr(entry, name) for entry in entries]
    return np.array([np.nan if value is None else value for value in found], np.float64)


def _describe(entry: Reference | None, transformed: float) -> str:
    if entry is None:
        return "missing"
    if entry.value is None:
        stated = entry.more.get("stated")
        return f"no number: {stated}" if stated else "no value"
    return f"{entry.value:g}" + (f", transformed {transformed:g}" if transformed != entry.value else "")


def _hint(snapshot: Snapshot, bad: Sequence[str]) -> str:
    if not any(name in snapshot.values for name in bad):
        near = closest(bad[0], snapshot.values)
        return f"the snapshot has {near!r}: are its names keyed differently?" if near else "complete the snapshot"
    if any(name in snapshot.values and snapshot.values[name].value is not None for name in bad):
        return "complete the snapshot; for objectives that are not positive, declare a transform"
    return "complete the snapshot, or leave these instances out"

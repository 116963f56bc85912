"""From a snapshot to the numbers that a score divides by; what is unusable is listed, all of it, before any scoring."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.campaign.scale import Scale
from gapline.envelope.build import NOT_POSITIVE, Envelopes
from gapline.errors import MissingReferenceError, closest, listing
from gapline.references.snapshot import Reference, Snapshot

Floats = NDArray[np.float64]
Sizes = Mapping[str, float]

_MOST = 50
_AS_IT_IS = Scale()


def resolve_references(
    snapshot: Snapshot,
    instances: Sequence[str],
    *,
    scale: Scale = _AS_IT_IS,
    sizes: Sizes | None = None,
    unreferenced: Collection[str] = (),
) -> Floats:
    """Return one reference per instance on the scale that is scored, strictly positive unless that scale is signed.

    A hierarchical scale scalarises `primary` and `secondary` of entries that have both, with n of each instance from
    `sizes` for a multiplier such as 10n. `unreferenced` instances need none, and have NaN.

    >>> snapshot = Snapshot.from_values({"i1": 10.0, "i2": 0.0}, name="mine")
    >>> resolve_references(snapshot, ["i1", "i1"])
    array([10., 10.])
    >>> resolve_references(snapshot, ["i1", "i2", "x"])  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    gapline.errors.MissingReferenceError: mine: expected ... of 3 instances, got 2 without: i2 (0), x (missing)
    Hint: complete the snapshot; for values of zero or below: ...
    """
    names = list(dict.fromkeys(instances))
    values = transformed_references(snapshot, names, scale=scale, sizes=sizes)
    bad = unusable_references(snapshot, names, values, signed=scale.signed)
    if bad := {name: why for name, why in bad.items() if name not in unreferenced}:
        shown = [f"{name} ({why})" for name, why in bad.items()]
        raise MissingReferenceError(
            f"{snapshot.name}: expected a {'finite' if scale.signed else 'positive'} reference for each of "
            f"{len(names)} instances, got {len(bad)} without: {listing(shown, most=_MOST)}",
            hint=_hint(snapshot, list(bad)),
        )
    by_name = dict(zip(names, values, strict=True))
    return np.array([by_name[name] for name in instances], np.float64)


def unreferenced_instances(snapshot: Snapshot, envelopes: Envelopes) -> tuple[str, ...]:
    """Return the instances, by name, that no run solved and of which the snapshot has no value.

    They need none: an empty run scores the kernel's value before the first incumbent whatever the reference is.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": name, "seed": 1, "horizon": 9, "trace": trace}
    ...         for name, trace in (("i", [(1, 5.0)]), ("j", []))]
    >>> unreferenced_instances(Snapshot.from_values({}, name="none"), gl.build_envelopes(gl.Campaign.from_runs(runs)))
    ('j',)
    """
    solved = envelopes.runs["steps"] > 0
    if solved.all():
        return ()
    names = envelopes.runs["instance"]
    empty = names.filter(~solved).unique()
    unsolved = empty.filter(~empty.is_in(names.filter(solved).unique().implode())).sort().to_list()
    return tuple(name for name in unsolved if lacks_value(snapshot, name))


def lacks_value(snapshot: Snapshot, instance: str) -> bool:
    """Say whether a snapshot states no number for an instance; one that cannot be scored against is a number."""
    entry = snapshot.values.get(instance)
    return entry is None or (entry.value is None and None in (entry.primary, entry.secondary))


def unusable_references(
    snapshot: Snapshot, instances: Sequence[str], values: Floats, *, signed: bool = False
) -> dict[str, str]:
    """Return the instances whose transformed reference cannot be scored against, and what stands there instead."""
    fine = np.isfinite(values) & ((values > 0) | signed)
    pairs = zip(instances, values.tolist(), fine, strict=True)
    return {name: _describe(snapshot.values.get(name), value) for name, value, usable in pairs if not usable}


def transformed_references(
    snapshot: Snapshot, instances: Sequence[str], *, scale: Scale = _AS_IT_IS, sizes: Sizes | None = None
) -> Floats:
    """Return one reference per instance on the scale that is scored, NaN where there is none."""
    entries = [snapshot.values.get(name) for name in instances]
    out = scale.apply(instances, _column(entries, "value"))
    if scale.hierarchical:
        primary, secondary = _column(entries, "primary"), _column(entries, "secondary")
        both = np.flatnonzero(np.isfinite(primary) & np.isfinite(secondary)).tolist()
        if len(both):
            size = None if sizes is None else np.array([sizes.get(instances[k], np.nan) for k in both])
            out = out.copy()
            out[both] = scale.default.scalarise(primary[both], secondary[both], size=size)
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
    if any((entry := snapshot.values.get(name)) is not None and entry.value is not None for name in bad):
        return f"complete the snapshot; for values of zero or below: {NOT_POSITIVE}"
    # A name like one of the snapshot's is rather written otherwise there than not there.
    near = closest(bad[0], snapshot.values) if bad[0] not in snapshot.values else None
    known = f"the snapshot has {near!r}: are its names keyed differently? " if near else ""
    return f"{known}complete the snapshot, or leave these instances out: --leave-out-unscorable scores the rest"

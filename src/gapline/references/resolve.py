"""References on the scored scale; all unusable ones are listed before any scoring."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np
import polars as pl

from gapline.campaign.scale import Scale
from gapline.envelope.build import NOT_POSITIVE, Envelopes
from gapline.errors import IntegrityError, MissingReferenceError, closest, listing
from gapline.native.arrays import Floats
from gapline.references.reference import Reference, known_digests
from gapline.references.snapshot import Snapshot

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
    """Return one reference per instance on the scored scale, strictly positive unless that scale is signed.

    A hierarchical scale scalarises `primary` and `secondary` of entries that have both, with n of each instance from
    `sizes` for a multiplier such as 10n. `unreferenced` instances need none, and get NaN.

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
    """Return the instances, by name, that no run solved and for which the snapshot has no value.

    They need none: an empty run scores the kernel's value before the first incumbent, whatever the reference.

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
    """Return whether a snapshot has no number for an instance; an unusable number still counts as one."""
    entry = snapshot.values.get(instance)
    return entry is None or (entry.value is None and None in (entry.primary, entry.secondary))


def unusable_references(
    snapshot: Snapshot, instances: Sequence[str], values: Floats, *, signed: bool = False
) -> dict[str, str]:
    """Return the instances whose transformed reference cannot be scored against, each with what the snapshot has."""
    fine = np.isfinite(values) & ((values > 0) | signed)
    pairs = zip(instances, values.tolist(), fine, strict=True)
    return {name: _describe(snapshot.values.get(name), value) for name, value, usable in pairs if not usable}


def transformed_references(
    snapshot: Snapshot, instances: Sequence[str], *, scale: Scale = _AS_IT_IS, sizes: Sizes | None = None
) -> Floats:
    """Return one reference per instance on the scored scale, NaN if there is none."""
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
    # If the snapshot has a similar name, the instance is probably spelled differently there, not missing.
    near = closest(bad[0], snapshot.values) if bad[0] not in snapshot.values else None
    known = f"the snapshot has {near!r}: are its names keyed differently? " if near else ""
    return f"{known}complete the snapshot, or leave these instances out: --leave-out-unscorable scores the rest"


def same_instance(one: Reference, other: Reference) -> bool:
    """Return whether two entries belong to one instance, as far as both of them say.

    If both state the digest of the problem, that decides, whatever the bytes of the file. Otherwise the bytes decide,
    and the sidecars if the instance file does not pin them itself.
    """
    if one.problem_digest and other.problem_digest:
        return one.problem_digest == other.problem_digest
    if _rewritten(one, other):
        return False
    ours, theirs = one.more.get("sidecars"), other.more.get("sidecars")
    return not (ours and theirs) or ours == theirs


def refuse_changed_instances(snapshots: Snapshot | Sequence[Snapshot], runs: pl.DataFrame | None = None) -> None:
    """Raise if two sides state different digests for an instance that is to be scored.

    Sides are the snapshots and the digest columns of the runs; a side without digests is not compared.
    """
    changed: dict[str, str] = {}
    for instance, (one, where), (other, there) in _pairs(snapshots, runs):
        if not same_instance(one, other):
            ours, theirs = _distinction(one, other), _distinction(other, one)
            changed.setdefault(instance, f"{instance}: {ours} in {where} but {theirs} in {there}")
    if changed:
        shown = listing([changed[instance] for instance in sorted(changed)], most=20)
        raise IntegrityError(
            f"expected one instance behind each name, got {len(changed)} that changed: {shown}",
            hint="values of different instances are not comparable: freeze the store at the version that was solved",
        )


def refuse_other_sense(snapshot: Snapshot, scale: Scale) -> None:
    """Raise if a snapshot states another direction of the objective than the runs."""
    wrong = []
    for instance, transform in scale.by_instance.items():
        stated, ours = snapshot.sense_of(instance), "max" if transform.maximises else "min"
        if stated is not None and stated != ours:
            wrong.append(f"{instance} ({stated} in the snapshot, {ours} in the runs)")
    if wrong:
        raise IntegrityError(
            f"{snapshot.name}: expected the sense of the runs, got another for {len(wrong)}: {listing(wrong)}",
            hint="`gapline snapshot freeze --sense` states that of a store; `gapline score --negate ARM` turns an arm "
            "that reports the negated objective",
        )


def rewritten_instances(snapshots: Snapshot | Sequence[Snapshot], runs: pl.DataFrame | None = None) -> list[str]:
    """Return a note on the instances for which two sides state different bytes but the same problem."""
    found = {name for name, (one, _), (other, _) in _pairs(snapshots, runs) if _rewritten(one, other)}
    if not found:
        return []
    return [
        f"files of {len(found)} instances were rewritten and still hold the same problem (other bytes, equal problem "
        f"digest): {listing(sorted(found))}"
    ]


Side = tuple[Reference, str]


def _pairs(snapshots: Snapshot | Sequence[Snapshot], runs: pl.DataFrame | None) -> Iterator[tuple[str, Side, Side]]:
    sides: dict[str, dict[str, Side]] = {}
    columns = [] if runs is None else [name for name in ("instance_digest", "problem_digest") if name in runs.columns]
    if runs is not None and columns:
        known = runs.select("instance", *columns, "arm").sort("instance", "arm")
        for row in known.unique(["instance", *columns], keep="first", maintain_order=True).iter_rows(named=True):
            digests = known_digests(row)
            if digests:
                entry = Reference.model_validate({"value": None, **digests})
                sides.setdefault(row["instance"], {}).setdefault(str(digests), (entry, f"runs of {row['arm']}"))
    # Instances without runs may have changed in the store: they are not scored.
    wanted = None if runs is None else set(runs["instance"].unique())
    for snapshot in [snapshots] if isinstance(snapshots, Snapshot) else snapshots:
        for instance, entry in snapshot.values.items():
            said = entry.digests() | ({"sidecars": entry.more["sidecars"]} if entry.more.get("sidecars") else {})
            if said and (wanted is None or instance in wanted):
                sides.setdefault(instance, {}).setdefault(str(said), (entry, f"snapshot {snapshot.name}"))
    for instance, known_sides in sides.items():
        for one, other in combinations(known_sides.values(), 2):
            yield instance, one, other


def _rewritten(one: Reference, other: Reference) -> bool:
    return bool(one.instance_digest and other.instance_digest and one.instance_digest != other.instance_digest)


def _distinction(entry: Reference, other: Reference) -> str:
    """Return what distinguishes an entry from the other one."""
    if _rewritten(entry, other):
        return str(entry.instance_digest)
    if entry.problem_digest and entry.problem_digest != other.problem_digest:
        return f"problem {entry.problem_digest}"
    return f"sidecars {entry.more.get('sidecars')}"

"""Refusing what cannot be compared: values and runs that belong to another instance of the same name."""

from collections.abc import Iterator, Sequence
from itertools import combinations

import polars as pl

from gapline.campaign.scale import Scale
from gapline.errors import IntegrityError, listing
from gapline.references.snapshot import Reference, Snapshot, known_digests


def same_instance(one: Reference, other: Reference) -> bool:
    """Say whether two entries belong to one instance, as far as both of them say.

    Where both state the digest of the problem, that decides, whatever the bytes around it. Else the bytes do, and the
    sidecars where the instance file does not itself pin them.
    """
    if one.problem_digest and other.problem_digest:
        return one.problem_digest == other.problem_digest
    if _rewritten(one, other):
        return False
    ours, theirs = one.more.get("sidecars"), other.more.get("sidecars")
    return not (ours and theirs) or ours == theirs


def refuse_changed_instances(snapshots: Snapshot | Sequence[Snapshot], runs: pl.DataFrame | None = None) -> None:
    """Raise where two sides state different digests for one instance that is to be scored.

    Sides are the snapshots and the digest columns of the runs; a side that states none is not in doubt.
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
    """Raise where a snapshot states that its value is minimised and the runs maximise it, or the other way round."""
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
    """Say, in a note, for which instances two sides state other bytes and the same problem."""
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
                entry = Reference(value=None, **digests)
                sides.setdefault(row["instance"], {}).setdefault(str(digests), (entry, f"runs of {row['arm']}"))
    wanted: set[str] | None = None
    for snapshot in [snapshots] if isinstance(snapshots, Snapshot) else snapshots:
        for instance, entry in snapshot.values.items():
            said = entry.digests() | ({"sidecars": entry.more["sidecars"]} if entry.more.get("sidecars") else {})
            # Instances that nobody ran may have changed: that is the store's business.
            if said and runs is not None and wanted is None:
                wanted = set(runs["instance"].unique())
            if said and (wanted is None or instance in wanted):
                sides.setdefault(instance, {}).setdefault(str(said), (entry, f"snapshot {snapshot.name}"))
    for instance, known_sides in sides.items():
        for one, other in combinations(known_sides.values(), 2):
            yield instance, one, other


def _rewritten(one: Reference, other: Reference) -> bool:
    return bool(one.instance_digest and other.instance_digest and one.instance_digest != other.instance_digest)


def _distinction(entry: Reference, other: Reference) -> str:
    """Name an entry by what tells it from the other one."""
    if _rewritten(entry, other):
        return str(entry.instance_digest)
    if entry.problem_digest and entry.problem_digest != other.problem_digest:
        return f"problem {entry.problem_digest}"
    return f"sidecars {entry.more.get('sidecars')}"

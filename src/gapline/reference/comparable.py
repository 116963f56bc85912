"""Refusing what cannot be compared: values and runs that belong to another instance of the same name."""

from collections.abc import Sequence
from itertools import combinations

import polars as pl

from gapline.errors import IntegrityError, listing
from gapline.model.scale import Scale
from gapline.reference.snapshot import Reference, Snapshot


def same_instance(one: Reference, other: Reference) -> bool:
    """Say whether two entries belong to one instance (and its sidecars), as far as both of them say."""
    if one.instance_digest and other.instance_digest and one.instance_digest != other.instance_digest:
        return False
    ours, theirs = one.more.get("sidecars"), other.more.get("sidecars")
    return not (ours and theirs) or ours == theirs


def refuse_changed_instances(snapshots: Snapshot | Sequence[Snapshot], runs: pl.DataFrame | None = None) -> None:
    """Raise where snapshots, or one and the `instance_digest` of the runs, state different digests for an instance."""
    given = [snapshots] if isinstance(snapshots, Snapshot) else list(snapshots)
    sides: dict[str, dict[str, str]] = {}
    if runs is not None and "instance_digest" in runs.columns:
        known = runs.select("instance", "instance_digest", "arm").drop_nulls().unique(["instance", "instance_digest"])
        for instance, digest, arm in known.sort("instance", "arm").iter_rows():
            sides.setdefault(instance, {}).setdefault(digest, f"runs of {arm}")
    # Instances that nobody ran may have changed: that is the store's business.
    wanted = set(runs["instance"]) if runs is not None else None
    for snapshot in given:
        for instance, entry in snapshot.values.items():
            if entry.instance_digest and (wanted is None or instance in wanted):
                sides.setdefault(instance, {}).setdefault(entry.instance_digest, f"snapshot {snapshot.name}")
    for one, other in combinations(given, 2):
        for instance in one.values.keys() & other.values.keys() & (wanted or one.values.keys()):
            a, b = one.values[instance], other.values[instance]
            if a.instance_digest == b.instance_digest and not same_instance(a, b):
                sides[instance] = {f"sidecars {s.values[instance].more['sidecars']}": s.name for s in (one, other)}
    changed = {instance: digests for instance, digests in sides.items() if len(digests) > 1}
    if changed:
        shown = [
            f"{instance}: " + " but ".join(f"{digest} in {where}" for digest, where in digests.items())
            for instance, digests in sorted(changed.items())
        ]
        raise IntegrityError(
            f"expected one instance behind each name, got {len(changed)} that changed: {listing(shown, most=20)}",
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
            hint="freeze the store with --sense, or turn an arm that reports the negated objective with --negate ARM",
        )

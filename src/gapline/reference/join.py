"""Several stores in one snapshot: each value names the store it comes from, and its version."""

from collections.abc import Mapping
from typing import Any

from gapline.errors import UsageError, listing
from gapline.reference.freeze import Frozen
from gapline.reference.snapshot import Snapshot, parse_moment


def join_stores(frozen: Mapping[str, Frozen], *, name: str) -> Frozen:
    """Put the snapshots of several stores, by source, into one; an instance that two of them have is refused."""
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
    # Values that measure different things, or are priced by different rules, are no one reference.
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
        # All of it was known only when the last of it was.
        as_of=None if None in moments else max((str(moment) for moment in moments), key=parse_moment),
        **said,
    )
    notes = [f"{source}: {note}" for source, one in frozen.items() for note in one.notes]
    checked = {instance: who for one in frozen.values() for instance, who in one.checked.items()}
    return Frozen(joined, tuple(notes), tuple(moved for one in frozen.values() for moved in one.moved), checked)

"""Which of the values that sources offer are better than those there are, and the entries they become."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from gapline.errors import listing
from gapline.reference.alarm import snapshot_sense
from gapline.reference.beaten import is_beaten
from gapline.reference.offers import Offer, has_number
from gapline.reference.snapshot import Reference, Snapshot

Rank = tuple[float, ...]


class Taken(NamedTuple):
    """A value that an offer has: the entry it becomes, and who checked its solution (None: the user's word)."""

    instance: str
    entry: dict[str, Any]
    checker: str | None
    offer: Offer


def take_values(
    snapshot: Snapshot,
    current: Mapping[str, Mapping[str, Any]],
    offers: Sequence[Offer],
    *,
    tolerance: float,
    add: bool = False,
    sense: str | None = None,
) -> tuple[list[Taken], list[str]]:
    """Return the values that beat the current entry of their instance by more than the tolerance; note what was not.

    The best of all offers counts; of equal ones the first that was named. A certified entry is never replaced, and a
    value without its number of routes is not compared with one that states them.
    """
    taken, absent, unlike, unused = [], [], [], []
    for instance, found in sorted(_by_instance(offers).items()):
        now = current.get(instance)
        if now is None and not add:
            absent.append(instance)
            continue
        known = [one.snapshot for one, _ in found]
        sign = -1.0 if snapshot_sense(instance, [snapshot, *known], sense) == "max" else 1.0
        # One number and a pair of them have no order.
        size = len(_rank(found[0][1].document() if now is None or now["value"] is None else now, sign))
        alike = [(offer, entry) for offer, entry in found if len(_rank(entry.document(), sign)) == size]
        if len(alike) < len(found):
            unlike.append(instance)
        if not alike:
            continue
        offer, entry = min(alike, key=lambda one: _rank(one[1].document(), sign))
        if now is not None and now["value"] is not None and not _beats(entry, now, sign, tolerance):
            if entry.certified and not now["certified"] and not _beats(now, entry, sign, tolerance):
                unused.append(instance)
            continue
        # A certificate that a value contradicts is an alarm, never a new value.
        if now is not None and now["certified"] and now["value"] is not None:
            continue
        taken.append(_taken(instance, offer, entry, snapshot))
    reasons = (
        (absent, "instances that the snapshot does not have, not added"),
        (unlike, "values left out because only one side states the parts of its objective"),
        (unused, "certificates of values that were not beaten, not taken"),
    )
    return taken, [f"{what}: {len(names)} ({listing(names)})" for names, what in reasons if names]


def _by_instance(offers: Sequence[Offer]) -> dict[str, list[tuple[Offer, Reference]]]:
    found: dict[str, list[tuple[Offer, Reference]]] = {}
    for offer in offers:
        for instance, entry in offer.snapshot.values.items():
            if has_number(entry):
                found.setdefault(instance, []).append((offer, entry))
    return found


def _taken(instance: str, offer: Offer, entry: Reference, snapshot: Snapshot) -> Taken:
    checker, theirs = offer.checker_of(instance), offer.snapshot
    store = entry.more.get("store") or theirs.store.model_dump(exclude_unset=True)
    how = f"solution checked by {checker}" if checker else "not checked: taken on the user's word"
    where = " ".join(str(store[name])[:40] for name in ("name", "version") if store.get(name))
    document = entry.document() | {
        "source": "; ".join(filter(None, (entry.source, where, how))),
        "taken": {"store": store, "as_of": theirs.as_of, "checker": checker},
    }
    if offer.digest is not None:
        document["taken"]["snapshot"] = offer.digest
    if snapshot.sense_of(instance) is None and (stated := theirs.sense_of(instance)) is not None:
        document["sense"] = stated
    before = snapshot.values.get(instance)
    if before is not None:
        document |= before.digests()
    return Taken(instance, document, checker, offer)


def _rank(entry: Mapping[str, Any], sign: float) -> Rank:
    """Order by the first component, then by the second, where an entry states both; else by its value."""
    first, second = entry.get("primary"), entry.get("secondary")
    if first is None or second is None:
        return (sign * entry["value"],)
    return sign * first, sign * second


def _beats(
    one: Reference | Mapping[str, Any], other: Reference | Mapping[str, Any], sign: float, tolerance: float
) -> bool:
    ranks = (_rank(side.document() if isinstance(side, Reference) else side, sign) for side in (one, other))
    for value, reference in zip(*ranks, strict=True):
        if is_beaten(value, reference, tolerance):
            return True
        if is_beaten(reference, value, tolerance):
            return False
    return False

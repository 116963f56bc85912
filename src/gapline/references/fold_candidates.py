"""Values offered to a fold by other sources, with their solutions checked and priced again."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gapline.errors import EnvironmentLacksError, IntegrityError, SnapshotError, UsageError, listing
from gapline.references.freeze import Moved, freeze
from gapline.references.snapshot import Snapshot

# Validations that are independent of the solver.
_CHECKED = ("checker", "declared")


@dataclass(frozen=True, slots=True)
class Offer:
    """Values that may be folded in; `checked` names who checked the solution of an instance.

    `rejected` are values whose solution is infeasible, or has another price than stated; `digest` is that of the
    snapshot file, if the source is one.
    """

    source: str
    snapshot: Snapshot
    checked: Mapping[str, str] = field(default_factory=dict)
    rejected: tuple[Moved, ...] = ()
    notes: tuple[str, ...] = ()
    digest: str | None = None

    def checker_of(self, instance: str) -> str | None:
        """Return the independent checker of a value, None if there is none."""
        if instance in self.checked:
            return self.checked[instance]
        found = self.snapshot.values[instance].more.get("fold")
        if isinstance(found, dict) and found.get("validation") in _CHECKED:
            return f"{found['validation']} of run {found.get('run')}"
        taken = self.snapshot.values[instance].more.get("taken")
        return taken.get("checker") if isinstance(taken, dict) else None

    def without(self, instances: Sequence[str]) -> "Offer":
        """Return the offer without some of its values."""
        gone = set(instances)
        if not gone:
            return self
        left = {name: entry.document() for name, entry in self.snapshot.values.items() if name not in gone}
        return replace(self, snapshot=Snapshot.model_validate(self.snapshot.document() | {"values": left}))


def read_offer(source: str, *, reprice: bool = False, trust: bool = False, **options: Any) -> Offer:
    """Read the values of a source; a value whose solution fails the check is rejected.

    With `reprice`, the checker's price of a feasible solution replaces a different stated one. Without the checker's
    package, values stay unchecked under `trust`; otherwise the error asks to install it.
    """
    notes: list[str] = []
    try:
        frozen = freeze(source, name=source, reprice=True, **options)
    except EnvironmentLacksError as error:
        if not trust:
            raise
        notes.append(f"{source}: solutions were not checked: {error.message}")
        frozen = freeze(source, name=source, **options)
    rejected = tuple(one for one in frozen.moved if one.repriced is None or not reprice)
    notes += [f"{source}: {note}" for note in frozen.notes]
    if taken := [one for one in frozen.moved if one not in rejected]:
        shown = listing(f"{one.instance}: stated {one.stored!r}, priced {one.repriced!r}" for one in taken)
        notes.append(f"{source}: values at the checker's price: {len(taken)} ({shown})")
    gone = {one.instance for one in rejected}
    checked = {instance: who for instance, who in frozen.checked.items() if instance not in gone}
    # A snapshot that is frozen again has its origin as parent.
    offer = Offer(source, frozen.snapshot, checked, rejected, tuple(notes), frozen.snapshot.parent)
    return offer.without(sorted(gone))


def exclude_unchecked(offers: Sequence[Offer], *, trust: bool) -> tuple[list[Offer], list[str]]:
    """Leave out unchecked values, unless the user trusts them; a note counts them either way."""
    kept, doubtful = [], []
    for offer in offers:
        unchecked = [
            name for name, one in offer.snapshot.values.items() if one.value is not None and not offer.checker_of(name)
        ]
        doubtful += unchecked
        kept.append(offer if trust else offer.without(unchecked))
    if not doubtful:
        return kept, []
    if trust:
        return kept, [
            f"values that nobody checked, considered on the user's word: {len(doubtful)} ({listing(doubtful)})"
        ]
    left = sum(one.value is not None for offer in kept for one in offer.snapshot.values.values())
    if not left and not any(offer.rejected for offer in offers):
        raise SnapshotError(
            f"{listing(offer.source for offer in offers)}: expected values with a checked solution, got "
            f"{len(doubtful)} without ({listing(doubtful)})",
            hint="`--validation solver` takes them on your word, and each says so",
        )
    return kept, [f"values left out because nobody checked a solution of theirs: {len(doubtful)} ({listing(doubtful)})"]


def refuse_other_values(snapshot: Snapshot, offers: Sequence[Offer], *, sense: str | None = None) -> None:
    """Refuse offers of another objective than the snapshot's, or in another direction."""
    for offer in offers:
        theirs = offer.snapshot.objective
        if snapshot.objective and theirs and theirs != snapshot.objective:
            raise UsageError(f"{offer.source}: expected the objective {snapshot.objective}, got {theirs}")
    wrong = []
    for instance in snapshot.values:
        stated = {"asked for": sense, snapshot.name: snapshot.sense_of(instance)}
        # Numbered, because an offer may have the name of the snapshot.
        stated |= {
            f"{o.source} ({k})": o.snapshot.sense_of(instance)
            for k, o in enumerate(offers)
            if instance in o.snapshot.values
        }
        known = {where: one for where, one in stated.items() if one is not None}
        if len(set(known.values())) > 1:
            wrong.append(f"{instance} ({listing(f'{one} in {where}' for where, one in known.items())})")
    if wrong:
        raise IntegrityError(
            f"expected one sense for each instance, got several for {len(wrong)}: {listing(wrong)}",
            hint="--sense states that of sources which do not",
        )


def put_price(
    instance: str, entry: dict[str, Any], priced: float | None, reason: str, *, tolerance: float
) -> Moved | None:
    """Put the checker's value into an entry, in place, and return the move if it exceeds the relative tolerance.

    A value that moves loses its certificate; an infeasible solution (`priced` is None) has no value. The previous value
    is kept as `stored`.

    >>> entry = {"value": 10.0, "certified": True}
    >>> put_price("i", entry, 11.0, "", tolerance=1e-9)
    Moved(instance='i', stored=10.0, repriced=11.0, reason='certificate withdrawn')
    >>> entry
    {'value': 11.0, 'certified': False, 'stored': 10.0}
    """
    value, was_certified = entry["value"], entry["certified"]
    # The checker of the stored value did not price this one.
    entry.pop("checker", None)
    if priced == value:
        return None
    entry |= {"value": priced, "stored": value}
    if priced is None:
        entry["stated"] = f"infeasible: {reason}"
    elif abs(priced - value) <= tolerance * abs(value):
        return None
    # The proof was of the stored price; it says nothing about another one.
    entry["certified"] = False
    withdrawn = "certificate withdrawn" if was_certified else ""
    return Moved(instance, value, priced, "; ".join(filter(None, (reason, withdrawn))))


class CannotPriceError(Exception):
    """The instance, a sidecar or the solution cannot be used; the stored value stays."""


def price_all(
    entries: Mapping[str, dict[str, Any]],
    price: Callable[[str], tuple[float | None, str]],
    checker: str,
    *,
    tolerance: float,
) -> tuple[tuple[Moved, ...], dict[str, str], list[str]]:
    """Price each stored solution and update its entry; return the moves, the checkers, and notes on unpriced ones.

    `price` returns the checker's value, None for an infeasible solution, and the reason.
    """
    checked: dict[str, str] = {}
    moved: list[Moved] = []
    unpriced: list[str] = []
    for key, entry in entries.items():
        if entry["value"] is None:
            continue
        try:
            priced, reason = price(key)
        except CannotPriceError as error:
            unpriced.append(f"{key} ({error})")
            continue
        checked[key] = checker
        if (found := put_price(key, entry, priced, reason, tolerance=tolerance)) is not None:
            moved.append(found)
    notes = [f"solutions that could not be re-priced: {len(unpriced)} ({listing(unpriced)})"] if unpriced else []
    return tuple(moved), checked, notes

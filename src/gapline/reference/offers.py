"""What a source other than runs offers to a fold: values, their solutions checked first where there are any."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from gapline.errors import EnvironmentLacksError, IntegrityError, SnapshotError, UsageError, listing
from gapline.reference.freeze import Moved, freeze
from gapline.reference.snapshot import Reference, Snapshot

# Whose word on a candidate is a check of somebody else than its finder.
_CHECKED = ("checker", "declared")


@dataclass(frozen=True, slots=True)
class Offer:
    """Values that may be folded in; `checked` names who checked the solution of an instance.

    `rejected` are values whose solution is infeasible, or has another price than the one stated; `digest` is that of
    the snapshot file, where the source is one.
    """

    source: str
    snapshot: Snapshot
    checked: Mapping[str, str] = field(default_factory=dict)
    rejected: tuple[Moved, ...] = ()
    notes: tuple[str, ...] = ()
    digest: str | None = None

    def checker_of(self, instance: str) -> str | None:
        """Return who vouches for a value beside the one who states it, None where nobody does."""
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
    """Read what a source states; a value whose solution does not stand the check is rejected.

    With `reprice`, the checker's price of a feasible solution is taken where it is another than the stated one. Without
    the checker's package the values stand unchecked under `trust`, and else it is asked for.
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
    # A snapshot that is frozen again names the one it comes from as its parent.
    offer = Offer(source, frozen.snapshot, checked, rejected, tuple(notes), frozen.snapshot.parent)
    return offer.without(sorted(gone))


def offer_of(snapshot: Snapshot) -> Offer:
    """Return what a snapshot at hand offers."""
    return Offer(snapshot.name, snapshot, digest=snapshot.digest)


def trusted(offers: Sequence[Offer], *, trust: bool) -> tuple[list[Offer], list[str]]:
    """Leave out values that nobody checked, unless the user vouches for them; a note counts them either way."""
    kept, doubtful = [], []
    for offer in offers:
        unchecked = [
            name for name, one in offer.snapshot.values.items() if has_number(one) and not offer.checker_of(name)
        ]
        doubtful += unchecked
        kept.append(offer if trust else offer.without(unchecked))
    if not doubtful:
        return kept, []
    if trust:
        return kept, [
            f"values that nobody checked, considered on the user's word: {len(doubtful)} ({listing(doubtful)})"
        ]
    left = sum(has_number(one) for offer in kept for one in offer.snapshot.values.values())
    if not left and not any(offer.rejected for offer in offers):
        raise SnapshotError(
            f"{listing(offer.source for offer in offers)}: expected values with a checked solution, got "
            f"{len(doubtful)} without ({listing(doubtful)})",
            hint="`--validation solver` takes them on your word, and each says so",
        )
    return kept, [f"values left out because nobody checked a solution of theirs: {len(doubtful)} ({listing(doubtful)})"]


def has_number(entry: Reference) -> bool:
    """Say whether an entry states a value."""
    return entry.value is not None


def refuse_other_values(snapshot: Snapshot, offers: Sequence[Offer], *, sense: str | None = None) -> None:
    """Raise where an offer measures another objective than the snapshot, or in another direction."""
    for offer in offers:
        theirs = offer.snapshot.objective
        if snapshot.objective and theirs and theirs != snapshot.objective:
            raise UsageError(f"{offer.source}: expected the objective {snapshot.objective}, got {theirs}")
    wrong = []
    for instance in snapshot.values:
        stated = {"asked for": sense, snapshot.name: snapshot.sense_of(instance)}
        # An offer may be named as the snapshot is.
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

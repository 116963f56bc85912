"""Integrity alarms: a certificate or a proof that something contradicts. Both sides are shown; neither is judged."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from itertools import combinations
from typing import Any

import polars as pl

from gapline.contract.reading import TOLERANCE
from gapline.contract.tables import RunKey
from gapline.envelope.build import Envelopes
from gapline.errors import IntegrityError, listing
from gapline.native.kernel_formulas import check_tolerance, run_beats
from gapline.references.reference import Reference
from gapline.references.resolve import instance_sizes, same_instance, transformed_references
from gapline.references.snapshot import Snapshot

# A score below zero shows that something happened, not what (the paper, section 4.2).
EXPLANATIONS = (
    "improvement: the run found a better solution than was known",
    "stale reference: a better value was already known when the snapshot was frozen",
    "instance mismatch: the run solved another instance than the one the value belongs to",
    "direction: the objective is maximised and was read as minimised, or the other way round",
    "defect: the solver, the checker or the stored value is wrong",
)


class AlarmKind(StrEnum):
    """The kinds of contradictions."""

    CANDIDATE = "a candidate is better than a certified optimum"
    VALUE = "a frozen value is better than a certified optimum"
    INSIDE = "a frozen value is not the optimum that its own certificate states"
    CERTIFICATES = "two snapshots certify different optima"
    BOUND = "a run has a better solution than the dual bound of another allows"
    OWN_BOUND = "a run has a better solution than its own dual bound allows"
    OPTIMUM = "a run has a better solution than what another calls the optimum"
    INFEASIBLE = "a run has a solution of what another calls infeasible"
    STORED_BOUND = "a stored value is better than the dual bound of a run allows"
    STORED_OPTIMUM = "a stored value is better than what a run calls the optimum"
    STORED_INFEASIBLE = "there is a stored value of what a run calls infeasible"


# Kinds that contradict a certificate of a store; the others contradict the proof of a run.
CERTIFICATES = frozenset({AlarmKind.CANDIDATE, AlarmKind.VALUE, AlarmKind.INSIDE, AlarmKind.CERTIFICATES})


@dataclass(frozen=True, slots=True)
class Claim:
    """One side of a contradiction: the value as stored or captured (None: infeasible), and where it comes from.

    `arm` is the arm whose run it is, None for a stored value.
    """

    value: float | None
    certified: bool
    source: str
    arm: str | None = None


@dataclass(frozen=True, slots=True)
class Alarm:
    """A contradiction on one instance; `certificate` is the side that claims a proof (of two, the first)."""

    kind: AlarmKind
    instance: str
    certificate: Claim
    other: Claim

    def __str__(self) -> str:
        word = "certified" if self.other.certified else "got"
        # OWN_BOUND contradicts a bound, STORED_OPTIMUM an optimum.
        first = "certified" if self.kind in CERTIFICATES else self.kind.name.rpartition("_")[2].lower()
        value = "" if self.certificate.value is None else f" {self.certificate.value!r}"
        return (
            f"{self.instance}: {self.kind}: {first}{value} ({self.certificate.source}), "
            f"{word} {self.other.value!r} ({self.other.source})"
        )

    @property
    def arms(self) -> frozenset[str]:
        """The arms whose runs are a side of the contradiction."""
        return frozenset(side.arm for side in (self.certificate, self.other) if side.arm is not None)

    def document(self) -> dict[str, Any]:
        """Return the alarm for JSON."""
        return asdict(self) | {"kind": self.kind.value}


def find_alarms(
    snapshots: Snapshot | Sequence[Snapshot],
    envelopes: Envelopes | None = None,
    *,
    tolerance: float = TOLERANCE,
    sense: str | None = None,
) -> list[Alarm]:
    """Find contradicted certificates, among snapshots and between snapshots and accepted candidates.

    Values are compared on the scale of the envelopes' transform; without envelopes, raw and in the direction `sense`
    (`min` unless a snapshot says otherwise). Entries of different instance digests are not compared.
    """
    check_tolerance(tolerance)
    given = [snapshots] if isinstance(snapshots, Snapshot) else list(snapshots)
    alarms = []
    if envelopes is not None:
        for snapshot in given:
            alarms += _beaten_certificates(snapshot, envelopes, tolerance)
    for snapshot in given:
        alarms += _contradicted_inside(snapshot, tolerance)
    for one, other in combinations(given, 2):
        for instance in sorted(one.values.keys() & other.values.keys()):
            known = sense or ("max" if envelopes is not None and envelopes.scale.of(instance).maximises else None)
            maximise = snapshot_sense(instance, [one, other], known) == "max"
            alarm = _compare(instance, one, other, tolerance, maximise)
            if alarm is not None:
                alarms.append(alarm)
    return alarms


def snapshot_sense(instance: str, snapshots: Sequence[Snapshot], sense: str | None = None) -> str:
    """Return the direction of an instance's values, `min` or `max`: as given, else as the snapshots state it."""
    if sense is not None:
        return sense
    stated = {known for snapshot in snapshots if (known := snapshot.sense_of(instance)) is not None}
    if len(stated) > 1:
        raise IntegrityError(f"{instance}: expected snapshots of one sense, got {listing(sorted(stated))}")
    return stated.pop() if stated else "min"


def best_runs(envelopes: Envelopes) -> pl.DataFrame:
    """Return the best non-empty run of each instance; ties go to the earlier one, then to the first key."""
    order = ["instance", "best", "best_time", "arm", "seed"]
    # Few runs are as good as the best, and only these are sorted.
    found = envelopes.runs.filter(pl.col("best") == pl.col("best").min().over("instance")).sort(order)
    return found.unique("instance", keep="first").sort("instance")


def solution_claim(row: Mapping[str, Any], envelopes: Envelopes) -> Claim:
    """Describe the best solution of a run, with how it was validated."""
    key = RunKey(row["arm"], row["instance"], row["seed"])
    raw = row["best"] if envelopes.scale.hierarchical else row["best_raw"]
    source = f"run {key} at {row['best_time']:g} s, valid by {row['validation']}"
    return Claim(raw, certified=False, source=source, arm=key.arm)


def negative_notes(scores: Sequence[tuple[str, float]], *, most: int = 10, tolerance: float = TOLERANCE) -> list[str]:
    """Build the diagnostic for runs (name, score) below zero by more than the tolerance, with possible explanations.

    >>> negative_notes([("a/i/1", 0.2)])
    []
    >>> print(negative_notes([("a/i/1", -0.1)])[0])
    1 run scores below zero: a/i/1 (-0.1)
    """
    below = [(name, score) for name, score in scores if score < -tolerance]
    if not below:
        return []
    shown = listing((f"{name} ({score:.6g})" for name, score in sorted(below, key=lambda item: item[1])), most=most)
    head = f"{len(below)} run{' scores' if len(below) == 1 else 's score'} below zero: {shown}"
    return [head, "a score below zero is a diagnostic, not a certificate; it may be", *(f"- {e}" for e in EXPLANATIONS)]


def _beaten_certificates(snapshot: Snapshot, envelopes: Envelopes, tolerance: float) -> list[Alarm]:
    proven = [name for name, entry in snapshot.values.items() if entry.certified]
    if not proven:
        return []
    best = best_runs(envelopes.select(pl.col("instance").is_in(proven)))
    certified = best["instance"].to_list()
    references = transformed_references(
        snapshot, certified, scale=envelopes.scale, sizes=instance_sizes(envelopes.runs)
    )
    alarms = []
    for row, reference in zip(best.iter_rows(named=True), references.tolist(), strict=True):
        if not run_beats(row, reference, tolerance):
            continue
        entry = snapshot.values[row["instance"]]
        found = solution_claim(row, envelopes)
        alarms.append(Alarm(AlarmKind.CANDIDATE, row["instance"], stored_claim(snapshot, entry), found))
    return alarms


def _contradicted_inside(snapshot: Snapshot, tolerance: float) -> list[Alarm]:
    """Find entries whose own certificate states another optimum than their value."""
    alarms = []
    for instance, entry in snapshot.values.items():
        certificate = entry.more.get("certificate")
        proven = certificate.get("proven_optimum") if isinstance(certificate, dict) else None
        if not isinstance(proven, int | float) or entry.value is None:
            continue
        # On the raw scale and in both directions: a certificate that states another number is wrong either way.
        if abs(proven - entry.value) > tolerance * max(abs(proven), abs(entry.value)):
            side = Claim(float(proven), certified=True, source=f"certificate of {instance} in snapshot {snapshot.name}")
            alarms.append(Alarm(AlarmKind.INSIDE, instance, side, stored_claim(snapshot, entry)))
    return alarms


def _compare(instance: str, one: Snapshot, other: Snapshot, tolerance: float, maximise: bool) -> Alarm | None:
    a, b = one.values[instance], other.values[instance]
    if a.value is None or b.value is None or not same_instance(a, b) or not (a.certified or b.certified):
        return None
    sign = -1.0 if maximise else 1.0
    scale = tolerance * max(abs(a.value), abs(b.value))
    if a.certified and b.certified:
        if abs(a.value - b.value) <= scale:
            return None
        return Alarm(AlarmKind.CERTIFICATES, instance, stored_claim(one, a), stored_claim(other, b))
    sides = [(one, a), (other, b)] if a.certified else [(other, b), (one, a)]
    (proven_in, proven), (found_in, found) = sides
    assert proven.value is not None
    assert found.value is not None
    # A value worse than a proven optimum is no contradiction: the other store is only out of date.
    if sign * (proven.value - found.value) <= scale:
        return None
    return Alarm(AlarmKind.VALUE, instance, stored_claim(proven_in, proven), stored_claim(found_in, found))


def stored_claim(snapshot: Snapshot, entry: Reference) -> Claim:
    """Describe a value of a snapshot, with its source."""
    assert entry.value is not None
    words = f"{entry.source}, " if entry.source else ""
    return Claim(entry.value, entry.certified, f"{words}snapshot {snapshot.name} {snapshot.digest[:19]}")

"""Folding: a new snapshot from an old one and the runs and values that improve on it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.reading import TOLERANCE
from gapline.contract.tables import RUN_KEY, VerdictCode
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.native.kernel_formulas import check_tolerance, is_beaten, run_beats
from gapline.references.alarms import CERTIFICATES, Alarm, find_alarms, snapshot_sense
from gapline.references.contradictions import find_contradictions, find_stored_contradictions
from gapline.references.fold_candidates import Offer, exclude_unchecked, read_offer, refuse_other_values
from gapline.references.freeze import Moved, check_moment, refuse_earlier, refuse_foreknowledge
from gapline.references.policy import best_runs_and_references, fold_date, run_entry, runs_digest
from gapline.references.reference import Reference
from gapline.references.resolve import refuse_changed_instances, refuse_other_sense, rewritten_instances
from gapline.references.snapshot import Snapshot, parse_moment
from gapline.text import counted

Rank = tuple[float, ...]


class CandidateValue(NamedTuple):
    """A value of an offer, and the entry that it becomes."""

    instance: str
    entry: dict[str, Any]
    offer: Offer


def accept_values(
    snapshot: Snapshot,
    current: Mapping[str, Mapping[str, Any]],
    offers: Sequence[Offer],
    *,
    tolerance: float,
    add: bool = False,
    sense: str | None = None,
) -> tuple[list[CandidateValue], list[str]]:
    """Return the values that beat the current entry of their instance by more than the tolerance, and notes on others.

    The best of all offers counts, and of equal ones the first. A certified entry is never replaced, and a value that
    lacks the parts of its objective is not compared with one that states them.
    """
    taken, absent, unlike, unused = [], [], [], []
    stated: dict[str, list[tuple[Offer, Reference]]] = {}
    for offer in offers:
        for instance, entry in offer.snapshot.values.items():
            if entry.value is not None:
                stated.setdefault(instance, []).append((offer, entry))
    for instance, found in sorted(stated.items()):
        now = current.get(instance)
        if now is None and not add:
            absent.append(instance)
            continue
        known = [one.snapshot for one, _ in found]
        sign = -1.0 if snapshot_sense(instance, [snapshot, *known], sense) == "max" else 1.0
        # A single number and a pair have no order.
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


def _taken(instance: str, offer: Offer, entry: Reference, snapshot: Snapshot) -> CandidateValue:
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
    return CandidateValue(instance, document, offer)


def _rank(entry: Mapping[str, Any], sign: float) -> Rank:
    """Return the sort key: the two components if an entry states both, else its value."""
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


@dataclass(frozen=True, slots=True)
class Change:
    """A value that a fold replaced, or added where `old` is None; `source` says where the new one comes from.

    A value found by a run has arm, run, time and solution digest; a value of another source has none of them.
    """

    instance: str
    old: float | None
    new: float
    source: str
    arm: str | None = None
    run: str | None = None
    time: float | None = None
    solution_digest: str | None = None

    def document(self) -> dict[str, Any]:
        """Return the change for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class FoldResult:
    """The new snapshot, its changes, contradicted proofs, notes on what was left out, and rejected values."""

    snapshot: Snapshot
    changes: tuple[Change, ...]
    alarms: tuple[Alarm, ...]
    notes: tuple[str, ...]
    rejected: tuple[Moved, ...] = ()

    def summary(self) -> str:
        """Summarise what was beaten; a contradicted certificate counts as beaten, although it stays."""
        number = len(self.changes)
        if not number and not self.alarms and not self.rejected:
            return "nothing was beaten by more than the tolerance: the content is that of the old snapshot"
        parts = [f"{counted(number, 'value')} beaten or added" if number else "no uncertified value was beaten"]
        if self.rejected:
            parts.append(f"{counted(len(self.rejected), 'value')} rejected: the solution fails the check")
        certified = {alarm.instance for alarm in self.alarms if alarm.kind in CERTIFICATES}
        claims = [alarm for alarm in self.alarms if alarm.kind not in CERTIFICATES]
        for contradicted, what in ((len(certified), "certified value"), (len(claims), "claimed proof")):
            if contradicted:
                verb = "is" if contradicted == 1 else "are"
                parts.append(f"{counted(contradicted, what)} {verb} contradicted: see ALARM")
        return "; ".join(parts)


def fold_snapshot(snapshot: Snapshot, *found: Envelopes | Snapshot | str, name: str, **options: Any) -> Snapshot:
    """Return the snapshot that a fold produces, or the same one if nothing is beaten.

    Parameters
    ----------
    snapshot
        The snapshot to fold into; it does not change, and is the parent of the new one.
    found
        The sources of better values: envelopes of runs, another snapshot, or a store or file such as `refs.csv`,
        `lib.solu` or `mamut:PATH@COMMIT`, whose solutions are checked first.
    name
        The name of the new snapshot.
    options
        `tolerance`, `add` (also instances that the snapshot does not have), `as_of`; `trust_solver` (accept candidates
        that only the solver validated, and values without a checked solution); `campaign` and `include_late` with
        envelopes; `sense`.

    >>> old = Snapshot.from_values({"a": 10.0, "b": 5.0}, name="old")
    >>> theirs = Snapshot.from_values({"a": 9.0, "b": 6.0}, name="theirs")
    >>> new = fold_snapshot(old, theirs, name="new", trust_solver=True)
    >>> new.values["a"].value, new.values["b"].value, new.parent == old.digest
    (9.0, 5.0, True)
    """
    runs = [one for one in found if isinstance(one, Envelopes)]
    if len(runs) > 1:
        raise UsageError(
            "fold_snapshot: expected the envelopes of one campaign, got several; merge the campaigns first"
        )
    trust, tolerance = bool(options.get("trust_solver")), options.get("tolerance", TOLERANCE)
    offers = [
        Offer(one.name, one, digest=one.digest)
        if isinstance(one, Snapshot)
        else read_offer(one, trust=trust, tolerance=tolerance, objective=snapshot.objective, sense=options.get("sense"))
        for one in found
        if not isinstance(one, Envelopes)
    ]
    return fold(snapshot, runs[0] if runs else None, offers=offers, name=name, **options).snapshot


def fold(
    snapshot: Snapshot,
    envelopes: Envelopes | None = None,
    *,
    name: str,
    offers: Sequence[Offer] = (),
    tolerance: float = TOLERANCE,
    include_late: bool = False,
    campaign: Campaign | None = None,
    add: bool = False,
    trust_solver: bool = False,
    as_of: str | None = None,
    sense: str | None = None,
) -> FoldResult:
    """Fold the improvements of a campaign, and the values of other sources, into a new snapshot.

    A value is beaten by more than the relative tolerance, for runs on the transformed scale. A certified value is never
    replaced: a better one raises an alarm, and so does a proof of a run of `campaign` that a solution or a stored value
    refutes. `include_late` also takes checked candidates after the horizon, from `campaign`; `add` takes instances that
    the snapshot does not have; `trust_solver` takes candidates that only the solver validated and unchecked values.
    `as_of` is when the new values were known: not before the start of the runs that found them, nor before the dates
    of their sources; by default the latest of these.
    """
    if include_late and campaign is None:
        raise UsageError("fold: expected the campaign beside include_late, got none")
    check_tolerance(tolerance)
    if as_of is not None:
        check_moment(as_of)
    refuse_other_values(snapshot, offers, sense=sense)
    rejected = tuple(one for offer in offers for one in offer.rejected)
    notes = [note for offer in offers for note in offer.notes]
    offers, doubts = exclude_unchecked(offers, trust=trust_solver)
    known = [snapshot, *(offer.snapshot for offer in offers)]
    runs = None if envelopes is None else envelopes.runs
    refuse_changed_instances(snapshot, runs)
    refuse_changed_instances(known)
    notes += [*doubts, *rewritten_instances(known), *rewritten_instances(snapshot, runs)]
    checked = None
    if envelopes is not None:
        refuse_other_sense(snapshot, envelopes.scale)
        checked, left_out = _vouched(envelopes, trust_solver=trust_solver)
        notes += left_out
        if include_late and campaign is not None:
            checked = include_late_candidates(checked, campaign)
    alarms = find_alarms(known, checked, tolerance=tolerance, sense=sense)
    if campaign is not None and envelopes is not None:
        alarms += find_contradictions(campaign, envelopes, tolerance=tolerance)
        alarms += find_stored_contradictions(campaign, envelopes, known, tolerance=tolerance)
    entries = {instance: e.document() for instance, e in snapshot.values.items()}
    found, absent = ({}, []) if checked is None else _found_by_runs(snapshot, checked, tolerance=tolerance, add=add)
    taken, more = accept_values(snapshot, entries | found, offers, tolerance=tolerance, add=add, sense=sense)
    found |= {one.instance: one.entry for one in taken}
    if absent:
        notes.append(f"instances that the snapshot does not have, not added: {len(absent)} ({listing(absent)})")
    notes += more
    notes += _other_checkers(snapshot, campaign, taken)
    changes = tuple(_change(snapshot, instance, found[instance]) for instance in sorted(found))
    # The same snapshot, not a copy: its digest, and all scores against it, stay valid.
    if not changes:
        return FoldResult(snapshot, (), tuple(alarms), tuple(notes), rejected)
    if as_of is not None:
        _refuse_foreknowledge(as_of, found, taken)
    folded = snapshot.child(
        entries | found,
        name=name,
        as_of=as_of or _known(snapshot, envelopes, taken),
        fold=_made_from(envelopes, offers, taken) | {"tolerance": tolerance, "late": include_late},
    )
    return FoldResult(folded, changes, tuple(alarms), tuple(notes), rejected)


def _found_by_runs(
    snapshot: Snapshot, envelopes: Envelopes, *, tolerance: float, add: bool
) -> tuple[dict[str, dict[str, Any]], list[str]]:
    """Return the entries of values that runs beat, and the instances that the snapshot does not have."""
    found, absent = {}, []
    for row, reference in best_runs_and_references(snapshot, envelopes):
        before = snapshot.values.get(row["instance"])
        if before is None and not add:
            absent.append(row["instance"])
            continue
        if before is not None and before.value is not None:
            unbeaten = math.isfinite(reference) and not run_beats(row, reference, tolerance)
            # A certificate that a run contradicts is an alarm, never a new value.
            if before.certified or unbeaten:
                continue
        entry = run_entry(row, envelopes)
        if snapshot.sense_of(row["instance"]) is None and envelopes.scale.of(row["instance"]).maximises:
            entry["sense"] = "max"
        if before is not None:
            entry |= before.digests()
        found[row["instance"]] = entry
    return found, absent


def _change(snapshot: Snapshot, instance: str, entry: dict[str, Any]) -> Change:
    before = snapshot.values.get(instance)
    # A value of another source may come from somebody else's run, which its source names.
    made = {} if "taken" in entry else entry["fold"]
    told = {key: made[key] for key in ("arm", "run", "time", "solution_digest") if key in made}
    return Change(instance, None if before is None else before.value, entry["value"], entry["source"], **told)


def _other_checkers(snapshot: Snapshot, campaign: Campaign | None, taken: Sequence[CandidateValue]) -> list[str]:
    others = {} if campaign is None else {"the campaign": campaign.facts.get("checker")}
    others |= {one.offer.source: one.offer.snapshot.checker for one in taken}
    return [
        f"checkers differ: the snapshot was priced by {snapshot.checker}, {where} by {theirs}"
        for where, theirs in others.items()
        if snapshot.checker and theirs and theirs != snapshot.checker
    ]


def _refuse_foreknowledge(as_of: str, found: dict[str, dict[str, Any]], taken: Sequence[CandidateValue]) -> None:
    refuse_foreknowledge(as_of, (entry for entry in found.values() if "taken" not in entry))
    for one in taken:
        if one.offer.snapshot.as_of is not None:
            refuse_earlier(as_of, one.offer.snapshot.as_of, f"the values of {one.offer.source}")


def _known(snapshot: Snapshot, envelopes: Envelopes | None, taken: Sequence[CandidateValue]) -> str | None:
    """Return when all values of the new snapshot are known, None if one of the sources does not say."""
    moments = [snapshot.as_of if envelopes is None else fold_date(snapshot, envelopes.runs)]
    moments += [one.offer.snapshot.as_of for one in taken]
    return None if None in moments else max((str(moment) for moment in moments), key=parse_moment)


def _made_from(envelopes: Envelopes | None, offers: Sequence[Offer], taken: Sequence[CandidateValue]) -> dict[str, Any]:
    made: dict[str, Any] = {}
    if envelopes is not None:
        made |= {"runs": len(envelopes), "runs_digest": runs_digest(envelopes.runs)}
    if offers:
        made["sources"] = [
            {"store": offer.snapshot.store.model_dump(exclude_unset=True), "as_of": offer.snapshot.as_of}
            | {"taken": sum(one.offer is offer for one in taken), "rejected": len(offer.rejected)}
            for offer in offers
        ]
    return made


def include_late_candidates(envelopes: Envelopes, campaign: Campaign) -> Envelopes:
    """Replace the best of each run by its best checked candidate after the horizon, if that is better."""
    scale = envelopes.scale
    if scale.hierarchical:
        raise UsageError("fold: expected an objective with one component beside include_late, got a hierarchical one")
    slices = {row[:3]: row[3:] for row in campaign.runs.select(*RUN_KEY, "first", "count").iter_rows()}
    rows = []
    for given in envelopes.runs.iter_rows(named=True):
        row = dict(given)
        first, count = slices.get(tuple(row[name] for name in RUN_KEY), (0, 0))
        part = slice(first, first + count)
        time, raw = campaign.time[part], campaign.objective[part]
        late = (campaign.verdict[part] == VerdictCode.VALID) & (time > row["horizon"])
        objective = np.where(late, scale.of(row["instance"]).apply(raw), np.inf)
        # A value that is not positive on the scored scale is refused inside the horizon, so it is no record after it.
        objective = np.where((objective > 0) | scale.signed, objective, np.inf)
        place = int(np.argmin(objective)) if count else -1
        if place >= 0 and objective[place] < (np.inf if row["best"] is None else row["best"]):
            row["best"], row["best_raw"], row["best_time"] = map(float, (objective[place], raw[place], time[place]))
            if "best_solution_digest" in row:
                row["best_solution_digest"] = None
        rows.append(row)
    return replace(envelopes, runs=pl.DataFrame(rows, schema=envelopes.runs.schema))


def _vouched(envelopes: Envelopes, *, trust_solver: bool) -> tuple[Envelopes, list[str]]:
    doubtful = envelopes.runs.filter((pl.col("validation") == "solver") & pl.col("best").is_not_null())
    if trust_solver or not doubtful.height:
        return envelopes, []
    note = f"runs left out because only the solver vouches for their candidates: {doubtful.height}"
    return envelopes.select(pl.col("validation") != "solver"), [note]

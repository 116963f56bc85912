"""Folding: a new snapshot from an old one and the runs that beat it. The old one stays what it was."""

import math
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import polars as pl

from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.model.campaign import Campaign
from gapline.model.reading import TOLERANCE
from gapline.model.tables import RUN_KEY, VerdictCode
from gapline.model.text import counted
from gapline.reference.alarm import Alarm, find_alarms
from gapline.reference.beaten import check_tolerance, run_beats
from gapline.reference.comparable import refuse_changed_instances, rewritten_instances
from gapline.reference.freeze import check_moment, refuse_foreknowledge
from gapline.reference.policy import best_against, known_after, run_entry, runs_digest
from gapline.reference.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Change:
    """A value that a fold replaced, or added where `old` is None."""

    instance: str
    old: float | None
    new: float
    arm: str
    run: str
    time: float
    solution_digest: str | None

    def document(self) -> dict[str, Any]:
        """Return the change for JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Folded:
    """The new snapshot, what changed, which certificates are contradicted, and what was left out."""

    snapshot: Snapshot
    changes: tuple[Change, ...]
    alarms: tuple[Alarm, ...]
    notes: tuple[str, ...]

    def summary(self) -> str:
        """Say in a sentence what was beaten; a contradicted certificate is beaten too, though it stays."""
        number = len(self.changes)
        if not number and not self.alarms:
            return "nothing was beaten by more than the tolerance: the content is that of the old snapshot"
        found = f"{counted(number, 'value')} beaten or added" if number else "no uncertified value was beaten"
        if not self.alarms:
            return found
        contradicted = len({alarm.instance for alarm in self.alarms})
        verb = "is" if contradicted == 1 else "are"
        return f"{found}; {counted(contradicted, 'certified value')} {verb} contradicted: see ALARM"


def fold_snapshot(snapshot: Snapshot, envelopes: Envelopes, *, name: str, **options: Any) -> Snapshot:
    """Return the snapshot that `fold` makes; the same one where nothing is beaten."""
    return fold(snapshot, envelopes, name=name, **options).snapshot


def fold(
    snapshot: Snapshot,
    envelopes: Envelopes,
    *,
    name: str,
    tolerance: float = TOLERANCE,
    include_late: bool = False,
    campaign: Campaign | None = None,
    add: bool = False,
    trust_solver: bool = False,
    as_of: str | None = None,
) -> Folded:
    """Fold the improvements of a campaign into a new snapshot.

    A value is beaten by more than the relative tolerance, on the transformed scale; a certified one is never replaced:
    a candidate below it is an alarm. `include_late` also takes checked candidates after the horizon, from `campaign`,
    `add` instances that the snapshot does not have, `trust_solver` candidates that only the solver vouches for. `as_of`
    says when the new values were known: not before the runs that found them began, by default their last start.
    """
    if include_late and campaign is None:
        raise UsageError("fold: expected the campaign beside include_late, got none")
    check_tolerance(tolerance)
    if as_of is not None:
        check_moment(as_of)
    refuse_changed_instances(snapshot, envelopes.runs)
    checked, notes = _vouched(envelopes, trust_solver=trust_solver)
    notes += rewritten_instances(snapshot, envelopes.runs)
    if include_late and campaign is not None:
        checked = with_late(checked, campaign)
    alarms = find_alarms(snapshot, checked, tolerance=tolerance)
    changes, entries, absent = [], {instance: e.document() for instance, e in snapshot.values.items()}, []
    for row, reference in best_against(snapshot, checked):
        before = snapshot.values.get(row["instance"])
        if before is None and not add:
            absent.append(row["instance"])
            continue
        if before is not None and before.value is not None:
            unbeaten = math.isfinite(reference) and not run_beats(row, reference, tolerance)
            # A certificate that a run contradicts is an alarm above, never a new value.
            if before.certified or unbeaten:
                continue
        entry = run_entry(row, checked)
        if before is not None:
            entry |= before.digests()
        entries[row["instance"]] = entry
        made = entry["fold"]
        old = None if before is None else before.value
        found = {key: made[key] for key in ("arm", "run", "time", "solution_digest")}
        changes.append(Change(row["instance"], old, entry["value"], **found))
    if absent:
        notes.append(f"instances that the snapshot does not have, not added: {len(absent)} ({listing(absent)})")
    theirs = None if campaign is None else campaign.facts.get("checker")
    if snapshot.checker and theirs and theirs != snapshot.checker:
        notes.append(f"checkers differ: the snapshot was priced by {snapshot.checker}, the campaign by {theirs}")
    # The very same snapshot, not a copy: its digest, and all that was scored against it, stay.
    if not changes:
        return Folded(snapshot, (), tuple(alarms), tuple(notes))
    if as_of is not None:
        refuse_foreknowledge(as_of, (entries[change.instance] for change in changes))
    made_from = {"runs": len(envelopes), "runs_digest": runs_digest(envelopes.runs)}
    folded = snapshot.child(
        entries,
        name=name,
        as_of=as_of or known_after(snapshot, envelopes.runs),
        fold=made_from | {"tolerance": tolerance, "late": include_late},
    )
    return Folded(folded, tuple(changes), tuple(alarms), tuple(notes))


def with_late(envelopes: Envelopes, campaign: Campaign) -> Envelopes:
    """Let the best checked candidate after the horizon stand as the best of its run, where it is better."""
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
        # Not positive on the scored scale: refused inside the horizon, so no record after it.
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

"""Reference policies: the label of a snapshot, the analysis reference, and which instances can be scored."""

import hashlib
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import msgspec
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import Scale, Senses, choose_scale
from gapline.contract.argument_checks import expect
from gapline.contract.names import KernelCode, parse_kernel_name
from gapline.contract.reading import TOLERANCE
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.contract.transforms import Declared
from gapline.envelope.build import Envelopes, Unchecked, unscorable_instances
from gapline.errors import IntegrityError, listing
from gapline.native.kernel_formulas import run_beats
from gapline.references.alarms import best_runs
from gapline.references.reference import found_entry
from gapline.references.resolve import (
    instance_sizes,
    lacks_value,
    refuse_changed_instances,
    transformed_references,
    unusable_references,
)
from gapline.references.snapshot import Snapshot, parse_moment

if TYPE_CHECKING:
    from gapline.journal.register import Register


class Policy(StrEnum):
    """The labels of references, printed on every output."""

    FROZEN = "frozen"
    LATE = "registered after the runs began"
    RETROSPECTIVE = "retrospective"
    GIVEN = "given"
    ANALYSIS = "analysis"


NO_DATE = "the date of these values is not stated"


def label_policy(
    snapshot: Snapshot, runs: pl.DataFrame, *, registered: Collection[str] = (), late: Collection[str] = ()
) -> str:
    """Return the policy that scoring these runs against this snapshot amounts to.

    `analysis` if a value was folded from one of the runs; `frozen` if the digest was `registered` before the first run;
    `retrospective` if the values were known only after runs had begun; `registered after the runs began` if the digest
    was registered too `late`; else `given`: a date can be typed, a digest in the register cannot.
    """
    # Checked first: a value that these runs found is theirs, whatever was registered.
    if _folded_from(snapshot, runs):
        return Policy.ANALYSIS.value
    if snapshot.digest in registered:
        return Policy.FROZEN.value
    start = first_start(runs)
    known = snapshot.as_of or snapshot.created
    # A date at the very moment of a start counts as later: nothing proves that the value was known first.
    if start is not None and known is not None and parse_moment(known) >= start:
        return Policy.RETROSPECTIVE.value
    return Policy.LATE.value if snapshot.digest in late else Policy.GIVEN.value


def first_start(runs: pl.DataFrame) -> datetime | None:
    """Return when the first of these runs started, None if no run says."""
    started = runs["started"].drop_nulls().to_list() if "started" in runs.columns else []
    return min(map(_started, started), default=None)


def reference_notes(stored: Iterable[Snapshot], envelopes: Envelopes, register: "Register | None") -> list[str]:
    """Return notes on snapshots without a date, and on those whose values probably come from these runs."""
    notes = []
    for snapshot in stored:
        policy = label_policy(snapshot, envelopes.runs, **registered_digests(register))
        # A snapshot that was registered in time needs no date.
        if policy == Policy.GIVEN and snapshot.as_of is None:
            notes.append(f"{snapshot.name}: {NO_DATE}")
        pairs = [(row["best"], reference) for row, reference in best_runs_and_references(snapshot, envelopes)]
        equal, known = sum(best == value for best, value in pairs), sum(math.isfinite(value) for _, value in pairs)
        if policy != Policy.ANALYSIS and 2 * equal > known:
            notes.append(f"{snapshot.name}: {equal:,} of {known:,} values are exactly the best values of these runs")
    return notes


def registered_digests(register: "Register | None") -> dict[str, frozenset[str]]:
    """Return the snapshot digests of a register, as arguments of `label_policy`."""
    return {} if register is None else {"registered": register.snapshot_digests(), "late": register.late_digests()}


def refuse_unfrozen(
    snapshot: Snapshot,
    runs: pl.DataFrame,
    *,
    registered: Collection[str] | None = None,
    late: Collection[str] = (),
) -> None:
    """Raise if a contract says `frozen` and the snapshot is not; without a register (None), its dates decide."""
    label = label_policy(snapshot, runs, registered=registered or (), late=late)
    if label in (Policy.RETROSPECTIVE, Policy.ANALYSIS):
        known = snapshot.as_of or snapshot.created
        raise IntegrityError(
            f"{snapshot.name}: expected values known before the first run, got {label} ones (known {known})",
            hint="score under the policy `analysis`, or against a snapshot frozen before the campaign",
        )
    if registered is not None and label != Policy.FROZEN:
        stood = listing(sorted(registered)) or "none"
        when = f", {Policy.LATE}" if label == Policy.LATE else ""
        raise IntegrityError(
            f"{snapshot.name}: expected a snapshot that was registered before the first run ({stood}), "
            f"got {snapshot.digest}{when}",
            hint="name the registered snapshot again, or score under the policy `analysis`",
        )


def analysis_snapshot(
    snapshot: Snapshot | None, envelopes: Envelopes, *, name: str | None = None, tolerance: float = TOLERANCE
) -> Snapshot:
    """Return the analysis reference: the exact minimum of the prior value and all accepted candidates.

    No score against it is negative. An instance without a prior value gets the best of the campaign. A certificate is
    kept only if no candidate is better by more than the tolerance.
    """
    expect(envelopes, Envelopes, "analysis_snapshot")
    if snapshot is None:
        known = Snapshot.from_values({}, name="campaign")
    else:
        known = snapshot
        refuse_changed_instances(snapshot, envelopes.runs)
    entries = {instance: entry.document() for instance, entry in known.values.items()}
    for row, reference in best_runs_and_references(known, envelopes):
        # A prior of zero or below is the minimum, and stays, so that scoring refuses and lists it.
        if row["best"] < reference or math.isnan(reference):
            entry = run_entry(row, envelopes)
            before = known.values.get(row["instance"])
            if before is not None and before.certified and not run_beats(row, reference, tolerance):
                entry["certified"] = True
            if before is not None:
                entry |= before.digests()
            entries[row["instance"]] = entry
    fold = {"policy": Policy.ANALYSIS.value, "runs": len(envelopes), "runs_digest": runs_digest(envelopes.runs)}
    as_of = fold_date(snapshot, envelopes.runs)
    if snapshot is None:
        return Snapshot.from_entries(
            entries, name=name or "campaign", store={"name": "campaign"}, as_of=as_of, fold=fold
        )
    return snapshot.child(entries, name=name or f"{snapshot.name} + campaign", as_of=as_of, fold=fold)


def best_runs_and_references(snapshot: Snapshot, envelopes: Envelopes) -> Iterator[tuple[dict[str, Any], float]]:
    """Yield the best run of each instance with its reference on the scored scale, NaN if there is none."""
    best = best_runs(envelopes)
    names, sizes = best["instance"].to_list(), instance_sizes(envelopes.runs)
    references = transformed_references(snapshot, names, scale=envelopes.scale, sizes=sizes).tolist()
    yield from zip(best.iter_rows(named=True), references, strict=True)


def run_entry(row: dict[str, Any], envelopes: Envelopes) -> dict[str, Any]:
    """Build the entry of a value that a run found, with arm, run, time and solution digest."""
    hierarchical = envelopes.scale.hierarchical
    # Scalarised values stay as they are under a hierarchical transform; the captured objective need not be one.
    value = row["best"] if hierarchical else row["best_raw"]
    entry = found_entry(row, value=value, time=row["best_time"], solution=row.get("best_solution_digest"))
    return entry | ({"primary": row["best_primary"], "secondary": row["best_secondary"]} if hierarchical else {})


def fold_date(snapshot: Snapshot | None, runs: pl.DataFrame) -> str | None:
    """Return when the values are known after folding in these runs: the last start or date, None if one is unknown."""
    if "started" not in runs.columns or not runs.height or runs["started"].null_count():
        return None
    moments = [str(moment) for moment in runs["started"]]
    if snapshot is not None:
        if snapshot.as_of is None:
            return None
        moments.append(snapshot.as_of)
    return max(moments, key=_started)


def runs_digest(runs: pl.DataFrame) -> str:
    """Return a digest of accepted runs by their keys, dates and results, independent of their order."""
    dates = ["started"] if "started" in runs.columns else []
    rows = runs.select(*RUN_KEY, "horizon", "best", "best_time", *dates).sort(RUN_KEY)
    return "sha256:" + hashlib.sha256(msgspec.json.encode(rows.rows())).hexdigest()


def _started(text: str) -> datetime:
    try:
        return parse_moment(text)
    except ValueError as error:
        raise IntegrityError(f"runs table: started: {error}") from None


def _folded_from(snapshot: Snapshot, runs: pl.DataFrame) -> bool:
    folds = [entry.more.get("fold") for entry in snapshot.values.values()]
    folded = {str(fold["run"]): fold.get("started") for fold in folds if isinstance(fold, dict) and "run" in fold}
    if folded:
        dates = runs["started"].to_list() if "started" in runs.columns else [None] * runs.height
        for row, ours in zip(runs.select(RUN_KEY).iter_rows(), dates, strict=True):
            key = str(RunKey(*row))
            # Two campaigns may use the same arms and seeds; only their dates distinguish them.
            if key in folded and (ours is None or folded[key] is None or ours == folded[key]):
                return True
    whole = snapshot.more.get("fold")
    if not isinstance(whole, dict) or not {"horizon", "best", "best_time"} <= set(runs.columns):
        return False
    return bool(whole.get("runs_digest") == runs_digest(runs))


def settle_scale(
    campaign: Campaign,
    declared: Declared,
    snapshots: Sequence[Snapshot],
    *,
    kernels: Sequence[str],
    sense: Senses = None,
    horizon: float | None = None,
    unchecked: Unchecked = Unchecked.REFUSE,
) -> Scale:
    """Choose the scale of a study: signed if Berthold's gap is the only kernel and some value is not positive."""
    scale = choose_scale(campaign, declared, sense=sense)
    if scale.hierarchical or any(parse_kernel_name(name)[0] is not KernelCode.BERTHOLD for name in kernels):
        return scale
    # Under the policy `analysis` a missing reference is no reason: only signs matter here.
    found = find_unscorable(campaign, scale, snapshots, policy=Policy.ANALYSIS, horizon=horizon, unchecked=unchecked)
    return choose_scale(campaign, declared, sense=sense, signed=True) if found else scale


def find_unscorable(
    campaign: Campaign,
    scale: Scale,
    snapshots: Sequence[Snapshot],
    *,
    policy: str | None = None,
    horizon: float | None = None,
    unchecked: Unchecked = Unchecked.REFUSE,
) -> dict[str, str]:
    """Return the instances that cannot be scored on this scale, ordered by name, each with the reason."""
    found, unsolved = unscorable_instances(campaign, scale, horizon=horizon, unchecked=unchecked)
    names, sizes = campaign.runs["instance"].unique().sort().to_list(), instance_sizes(campaign.runs)
    for snapshot in snapshots:
        values = transformed_references(snapshot, names, scale=scale, sizes=sizes)
        for name, why in unusable_references(snapshot, names, values, signed=scale.signed).items():
            # A fold takes the best of the runs where a store has no value; an instance that no run solved needs none.
            if not (lacks_value(snapshot, name) and (policy == Policy.ANALYSIS or name in unsolved)):
                found.setdefault(name, f"reference {why}")
    return dict(sorted(found.items()))

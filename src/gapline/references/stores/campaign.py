"""`campaign:DIR`: the best checked value of each instance in a campaign, a study or a trace file."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from gapline.campaign.campaign import Campaign
from gapline.campaign.scale import instance_senses
from gapline.contract.tables import RunKey, VerdictCode
from gapline.errors import SnapshotError, listing
from gapline.references.freeze import FreezeRequest, Frozen, refuse_foreknowledge
from gapline.references.reference import found_entry
from gapline.references.snapshot import Snapshot
from gapline.traces.merge import contract_senses
from gapline.traces.read import read


def freeze_campaign(request: FreezeRequest) -> Frozen:
    """Freeze the best candidate of each instance that a checker found valid, inside the horizon of its run."""
    campaign = read(Path(request.location), **{"sense": request.sense} | dict(request.reading))
    senses = instance_senses(campaign, request.sense or contract_senses([request.location]))
    entries, doubtful = _best_entries(campaign, senses, trust_solver=request.trust_solver)
    notes = []
    if doubtful:
        notes.append(f"runs left out because only the solver vouches for their candidates: {doubtful}")
    if not entries:
        hint = "`--validation solver` takes the solver's word" if doubtful else None
        raise SnapshotError(f"{request.location}: expected checked candidates, got none", hint=hint)
    if request.as_of is not None:
        refuse_foreknowledge(request.as_of, entries.values())
    if empty := sorted(set(campaign.runs["instance"]) - set(entries)):
        notes.append(f"instances without a checked candidate: {len(empty)} ({listing(empty)})")
    store = {"name": "campaign", "version": request.version or campaign.digest(), "url": request.url}
    declared = request.declared()
    declared["objective"] = declared["objective"] or campaign.facts.get("objective")
    declared["checker"] = declared["checker"] or campaign.facts.get("checker")
    known = set(senses.values()) - {None}
    if known == {"max"}:
        declared["sense"] = "max"
    elif "max" in known:
        for name, entry in entries.items():
            entry["sense"] = senses[name] or "min"
    return Frozen(Snapshot.from_entries(entries, name=request.name, store=store, **declared), tuple(notes))


def _best_entries(
    campaign: Campaign, senses: Mapping[str, str | None], *, trust_solver: bool
) -> tuple[dict[str, dict[str, Any]], int]:
    best: dict[str, tuple[float, float, str]] = {}
    entries: dict[str, dict[str, Any]] = {}
    doubtful = 0
    for row in campaign.runs.iter_rows(named=True):
        part = slice(row["first"], row["first"] + row["count"])
        time, objective = campaign.time[part], campaign.objective[part]
        usable = (campaign.verdict[part] == VerdictCode.VALID) & np.isfinite(objective)
        # A candidate after the horizon was found in time that the run did not have.
        if row["horizon"] is not None:
            usable &= time <= row["horizon"]
        if not usable.any():
            continue
        if row.get("validation") == "solver" and not trust_solver:
            doubtful += 1
            continue
        sign = -1.0 if senses[row["instance"]] == "max" else 1.0
        place = int(np.argmin(np.where(usable, sign * objective, np.inf)))
        key = str(RunKey(row["arm"], row["instance"], row["seed"]))
        # Ties go to the earlier one, then to the first key, whatever the order of the runs.
        rank = (sign * float(objective[place]), float(time[place]), key)
        if row["instance"] in best and best[row["instance"]] <= rank:
            continue
        best[row["instance"]] = rank
        entry = found_entry(row, value=float(objective[place]), time=float(time[place]), solution=None)
        for name in ("primary", "secondary"):
            column = getattr(campaign, name)
            if column is not None and np.isfinite(column[part][place]):
                entry[name] = float(column[part][place])
        entries[row["instance"]] = entry
    return entries, doubtful

"""From shared options to envelopes and snapshots: what `score`, `curve`, `analyse` and `compare` begin with."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gapline.cli.study_defaults import NO_STUDY, StudyDefaults

if TYPE_CHECKING:
    from gapline.envelope.build import Envelopes
    from gapline.model.campaign import Campaign
    from gapline.reference.snapshot import Snapshot

# What an import leaves beside its campaign.
CARRIED_REFERENCES = "references.json"


@dataclass(frozen=True, slots=True)
class Choice:
    """A snapshot to score against, and the policy it was asked for (None: derived from its dates)."""

    snapshot: "Snapshot"
    policy: str | None


def read_sources(
    sources: Sequence[str], *, arm: Sequence[str], panel: Sequence[str], instance: Sequence[str]
) -> "Campaign":
    """Read and filter the runs."""
    from gapline.capture.read import read

    return read(list(sources)).filter(arm=arm, panel=panel, instance=instance)


def accept(
    campaign: "Campaign",
    defaults: StudyDefaults = NO_STUDY,
    *,
    horizon: float | None,
    transform: str | None,
    validation: str | None,
    allow_unchecked: bool,
) -> "Envelopes":
    """Build the envelopes under the choices of the command line."""
    from gapline.envelope.build import Unchecked, build_envelopes
    from gapline.errors import UsageError

    if validation == "solver" and allow_unchecked:
        raise UsageError("expected --validation solver (count them) or --allow-unchecked (leave them out), got both")
    unchecked = Unchecked.REFUSE
    if (validation or defaults.validation) == "solver" and not allow_unchecked:
        unchecked = Unchecked.TRUST_SOLVER
    elif allow_unchecked:
        unchecked = Unchecked.LEAVE_OUT
    return build_envelopes(campaign, horizon=horizon, transform=transform or defaults.transform, unchecked=unchecked)


def choose_references(
    envelopes: "Envelopes",
    sources: Sequence[str],
    defaults: StudyDefaults = NO_STUDY,
    *,
    references: str | None,
    snapshots: Sequence[str],
    policy: str | None,
) -> list[Choice]:
    """Find the snapshots to score against: given ones, those the sources carry, or the campaign's own best."""
    from gapline.errors import UsageError
    from gapline.reference.policy import analysis_snapshot, refuse_unfrozen
    from gapline.reference.snapshot import Snapshot, read_references

    if references is not None and snapshots:
        raise UsageError("expected --references or --snapshot, got both")
    given = [read_references(references)] if references is not None else [Snapshot.load(path) for path in snapshots]
    if not given and defaults.snapshot is not None and defaults.snapshot.is_file():
        given = [Snapshot.load(defaults.snapshot)]
    given = given or [Snapshot.load(path) for path in carried_references(sources)]
    policy = policy or defaults.policy
    if not given:
        if policy == "analysis":
            return [Choice(analysis_snapshot(None, envelopes), "analysis")]
        raise UsageError(
            "expected a reference for the instances, got none",
            hint="give --references refs.csv or --snapshot FILE.json; --policy analysis takes the best of these runs",
        )
    choices = []
    for snapshot in given:
        if policy == "frozen":
            refuse_unfrozen(snapshot, envelopes.runs)
        if policy != "analysis":
            choices.append(Choice(snapshot, None))
        if policy in ("analysis", "both"):
            choices.append(Choice(analysis_snapshot(snapshot, envelopes), "analysis"))
    return choices


def carried_references(sources: Sequence[str]) -> list[Path]:
    """Return the snapshots that the sources carry themselves, each once."""
    from gapline.model.layout import MANIFEST

    found = []
    for source in sources:
        folder = Path(source)
        for place in (folder, folder / "campaign"):
            file = place / CARRIED_REFERENCES
            if (place / MANIFEST).is_file() and file.is_file():
                found.append(file)
    return list(dict.fromkeys(found))

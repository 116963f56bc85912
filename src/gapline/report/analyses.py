"""What a report says beside the declared scores: health, other kernels, other references, pairs, horizons, profiles."""

from dataclasses import dataclass

from gapline.analysis.complementarity import Complementarity, complementarity
from gapline.analysis.health import Health, health
from gapline.analysis.horizon_sweep import HorizonSweep, horizon_sweep
from gapline.analysis.metric_sensitivity import MetricSensitivity, metric_sensitivity
from gapline.analysis.neighbours.profiles import Profiles, performance_profile
from gapline.analysis.readings import build_readings
from gapline.analysis.reference_sensitivity import ReferenceSensitivity, reference_sensitivity
from gapline.model.reading import ReferenceLabel
from gapline.report.input import LabelledSnapshot, ReportInput
from gapline.scoring.kernels import parse_kernel


@dataclass(frozen=True, slots=True, eq=False)
class Analyses:
    """The analyses of one study.

    `names` are the snapshots as the analyses name them. `reference` is None where there is one snapshot; `sweep` where
    the declared kernel has no value before the first incumbent.
    """

    health: Health
    names: tuple[str, ...]
    labels: tuple[ReferenceLabel, ...]
    metric: MetricSensitivity
    reference: ReferenceSensitivity | None
    complementarity: Complementarity
    sweep: HorizonSweep | None
    profile: Profiles
    tier_one: tuple[str, ...]


def analyse_study(study: ReportInput, /, *, tier_two: tuple[str, ...] = ()) -> Analyses:
    """Run the analyses that a report shows; those of one reference read the declared one."""
    kernels = [kernel for kernel in map(parse_kernel, study.kernels) if kernel.before is not None]
    kernels = kernels or [parse_kernel("squeezed")]
    names = snapshot_names(study.snapshots)
    snapshots = [entry.snapshot for entry in study.snapshots]
    readings = build_readings(
        study.envelopes, dict(zip(names, snapshots, strict=True)), kernels=kernels, tier_two=tier_two
    )
    declared = parse_kernel(study.kernels[0])
    goal = study.goals[0]
    sweep = None
    if declared.before is not None:
        sweep = horizon_sweep(study.envelopes, snapshots[0], kernel=declared, weighting=study.weighting)
    return Analyses(
        health=health(study.campaign, study.envelopes),
        names=names,
        labels=tuple(scores.reference for scores in study.scores),
        metric=metric_sensitivity(readings),
        reference=reference_sensitivity(readings) if len(names) > 1 else None,
        complementarity=complementarity(study.envelopes, snapshots[0], kernel=kernels[0], goal=goal),
        sweep=sweep,
        profile=performance_profile(study.envelopes, snapshots[0], goal=goal),
        tier_one=readings.tier_one,
    )


def snapshot_names(snapshots: tuple[LabelledSnapshot, ...]) -> tuple[str, ...]:
    """Name each snapshot once; where two share a name, the digest tells them apart."""
    names = [entry.snapshot.name for entry in snapshots]
    return tuple(
        name if names.count(name) == 1 else f"{name} ({entry.snapshot.digest[7:15]})"
        for name, entry in zip(names, snapshots, strict=True)
    )

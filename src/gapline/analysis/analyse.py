"""Every analysis of one campaign in one go: what `gapline analyse` prints."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.analysis.complementarity import Complementarity, complementarity
from gapline.analysis.events import collect_groups
from gapline.analysis.health import Health, completeness, health, ladder_columns
from gapline.analysis.horizon_sweep import HorizonSweep, horizon_sweep
from gapline.analysis.metric_sensitivity import MetricSensitivity, metric_sensitivity
from gapline.analysis.neighbours.table import neighbours
from gapline.analysis.readings import Readings, build_readings
from gapline.analysis.reference_sensitivity import ReferenceSensitivity, reference_sensitivity
from gapline.analysis.robustness import Robustness, robustness
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.campaign import Campaign
from gapline.reference.policy import analysis_snapshot
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.kernels import PAPER_KERNELS, Kernel
from gapline.scoring.reading import ReferenceLabel, label_reference, reference_column
from gapline.scoring.scores import score
from gapline.summary.balance import check_balance
from gapline.summary.bootstrap import DRAWS, ArmIntervals, Bootstrap, arm_intervals
from gapline.summary.contrasts import Contrasts, contrasts
from gapline.summary.power import PowerTable, power_table
from gapline.summary.ranking import Ranking, ranking

Pair = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class Sensitivity:
    """What changes when the choices change, without any draws: health, kernels, references, endpoints, horizons.

    `judged` is the analysis reference (the campaign folded into the last snapshot): complementarity, the horizon sweep,
    the neighbours, contrasts and the power table are against it.
    """

    judged: Snapshot
    labels: dict[str, ReferenceLabel]
    health: Health
    ladders: dict[str, Health]
    completeness: pl.DataFrame
    metrics: MetricSensitivity
    references: ReferenceSensitivity
    complementarity: Complementarity
    horizon: HorizonSweep
    robustness: Robustness
    neighbours: pl.DataFrame
    power: PowerTable
    notes: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Statistics:
    """Intervals, contrasts and the ranking, from draws of instances."""

    intervals: ArmIntervals
    contrasts: Contrasts
    ranking: Ranking


@dataclass(frozen=True, slots=True, eq=False)
class Analysis:
    """Everything that `gapline analyse` prints."""

    sensitivity: Sensitivity
    statistics: Statistics

    def document(self) -> dict[str, Any]:
        """Return the JSON of `gapline analyse --json`."""
        part, drawn = self.sensitivity, self.statistics
        chosen = drawn.contrasts
        return {
            "readings": [
                {"reference": name, "policy": label.policy, "name": label.name, "digest": label.digest}
                for name, label in part.labels.items()
            ],
            "health": [
                row | {"rejected_by_reason": _reasons(part.health, row)} for row in part.health.frame.to_dicts()
            ],
            "ladders": {name: ladder.frame.to_dicts() for name, ladder in part.ladders.items()},
            "completeness": part.completeness.to_dicts(),
            "metrics": part.metrics.document(),
            "references": part.references.document(),
            "complementarity": part.complementarity.document(),
            "horizon": part.horizon.document(),
            "robustness": part.robustness.document(),
            "contrasts": chosen.frame.to_dicts(),
            "bootstrap": {
                "kernel": chosen.kernel,
                "weighting": chosen.weighting,
                "reference": part.complementarity.reference,
                "interval": chosen.method,
                "level": chosen.level,
                "draws": chosen.draws,
                "seed": chosen.seed,
            },
            "intervals": drawn.intervals.frame.to_dicts(),
            "ranking": drawn.ranking.frame.to_dicts(),
            "neighbours": part.neighbours.to_dicts(),
            "power": part.power.frame.to_dicts(),
            "notes": [*part.notes, *drawn.ranking.notes],
        }


def name_references(snapshots: Sequence[Snapshot], envelopes: Envelopes) -> dict[str, Snapshot]:
    """Name the references to compare: one snapshot as `frozen` and `analysis` (the runs folded in), several by name."""
    if not snapshots:
        return {"analysis": analysis_snapshot(None, envelopes)}
    if len(snapshots) == 1:
        return {"frozen": snapshots[0], "analysis": analysis_snapshot(snapshots[0], envelopes)}
    names = [snapshot.name for snapshot in snapshots]
    if len(set(names)) < len(names):
        names = [f"{snapshot.name} {snapshot.digest[:15]}" for snapshot in snapshots]
    if len(set(names)) < len(names):
        raise UsageError("snapshots: expected each once, got one twice")
    return dict(zip(names, snapshots, strict=True))


def analyse(
    campaign: Campaign,
    envelopes: Envelopes,
    snapshots: Sequence[Snapshot],
    /,
    *,
    declared: Sequence[Pair] = (),
    draws: int = DRAWS,
    seed: int = 1,
    level: float = 0.95,
    interval: str = "percentile",
    weighting: str = "panel",
    **choices: Any,
) -> Analysis:
    """Run every analysis; see `sensitivity` for the further choices.

    Parameters
    ----------
    snapshots
        None (the best of the campaign is the reference), one (frozen, and folded with the campaign) or several.
    declared
        Contrasts that were named before the data were seen; all other pairs of tier-1 arms are exploratory.
    """
    part = sensitivity(campaign, envelopes, snapshots, declared=declared, **choices)
    scores = score(envelopes, part.judged, kernels=[_default(choices)], policy="analysis")
    boot = Bootstrap(scores, weighting=weighting, draws=draws, seed=seed)
    tier_one = _tier_one(part)
    others = [(a, b) for k, a in enumerate(tier_one) for b in tier_one[k + 1 :]]
    return Analysis(
        part,
        Statistics(
            intervals=arm_intervals(boot, method=interval, level=level),
            contrasts=contrasts(boot, declared=declared, exploratory=others, method=interval, level=level),
            ranking=ranking(boot, arms=tier_one, level=level),
        ),
    )


def sensitivity(
    campaign: Campaign,
    envelopes: Envelopes,
    snapshots: Sequence[Snapshot],
    /,
    *,
    kernels: Sequence[str | Kernel] = PAPER_KERNELS,
    tier_two: Sequence[str] = (),
    declared: Sequence[Pair] = (),
    goal: float = 0.01,
    ladders: Sequence[str] | None = None,
    screen: Mapping[str, float] | None = None,
) -> Sensitivity:
    """Run every analysis that needs no draws.

    Parameters
    ----------
    kernels
        The first one is the default that the others are compared with.
    tier_two
        Descriptive arms: shown, not compared.
    ladders
        Columns of the runs table by which health is counted; those that take several values where not given.
    screen
        Thresholds of the complementarity rule: max_score, min_final, min_attainment.
    """
    named = name_references(snapshots, envelopes)
    readings = build_readings(envelopes, named, kernels=kernels, tier_two=tier_two)
    judged = named["analysis"] if "analysis" in named else analysis_snapshot(snapshots[-1], envelopes)
    relative = envelopes.runs["horizon"].n_unique() > 1
    members = [rows for _, rows in group_rows(envelopes.runs, ["arm"])]
    events = collect_groups(envelopes, reference_column(judged, envelopes), members, relative=relative)
    sweep = horizon_sweep(envelopes, judged, kernel=readings.kernels[0], relative=relative, events=events)
    columns = ladder_columns(envelopes.runs) if ladders is None else list(ladders)
    pairs = _pairs(readings, declared)
    scores = score(envelopes, judged, kernels=[readings.kernels[0]], goals=[goal], policy="analysis")
    return Sensitivity(
        judged=judged,
        labels={name: _label(name, snapshot, envelopes) for name, snapshot in named.items()},
        health=health(campaign, envelopes),
        ladders={column: health(campaign, envelopes, by=["arm", column]) for column in columns},
        completeness=completeness(envelopes),
        metrics=metric_sensitivity(readings),
        references=reference_sensitivity(readings),
        complementarity=complementarity(envelopes, judged, kernel=readings.kernels[0], goal=goal, **dict(screen or {})),
        horizon=sweep,
        robustness=robustness(readings, contrasts=pairs, sweep=sweep),
        neighbours=neighbours(envelopes, judged, goal=goal, campaign=campaign, events=events, policy="analysis"),
        power=power_table(scores, pairs=pairs),
        notes=(*envelopes.notes, *check_balance(envelopes.runs).notes()),
    )


def _label(name: str, snapshot: Snapshot, envelopes: Envelopes) -> ReferenceLabel:
    return label_reference(snapshot, envelopes, policy="analysis" if name == "analysis" else None)


def _pairs(readings: Readings, declared: Sequence[Pair]) -> list[Pair]:
    """Return the declared contrasts, or every pair of tier-1 arms where none was declared."""
    arms = readings.cells.arms
    return list(declared) or [(arms[one], arms[other]) for one, other in readings.pairs]


def _tier_one(part: Sensitivity) -> list[str]:
    return part.metrics.pooled.filter(pl.col("tier") == 1)["arm"].unique().sort().to_list()


def _default(choices: Mapping[str, Any]) -> str | Kernel:
    kernels: Sequence[str | Kernel] = choices.get("kernels", PAPER_KERNELS)
    return kernels[0]


def _reasons(table: Health, row: Mapping[str, Any]) -> dict[str, int]:
    mine = table.reasons.filter(pl.col("arm") == row["arm"])
    return dict(mine.select("reason", "rejected").iter_rows())

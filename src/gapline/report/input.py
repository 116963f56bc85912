"""What a report is made from: the runs, the choices, and what Python computed under the first of each choice."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import polars as pl

from gapline.envelope.build import Envelopes
from gapline.errors import MixedScoresError, UsageError
from gapline.journal.fairness import summarise_fairness
from gapline.model.campaign import Campaign
from gapline.reference.alarm import Alarm, find_alarms
from gapline.reference.choose import label_reference
from gapline.reference.policy import Policy
from gapline.reference.snapshot import Snapshot
from gapline.scoring.scores import DEFAULT_GOALS, Scores, score_grid
from gapline.scoring.weighting import Weighting, parse_weighting
from gapline.summary.bands import curve_bands
from gapline.summary.bootstrap import DRAWS, ArmIntervals, Bootstrap, arm_intervals
from gapline.summary.contrasts import Contrasts, Pair, contrasts
from gapline.summary.means import Summary, summarise

DEFAULT_KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")
BAND_DRAWS = 1000


@dataclass(frozen=True, slots=True)
class LabelledSnapshot:
    """A snapshot to read the runs against, and the policy that this amounts to."""

    snapshot: Snapshot
    policy: str


@dataclass(frozen=True, slots=True, eq=False)
class ReportInput:
    """Everything a report shows.

    The first kernel, snapshot and goal are the declared choice: `summary`, `intervals`, `contrasts` and the bands
    belong to it, and to the weighting. `scores` has one reading per snapshot, each under every kernel. `intervals` and
    `contrasts` are None where there is nothing to draw from, and `no_intervals` says why.
    """

    title: str
    campaign: Campaign
    envelopes: Envelopes
    snapshots: tuple[LabelledSnapshot, ...]
    kernels: tuple[str, ...]
    weight: str
    goals: tuple[float, ...]
    weighting: str
    scores: tuple[Scores, ...]
    summary: Summary
    intervals: ArmIntervals | None
    contrasts: Contrasts | None
    mean_bands: pl.DataFrame | None
    attainment_bands: pl.DataFrame | None
    level: float
    alarms: tuple[Alarm, ...] = ()
    no_intervals: str | None = None
    contract: str | None = None

    @property
    def relative(self) -> bool:
        """Whether curves need relative time, because the horizons differ."""
        return self.envelopes.runs["horizon"].n_unique() > 1

    def notes(self) -> list[str]:
        """Return what a reader has to know beside the numbers, how the runs were measured included."""
        runs = self.campaign.runs
        measured = []
        if "disturbed" in runs.columns:
            lines = summarise_fairness(runs.iter_rows(named=True)).lines()
            measured = [f"measurement: {line}" for line in lines]
        return [*self.summary.notes, *self.campaign.diagnostics.notes, *measured]


def prepare_report(
    campaign: Campaign,
    envelopes: Envelopes,
    snapshots: Sequence[tuple[Snapshot, str | None]],
    /,
    *,
    title: str = "gapline report",
    kernels: Sequence[str] = DEFAULT_KERNELS,
    weight: str = "uniform",
    goals: Sequence[float] = DEFAULT_GOALS,
    weighting: str | Weighting = Weighting.PANEL,
    declared: Sequence[Pair] = (),
    method: str = "percentile",
    level: float = 0.95,
    draws: int = DRAWS,
    band_draws: int = BAND_DRAWS,
    seed: int = 1,
    contract: str | None = None,
) -> ReportInput:
    """Score the runs under every kernel and snapshot, and compute the uncertainty of the declared choice.

    Parameters
    ----------
    snapshots
        Snapshots with the policy they were asked for (None: derived from their dates); the first one is declared.
    kernels, goals
        What the report can switch between; the first of each is declared.
    declared
        Pairs of arms named before the data were seen; the other pairs are exploratory.
    contract
        The text of `study.toml`, where there is one.
    """
    if not (snapshots and kernels and goals):
        raise UsageError("report: expected at least one snapshot, one kernel and one goal, got none of some")
    rule = parse_weighting(weighting)
    labelled = tuple(
        LabelledSnapshot(snapshot, label_reference(snapshot, envelopes, policy=policy).policy)
        for snapshot, policy in snapshots
    )
    scores = score_grid(
        envelopes,
        [entry.snapshot for entry in labelled],
        kernels=kernels,
        weights=[weight],
        goals=goals,
        policies=[entry.policy for entry in labelled],
    )
    summary = summarise(scores[0], weighting=rule)
    kernel = scores[0].kernels[0]
    banded = partial(_bands, envelopes, labelled[0].snapshot, weighting=rule, level=level, draws=band_draws, seed=seed)
    intervals, differences, reason = None, None, None
    try:
        boot = Bootstrap(scores[0], weighting=rule, draws=draws, seed=seed)
        intervals = arm_intervals(boot, method=method, level=level)
        differences = contrasts(boot, declared=declared, method=method, level=level)
    except MixedScoresError as error:
        reason = error.message
    return ReportInput(
        title=title,
        campaign=campaign,
        envelopes=envelopes,
        snapshots=labelled,
        kernels=scores[0].kernels,
        weight=scores[0].weight,
        goals=tuple(goals),
        weighting=rule.value,
        scores=scores,
        summary=summary,
        intervals=intervals,
        contrasts=differences,
        mean_bands=banded(kernel=kernel, goal=None),
        attainment_bands=banded(kernel=kernel, goal=goals[0]),
        level=level,
        alarms=tuple(find_alarms([e.snapshot for e in labelled if e.policy != Policy.ANALYSIS], envelopes)),
        no_intervals=reason,
        contract=contract,
    )


def _bands(
    envelopes: Envelopes,
    snapshot: Snapshot,
    *,
    kernel: str,
    goal: float | None,
    weighting: Weighting,
    level: float,
    draws: int,
    seed: int,
) -> pl.DataFrame | None:
    """Return the pointwise bands of the declared curves, or None where the curve itself does not exist."""
    try:
        return curve_bands(
            envelopes,
            snapshot,
            kernel=kernel,
            goal=goal,
            weighting=weighting,
            relative=envelopes.runs["horizon"].n_unique() > 1,
            draws=draws,
            level=level,
            seed=seed,
        )
    except UsageError:
        return None

"""Two arms against each other, of one study or of two: better, worse, or no difference shown."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from gapline.envelope.build import Envelopes
from gapline.errors import GaplineError, MixedScoresError, UsageError, closest, listing
from gapline.model.campaign import Campaign
from gapline.model.names import TimeWeight
from gapline.model.result_table import ResultTable
from gapline.reference.snapshot import Snapshot
from gapline.scoring.kernels import Kernel
from gapline.scoring.reading import ReferenceLabel
from gapline.scoring.scores import Scores, score
from gapline.summary.bootstrap import DRAWS, Bootstrap
from gapline.summary.cells import number, sign
from gapline.summary.intervals import two_sided_p

BETTER, WORSE, NOTHING = "better", "worse", "no difference shown"


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One arm of one source: what was run, accepted and against what it is judged."""

    source: str
    arm: str
    campaign: Campaign
    envelopes: Envelopes
    snapshot: Snapshot

    @property
    def name(self) -> str:
        """The source and the arm."""
        return f"{self.source}:{self.arm}"

    def machines(self) -> list[str]:
        """Return the machines its runs say they ran on, empty where nothing is said."""
        runs = self.envelopes.runs
        if "machine" in runs.columns and runs["machine"].drop_nulls().len():
            return sorted(map(str, runs["machine"].drop_nulls().unique().to_list()))
        stated = self.campaign.facts.get("machine")
        return [stated] if stated else []


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(ResultTable):
    """The second arm against the first: `difference` is second minus first, so negative is better.

    `frame` has one row per panel: panel, instances, first, second, difference, low, high, wins, ties, losses (of the
    second), reason, machine_differs.
    """

    first: str
    second: str
    verdict: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    instances: int
    means: tuple[float | None, float | None]
    reason: str | None
    machines: tuple[tuple[str, ...], tuple[str, ...]]
    reference: ReferenceLabel
    choices: dict[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def machine_differs(self) -> bool:
        """Whether the two ran on different machines, as far as they say."""
        return bool(self.machines[0]) and bool(self.machines[1]) and self.machines[0] != self.machines[1]

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        c = self.choices
        return (
            f"{self.second} minus {self.first} in {c['kernel']} score units, {c['weighting']}-equal, against "
            f"{self.reference}; {c['level']:.0%} {c['interval']} interval from {c['draws']:,} draws of instances "
            f"(seed {c['seed']})"
        )

    def fails(self, limit: float) -> bool:
        """Say whether the second arm is worse by more than the limit: the interval's lower end lies beyond it."""
        if self.low is None:
            raise GaplineError(f"--fail-if-worse {limit:g}: expected an interval, got none: {self.reason}")
        return self.low > limit

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "first": self.first,
            "second": self.second,
            "verdict": self.verdict,
            "difference": self.difference,
            "low": self.low,
            "high": self.high,
            "p": self.p,
            "instances": self.instances,
            "mean_first": self.means[0],
            "mean_second": self.means[1],
            "reason": self.reason,
            "machines": {"first": list(self.machines[0]), "second": list(self.machines[1])},
            "machine_differs": self.machine_differs,
            "reference": {
                "policy": self.reference.policy,
                "name": self.reference.name,
                "digest": self.reference.digest,
            },
            **self.choices,
            "panels": self.frame.to_dicts(),
            "notes": list(self.notes),
        }


def compare(
    first: Side,
    second: Side,
    /,
    *,
    kernel: str | Kernel = "squeezed",
    weight: str | TimeWeight = "uniform",
    weighting: str = "panel",
    interval: str = "percentile",
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = 1,
) -> Comparison:
    """Compare the second arm with the first, paired by instance.

    Two snapshots, horizons or checkers that differ are refused, naming them; machines that differ are flagged.
    """
    notes = check_comparable(first, second)
    sides = [_scores(side, label, kernel, weight) for side, label in ((first, "1"), (second, "2"))]
    one = sides[0]
    frame = pl.concat([side.frame for side in sides], how="diagonal_relaxed")
    both = Scores(
        frame=frame, kernels=one.kernels, weight=one.weight, reference=one.reference, validation=one.validation,
        transform=one.transform, goals=one.goals, notes=(),
    )  # fmt: skip
    boot = Bootstrap(both, weighting=weighting, draws=draws, seed=seed)
    whole = boot.difference("2", "1")
    ends = whole.interval(method=interval, level=level)
    low, high = ends if ends is not None else (None, None)
    lacking = len(boot.cells.units) - whole.instances
    if lacking:
        notes.append(f"compared on the {whole.instances} instances that both ran; {lacking} others have one of the two")
    machines = (tuple(first.machines()), tuple(second.machines()))
    differs = bool(machines[0]) and bool(machines[1]) and machines[0] != machines[1]
    if differs:
        notes.append(
            f"machines differ: {listing(machines[0])} and {listing(machines[1])}; times are not comparable as such"
        )
    for given, scored in zip((first, second), sides, strict=True):
        notes += [f"{given.name}: {note}" for note in scored.notes]
    return Comparison(
        frame=_panels(boot, interval, level).with_columns(machine_differs=pl.lit(differs)),
        first=first.name,
        second=second.name,
        verdict=verdict(low, high),
        difference=number(whole.value),
        low=low,
        high=high,
        p=None if whole.reason else two_sided_p(whole.draws, whole.value),
        instances=whole.instances,
        means=(number(whole.parts[1]), number(whole.parts[0])),
        reason=whole.reason,
        machines=machines,
        reference=one.reference,
        choices={
            "kernel": one.kernels[0], "weight": one.weight, "weighting": weighting, "transform": one.transform,
            "validation": one.validation, "interval": interval, "level": level, "draws": draws, "seed": seed,
        },
        notes=tuple(notes),
    )  # fmt: skip


def verdict(low: float | None, high: float | None) -> str:
    """Word an interval of second minus first.

    >>> verdict(-0.02, -0.01), verdict(0.01, 0.02), verdict(-0.01, 0.01)
    ('better', 'worse', 'no difference shown')
    """
    if high is not None and high < 0:
        return BETTER
    if low is not None and low > 0:
        return WORSE
    return NOTHING


def check_comparable(first: Side, second: Side) -> list[str]:
    """Refuse sides that answer different questions, and return what is worth a note."""
    if first.name == second.name:
        raise UsageError(f"compare: expected two arms, got {first.name} twice")
    if first.snapshot.digest != second.snapshot.digest:
        raise MixedScoresError(
            f"snapshots differ: {first.name} is judged against {first.snapshot.name} ({first.snapshot.digest}), "
            f"{second.name} against {second.snapshot.name} ({second.snapshot.digest})",
            hint="give one with --snapshot",
        )
    checkers = [side.campaign.facts.get("checker") for side in (first, second)]
    vouched = [side.envelopes.validation for side in (first, second)]
    if (all(checkers) and checkers[0] != checkers[1]) or vouched[0] != vouched[1]:
        said = [f"{name} by {checker or who}" for name, checker, who in zip(
            (first.name, second.name), checkers, vouched, strict=True)]  # fmt: skip
        raise MixedScoresError(
            f"checkers differ: {said[0]}, {said[1]}", hint="check both with the same version (`gapline check`)"
        )
    notes = []
    if any(checkers) and not all(checkers):
        notes.append(f"only one side names its checker ({checkers[0] or checkers[1]})")
    keys = ["panel", "instance"]
    horizons = [side.envelopes.runs.select(*keys, "horizon", "announced").unique() for side in (first, second)]
    joined = horizons[0].join(horizons[1], on=keys, suffix="_second").sort(keys)
    clash = joined.filter(pl.col("horizon") != pl.col("horizon_second"))
    if clash.height:
        shown = listing(
            (f"{row['instance']} ({row['horizon']:g} s and {row['horizon_second']:g} s)" for row in clash.to_dicts()),
            most=5,
        )
        raise MixedScoresError(
            f"horizons differ on {clash.height} instances: {shown}",
            hint="judge both at a horizon of both with --horizon",
        )
    if not joined.height:
        raise MixedScoresError(
            f"expected instances that both ran, got none of {first.name} and {second.name} in common"
        )
    if joined.filter(pl.col("announced") != pl.col("announced_second")).height:
        notes.append("the solvers were told different horizons: each score is conditional on the one announced")
    return notes


def find_arm(campaign: Campaign, source: str, arm: str | None) -> str:
    """Return the arm that is meant: the named one, or the only one there is."""
    arms = sorted(campaign.runs["arm"].unique().to_list())
    if arm is None:
        if len(arms) == 1:
            return str(arms[0])
        raise UsageError(f"{source}: expected one arm, got {listing(arms)}", hint=f"name it: {source}:{arms[0]}")
    if arm not in arms:
        near = closest(arm, arms)
        hint = f"did you mean {near!r}?" if near else f"there are: {listing(arms)}"
        raise UsageError(f"{source}: expected an arm of it, got {arm!r}", hint=hint)
    return arm


def _scores(side: Side, label: str, kernel: str | Kernel, weight: str | TimeWeight) -> Scores:
    scores = score(side.envelopes, side.snapshot, kernels=[kernel], weight=weight)
    return Scores(
        frame=scores.frame.with_columns(arm=pl.lit(label)), kernels=scores.kernels, weight=scores.weight,
        reference=scores.reference, validation=scores.validation, transform=scores.transform, goals=scores.goals,
        notes=scores.notes,
    )  # fmt: skip


def _panels(boot: Bootstrap, interval: str, level: float) -> pl.DataFrame:
    rows = []
    for panel in boot.cells.panels:
        estimate = boot.panel_difference("2", "1", panel)
        ends = estimate.interval(method=interval, level=level)
        low, high = ends if ends is not None else (None, None)
        inside = boot.cells.panel == boot.cells.panels.index(panel)
        signs = sign((boot.means[1] - boot.means[0])[inside])
        wins, losses = int(np.sum(signs < 0)), int(np.sum(signs > 0))
        parts = [number(part) for part in estimate.parts]
        rows.append((panel, estimate.instances, parts[1], parts[0], number(estimate.value), low, high, wins,
                     estimate.instances - wins - losses, losses, estimate.reason))  # fmt: skip
    schema = {
        "panel": pl.String, "instances": pl.Int64, "first": pl.Float64, "second": pl.Float64, "difference": pl.Float64,
        "low": pl.Float64, "high": pl.Float64, "wins": pl.Int64, "ties": pl.Int64, "losses": pl.Int64,
        "reason": pl.String,
    }  # fmt: skip
    return pl.DataFrame(rows, schema=schema, orient="row")

"""A comparison of two arms, of one study or of two, and its gate."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.instance_set import InstanceSet
from gapline.contract.reading import add_coverage
from gapline.contract.result_table import as_document, as_json
from gapline.contract.tables import COMPARISON
from gapline.contract.time_scale import join_time_scales
from gapline.errors import MixedScoresError, UsageError, listing
from gapline.references.alarms import Alarm
from gapline.references.contradictions import find_contradictions
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting
from gapline.statistics.bootstrap import Bootstrap, JudgedTable
from gapline.statistics.cells import finite_or_none, sign
from gapline.statistics.contrasts import few_notes
from gapline.statistics.estimate import Estimate
from gapline.statistics.power import power_table
from gapline.study import Study, open_studies
from gapline.study.gate import ERROR, POWER, Gate, GateQuestion, judge_gate
from gapline.text import counted, meant
from gapline.traces.read import matches_of

BETTER, WORSE, NOTHING = "better", "worse", "no difference shown"
WITHHELD = "no verdict under an integrity alarm"
# Choices that both sides have to share. How the interval is drawn may differ between contracts.
_QUESTION = ("kernel", "weight", "weighting", "transform", "tolerance", "time_scale")


@dataclass(frozen=True, slots=True, eq=False)
class Side:
    """One arm of one opened study."""

    source: str
    arm: str
    study: Study

    @property
    def name(self) -> str:
        """The source and the arm."""
        return f"{self.source}:{self.arm}"

    @property
    def runs(self) -> pl.DataFrame:
        """The runs of the arm."""
        return self.study.envelopes.runs.filter(pl.col("arm") == self.arm)

    @property
    def validation(self) -> str:
        """Who validated the arm's candidates."""
        return listing(sorted(set(self.runs["validation"])))

    def machines(self) -> list[str]:
        """Return the machines that the runs record, else that of the campaign; empty if neither is stated."""
        if "machine" in self.runs.columns and self.runs["machine"].drop_nulls().len():
            return sorted(map(str, self.runs["machine"].drop_nulls().unique().to_list()))
        stated = self.study.campaign.facts.get("machine")
        return [stated] if stated else []


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Comparison(JudgedTable):
    """The second arm against the first, by panel and as a whole: second minus first, and the wins of the second.

    `absent` lists the runs that one side lacks: planned but not complete, or present only on the other side.
    """

    first: str
    second: str
    verdict: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_smallest: float | None
    instances: int
    means: tuple[float | None, float | None]
    reason: str | None
    machines: tuple[tuple[str, ...], tuple[str, ...]]
    estimate: Estimate
    scores: Scores
    absent: tuple[str, ...] = ()
    alarms: tuple[Alarm, ...] = ()
    notes: tuple[str, ...] = ()

    @property
    def machine_differs(self) -> bool:
        """Whether the two ran on different machines, as far as is recorded."""
        return all(self.machines) and self.machines[0] != self.machines[1]

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        interval = "no interval" if self.low is None else f"{self.level:.0%} interval by {self.how}"
        return (
            f"{self.second} minus {self.first} in {self.reading.kernels[0]} score units, {interval}; "
            f"{self.reading.line()}"
        )

    @property
    def empty(self) -> bool:
        """Whether no run of the two arms found a solution, on the instances that both ran."""
        both = pl.col("arm").n_unique().over("panel", "instance") == len(self.means)
        return not bool((self.scores.frame.filter(both)["steps"] > 0).any())

    def gate(
        self,
        limit: float = 0.0,
        /,
        *,
        question: str | GateQuestion = GateQuestion.WORSE,
        error: float = ERROR,
        allow_missing: bool = False,
    ) -> Gate:
        """Judge a gate: whether it fails, why, and how often such a gate errs; see `gapline.study.gate`."""
        asked: dict[str, Any] = {"question": question, "limit": limit, "error": error, "allow_missing": allow_missing}
        runs: dict[str, Any] = {"method": self.method, "absent": self.absent, "empty": self.empty, "seed": self.seed}
        return judge_gate(self.estimate, **asked, **runs)

    def detectable(self) -> float | None:
        """Return the smallest true difference that runs like these detect in 80 % of comparisons; see `power_table`."""
        weighting = self.reading.weighting or Weighting.PANEL
        plan = power_table(
            self.scores, pairs=[("2", "1")], deltas=(), seeds=(), power=POWER, level=self.level, weighting=weighting
        )
        found: float | None = plan.pilot["detectable"][0]
        return found

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        found = as_document(self)
        means, machines = found.pop("means"), found.pop("machines")
        del found["estimate"], found["scores"]
        return {
            "panels": found.pop("frame"),
            "mean_first": means[0],
            "mean_second": means[1],
            "machines": {"first": machines[0], "second": machines[1]},
            "machine_differs": self.machine_differs,
            "kernel": self.reading.kernels[0],
            "interval": found.pop("method"),
            **found.pop("reading"),
            **found,
        }


def compare(first: str | Path, second: str | Path, /, **choices: Any) -> Comparison:
    """Compare the second arm with the first, paired by instance.

    Parameters
    ----------
    first, second
        `SOURCE:ARM`, or a source with one arm; a source may be a pattern. Two arms of one source share one opened
        study, so that the difference is the one that `score`, `analyse` and `report` state.
    choices
        Choices of `gapline.open_study`, for both sides.

    Snapshots, horizons or checkers that differ are refused by name; different machines get a note. If no reference is
    given and only one source has one, it is used for both.
    """
    if odd := [type(given).__name__ for given in (first, second) if not isinstance(given, str | Path)]:
        raise UsageError(
            f"compare: expected SOURCE:ARM, got {odd[0]}", hint="gl.contrasts(scores) compares the arms of one campaign"
        )
    named = [_split(str(given)) for given in (first, second)]
    # Opened once if it contains both arms: the difference is then the one that every other command states.
    opened = open_studies(list(dict.fromkeys(source for source, _ in named)), **choices)
    one, two = (Side(source, find_arm(opened[source], source, arm), opened[source]) for source, arm in named)
    return compare_sides(one, two)


def compare_sides(first: Side, second: Side, /) -> Comparison:
    """Compare two arms of opened studies."""
    notes = check_comparable(first, second)
    both = paired_scores(first, second)
    lead = first.study
    # The choices of the first side are used: sides that declare other ones were refused above.
    boot = Bootstrap(both, weighting=lead.weighting, draws=lead.draws, seed=lead.seed)
    whole = boot.difference("2", "1")
    compared = replace(both.reading.instance_set, arms=(first.name, second.name), instances=whole.instances)
    judged = whole.judge(method=lead.interval, level=lead.level)
    panels = panel_differences(boot, lead.interval, lead.level)
    lacking = len(boot.cells.units) - whole.instances
    if lacking:
        both_ran, others = counted(whole.instances, "instance"), counted(lacking, "other")
        verb = "has" if lacking == 1 else "have"
        notes.append(f"compared on the {both_ran} that both ran; {others} {verb} one of the two")
    machines = (tuple(first.machines()), tuple(second.machines()))
    differ = all(machines) and machines[0] != machines[1]
    if differ:
        scaled = f"their times are scaled: {both.reading.time_scale}" if both.reading.time_scale else ""
        notes.append(
            f"machines differ: {listing(machines[0])} and {listing(machines[1])}; "
            + (scaled or "times are not comparable as such")
        )
    studies = list(dict.fromkeys([first.study, second.study]))
    notes += few_notes(whole.instances, judged.p, judged.smallest, lead.interval)
    # The number of runs that beat their references is only reported for the two arms.
    notes += [note for study in studies for note in study.notes() if note != study.scores[0].beaten]
    alarms = tuple(dict.fromkeys([*(alarm for study in studies for alarm in study.alarms), *_between(first, second)]))
    return Comparison(
        frame=panels.with_columns(machine_differs=pl.lit(differ)),
        first=first.name,
        second=second.name,
        verdict=WITHHELD if alarms else verdict(judged.low, judged.high, judged.p, level=lead.level),
        difference=finite_or_none(whole.value),
        low=judged.low,
        high=judged.high,
        p=judged.p,
        p_smallest=judged.smallest,
        instances=whole.instances,
        means=(finite_or_none(whole.parts[1]), finite_or_none(whole.parts[0])),
        reason=judged.reason,
        machines=machines,
        estimate=whole,
        scores=both,
        reading=replace(boot.reading, instance_set=compared),
        method=lead.interval,
        level=lead.level,
        draws=lead.draws,
        seed=lead.seed,
        absent=_absent(first, second),
        alarms=alarms,
        notes=tuple(dict.fromkeys(notes)),
    )


def _between(first: Side, second: Side) -> list[Alarm]:
    """Find proofs in one source that a solution of the other refutes; each side names its source."""
    if first.study is second.study:
        return []
    found = []
    for one, other in ((first, second), (second, first)):
        study, solutions = one.study, other.study.envelopes
        for alarm in find_contradictions(
            study.campaign, study.envelopes, tolerance=study.tolerance, solutions=solutions
        ):
            # Both sources may have a run of the same name.
            claim = replace(alarm.certificate, source=f"{one.source}: {alarm.certificate.source}")
            solution = replace(alarm.other, source=f"{other.source}: {alarm.other.source}")
            found.append(replace(alarm, certificate=claim, other=solution))
    return found


def verdict(low: float | None, high: float | None, p: float | None = None, *, level: float = 0.95) -> str:
    """Return the verdict on an interval of second minus first; if there is a p too, both have to show the difference.

    >>> verdict(-0.02, -0.01), verdict(0.01, 0.02), verdict(-0.01, 0.01), verdict(0.01, 0.02, 0.06)
    ('better', 'worse', 'no difference shown', 'no difference shown')
    """
    # With the percentile bootstrap the two may disagree.
    if low is None or high is None or (p is not None and p > 1 - level):
        return NOTHING
    return BETTER if high < 0 else WORSE if low > 0 else NOTHING


def check_comparable(first: Side, second: Side) -> list[str]:
    """Refuse sides that are not comparable, and return notes."""
    if first.name == second.name:
        raise UsageError(f"compare: expected two arms, got {first.name} twice")
    for side in (first, second):
        if side.arm in side.study.tier_two:
            raise UsageError(f"compare: expected arms of tier 1, got {side.name} of tier 2, which is descriptive")
    refuse_other_question(first, second)
    notes = []
    checkers = [side.study.checker for side in (first, second)]
    vouched = [side.validation for side in (first, second)]
    if (all(checkers) and checkers[0] != checkers[1]) or vouched[0] != vouched[1]:
        said = (f"{side.name} by {side.study.checker or side.validation}" for side in (first, second))
        hint = "check both with the same version (`gapline check`)"
        raise MixedScoresError(f"checkers differ: {', '.join(said)}", hint=hint)
    if any(checkers) and not all(checkers):
        notes.append(f"only one side names its checker ({checkers[0] or checkers[1]})")
    keys = ["panel", "instance"]
    horizons = [side.runs.select(*keys, "horizon", "announced").unique() for side in (first, second)]
    joined = horizons[0].join(horizons[1], on=keys, suffix="_second").sort(keys)
    clash = joined.filter(pl.col("horizon") != pl.col("horizon_second"))
    if clash.height:
        rows = clash.select("instance", "horizon", "horizon_second").iter_rows()
        shown = listing((f"{name} ({one:g} s and {two:g} s)" for name, one, two in rows), most=5)
        hint = "judge both at a horizon of both with --horizon"
        raise MixedScoresError(f"horizons differ on {clash.height} instances: {shown}", hint=hint)
    if not joined.height:
        both = f"{first.name} and {second.name}"
        raise MixedScoresError(f"expected instances that both ran, got none of {both} in common")
    if joined.filter(pl.col("announced") != pl.col("announced_second")).height:
        notes.append("the runs state different horizons: each score is conditional on the one stated")
    return notes


def refuse_other_question(first: Side, second: Side) -> None:
    """Refuse sides with different references or declared choices."""
    for side in (first, second):
        if (count := len(side.study.references)) > 1:
            raise UsageError(f"compare: expected one reference, got {count}", hint="give one --snapshot")
    one, two = first.study.references[0], second.study.references[0]
    if one.snapshot.digest != two.snapshot.digest:
        # A reference folded from each side's own runs flatters both: neither could be beaten.
        if "analysis" in (one.policy, two.policy):
            raise UsageError(
                "policy analysis: expected a reference that both sides share, got one folded from each",
                hint="fold it once with `gapline snapshot fold` and give it with --snapshot",
            )
        raise MixedScoresError(
            f"snapshots differ: {first.name} is judged against {one.snapshot.name} ({one.snapshot.digest}), "
            f"{second.name} against {two.snapshot.name} ({two.snapshot.digest})",
            hint="give one with --snapshot",
        )
    for name in _QUESTION:
        said = [_choice(side.study, name) for side in (first, second)]
        if said[0] != said[1]:
            raise MixedScoresError(
                f"contracts differ in {name}: {first.source} declares {said[0]}, {second.source} declares {said[1]}",
                hint=f"state it with --{name.replace('_', '-')}" if name != "tolerance" else None,
            )


def _choice(study: Study, name: str) -> object:
    if name == "transform":
        return str(study.envelopes.scale)
    return study.kernels[0] if name == "kernel" else getattr(study, name)


def find_arm(study: Study, source: str, arm: str | None) -> str:
    """Return the named arm, or the only one."""
    arms = sorted(study.envelopes.runs["arm"].unique().to_list())
    if arm is None:
        if len(arms) == 1:
            return str(arms[0])
        raise UsageError(f"{source}: expected one arm, got {listing(arms)}", hint=f"name it: {source}:{arms[0]}")
    if arm not in arms:
        raise UsageError(f"{source}: expected an arm of it, got {arm!r}", hint=meant(arm, arms, show=True))
    return arm


def _split(given: str) -> tuple[str, str | None]:
    """Split `SOURCE:ARM`, unless a file has that whole name."""
    source, _, arm = given.rpartition(":")
    # A colon is legal in a file name, so a path that exists, or a pattern with matches, is never split.
    whole = not source or Path(given).exists() or bool(matches_of(given))
    return (given, None) if whole else (source, arm)


def paired_scores(first: Side, second: Side) -> Scores:
    """Join the runs of both sides in one table, the first as arm "1", the second as arm "2"."""
    parts = []
    for side, label in ((first, "1"), (second, "2")):
        scores = side.study.scores[0]
        frame = scores.frame.filter(pl.col("arm") == side.arm).with_columns(arm=pl.lit(label))
        # Only the coverage of this arm: missing runs of other arms must not fail the gate.
        coverage = side.study.coverage_of([side.arm])
        parts.append(replace(scores, frame=frame, reading=replace(scores.reading, coverage=coverage, tier_two=())))
    readings = [part.reading for part in parts]
    reading = replace(
        readings[0],
        coverage=add_coverage([one.coverage for one in readings]),
        time_scale=join_time_scales([one.time_scale for one in readings]),
        packages=tuple(dict.fromkeys(package for one in readings for package in one.packages)),
        # Two arms are compared on the instances that both ran, whatever others ran.
        instance_set=InstanceSet(readings[0].instance_set.rule, arms=("1", "2")),
    )
    return replace(parts[0], frame=pl.concat([part.frame for part in parts], how="diagonal_relaxed"), reading=reading)


def _absent(first: Side, second: Side) -> tuple[str, ...]:
    """Name the runs that a side lacks: planned cells that are not complete, and cells that only the other side has."""
    found = []
    for side, other in ((first, second), (second, first)):
        mine = side.study.cells.filter(pl.col("arm") == side.arm)
        absent = mine.filter(pl.col("state") != "done").select("instance", "seed", "state")
        found += [f"{side.name} {i}/{s} ({state})" for i, s, state in absent.iter_rows()]
        theirs = other.runs.select("instance", "seed")
        lacking = theirs.join(mine.select("instance", "seed"), on=["instance", "seed"], how="anti")
        found += [f"{side.name} {i}/{s} (not there)" for i, s in lacking.sort("instance", "seed").iter_rows()]
    return tuple(found)


def panel_differences(boot: Bootstrap, interval: str, level: float) -> pl.DataFrame:
    """Return the second side minus the first in each panel, paired by instance, with intervals."""
    rows: list[Sequence[Any]] = []
    for panel in boot.cells.panels:
        estimate = boot.panel_difference("2", "1", panel)
        judged = estimate.judge(method=interval, level=level)
        inside = boot.cells.panel == boot.cells.panels.index(panel)
        signs = sign((boot.means[1] - boot.means[0])[inside])
        wins, losses = int(np.sum(signs < 0)), int(np.sum(signs > 0))
        parts = [finite_or_none(part) for part in estimate.parts]
        rows.append((panel, estimate.instances, parts[1], parts[0], finite_or_none(estimate.value), judged.low,
                     judged.high, wins, estimate.instances - wins - losses, losses, judged.reason))  # fmt: skip
    return pl.DataFrame(rows, schema=COMPARISON, orient="row")


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """The result of `judge_pair`; `suggested`, a gate at limit 0, and `detectable` exist only on request."""

    comparison: Comparison
    gate: Gate | None
    suggested: Gate | None = None
    detectable: float | None = None

    @property
    def failed(self) -> bool:
        """Whether the gate fails, or an alarm makes all its numbers doubtful."""
        return bool((self.gate is not None and self.gate.failed) or self.comparison.alarms)

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        gate = self.gate
        return self.comparison.document() | {
            "fail_if_worse": gate.limit if gate is not None and gate.question == GateQuestion.WORSE else None,
            "failed": gate is not None and gate.failed,
            "failed_because": None if gate is None else gate.because,
            "gate": as_json(gate),
            "suggested": as_json(self.suggested),
            "detectable": self.detectable,
        }


def judge_pair(
    first: str | Path,
    second: str | Path,
    /,
    *,
    fail_if_worse: float | None = None,
    fail_unless_non_inferior: float | None = None,
    fail_unless_superior: float | None = None,
    gate_error: float = ERROR,
    allow_missing: bool = False,
    suggest: bool = False,
    **choices: Any,
) -> Judged:
    """Compare the second arm with the first and judge the gate, if one is given.

    `choices` are those of `gapline.open_study`; see `gapline.compare` and `gapline.study.gate`.
    """
    limits = {
        GateQuestion.WORSE: fail_if_worse,
        GateQuestion.NON_INFERIOR: fail_unless_non_inferior,
        GateQuestion.SUPERIOR: fail_unless_superior,
    }
    asked = {question: limit for question, limit in limits.items() if limit is not None}
    if len(asked) > 1:
        raise UsageError(f"compare: expected one gate, got {len(asked)}")
    comparison = compare(first, second, **choices)
    rates: dict[str, Any] = {"error": gate_error, "allow_missing": allow_missing}
    gates = [comparison.gate(limit, question=question, **rates) for question, limit in asked.items()]
    hint = comparison.gate(question=next(iter(asked), GateQuestion.WORSE), **rates) if suggest else None
    return Judged(comparison, gates[0] if gates else None, hint, comparison.detectable() if suggest else None)

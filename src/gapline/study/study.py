"""`Study`: runs, references and choices, opened once; every number is computed from it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.contract.fact_origins import FactOrigin, reading_origins
from gapline.contract.instance_set import InstanceSet, decide_instance_set
from gapline.contract.ladders import Step, find_ladders
from gapline.contract.layout import Identity
from gapline.contract.progress import doing
from gapline.contract.reading import Coverage, Reading
from gapline.contract.result_table import Shown
from gapline.contract.tables import CELL, EXACT_MODEL, model_note
from gapline.contract.time_scale import TimeScale
from gapline.envelope.build import Envelopes
from gapline.errors import MixedScoresError, UsageError, listing
from gapline.journal.fairness import Fairness, summarise_fairness
from gapline.journal.plan_coverage import expected_cells
from gapline.references.alarms import Alarm
from gapline.references.choice import LabelledSnapshot, fold_reference, label_reference
from gapline.references.policy import Policy, registered_digests
from gapline.references.resolve import lacks_value
from gapline.references.snapshot import Snapshot
from gapline.scoring.run_references import build_reading, count_unreferenced, simplified_models
from gapline.scoring.scores import Scores, score_grid
from gapline.statistics.bands import band_method, curve_bands, drawn_bands
from gapline.statistics.bootstrap import ArmIntervals, Bootstrap, arm_intervals
from gapline.statistics.contrasts import Contrasts, contrasts
from gapline.statistics.estimate import method_words
from gapline.statistics.means import Balance, Summary, summarise
from gapline.statistics.ranking import Ranking, ranking
from gapline.study.contract_choices import Pair, declared_facts
from gapline.study.coverage import count_begun, count_cells, shared_units
from gapline.text import counted

if TYPE_CHECKING:
    from gapline.contract.contract import Contract
    from gapline.journal.register import Register
    from gapline.study.replication import Replicated

# A band is for display, not for tests: fewer draws look the same.
BAND_DRAWS = 1000


@dataclass(frozen=True, eq=False, repr=False)
class Study(Shown):
    """Runs, references and choices, opened once.

    Attributes
    ----------
    arms
        All arms that the contract or the runs name, sorted, including those that a filter leaves out: the style of an
        arm in figures follows from its position.
    references
        The references of the runs, the declared one first: means, intervals, ranks and contrasts use that one.
    stored
        The snapshots as stored, before any runs are folded in; alarms refer to them.
    kernels, goals
        The first of each is the leading one.
    horizon
        The shorter horizon at which the runs are scored, if the caller asked for one.
    declared
        Contrasts that the contract or the caller names; `registered` says whether they were registered before the first
        run (None: unknown, because there is no register).
    left_out
        Instances that cannot be scored and were left out on request, each with the reason; `dropped` counts their runs
        by arm.
    planned
        The planned cells, in the form of `cells`; None if no contract planned any and every arm has all cells of every
        other arm.
    package
        The identity of the replication package that the study was opened from; None for any other source. `packages`
        are all packages among the sources.
    replication
        The result of replicating a package; if runs changed since, it refers to the earlier ones.
    missing
        How missing runs are treated.
    lacking, unshared
        The number of instances left out because some compared arm did not run them, and their runs by arm.
    given
        The facts about the runs that the caller stated: sense, validation.
    """

    sources: tuple[str, ...]
    title: str
    contract: "Contract | None"
    contract_text: str | None
    register: "Register | None"
    arms: tuple[str, ...]
    campaign: Campaign
    envelopes: Envelopes
    references: tuple[LabelledSnapshot, ...]
    stored: tuple[Snapshot, ...]
    kernels: tuple[str, ...]
    weight: str
    weighting: str
    goals: tuple[float, ...]
    tolerance: float
    tier_two: tuple[str, ...]
    declared: tuple[Pair, ...]
    registered: bool | None
    interval: str
    level: float
    draws: int
    seed: int
    simultaneous: bool
    planned: pl.DataFrame | None
    coverage: Coverage
    alarms: tuple[Alarm, ...]
    statistics: tuple[str, ...] = ()
    horizon: float | None = None
    time_scale: TimeScale | None = None
    remarks: tuple[str, ...] = field(default=())
    left_out: Mapping[str, str] = field(default_factory=dict)
    dropped: Mapping[str, int] = field(default_factory=dict)
    package: Identity | None = None
    packages: tuple[Identity, ...] = ()
    replication: "Replicated | None" = None
    missing: str = "leave-out"
    lacking: int = 0
    unshared: Mapping[str, int] = field(default_factory=dict)
    given: tuple[str, ...] = ()

    def to_polars(self) -> pl.DataFrame:
        """Return the means of every arm under the declared reading."""
        return self.summary.frame

    def caption(self) -> str:
        """Return a description in one line."""
        return f"{self.title!r}, {self.campaign.caption()}, {self.references[0].label}"

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Arm, panel, instance, seed and state (done, running, interrupted or missing) of every cell to be run.

        These are the planned cells, or without a plan every cell that any arm has.
        """
        if self.planned is not None:
            return self.planned
        return expected_cells(self.campaign.runs).with_columns(state=pl.lit("done"))

    @property
    def relative(self) -> bool:
        """Whether curves need relative time, because the horizons differ."""
        return self.envelopes.runs["horizon"].n_unique() > 1

    @property
    def tier_one(self) -> tuple[str, ...]:
        """The arms that are not descriptive; `ranked_arms` are those among them that ran the same instances."""
        arms = self.envelopes.runs["arm"].unique().sort().to_list()
        return tuple(arm for arm in arms if arm not in self.tier_two)

    @cached_property
    def instance_set(self) -> InstanceSet:
        """Which arms are ranked, and on how many instances: decided here for every output of the study."""
        return decide_instance_set(
            self.envelopes.rows,
            tier_two=self.tier_two,
            ladders=list(self.ladders.values()),
            rule=self.missing,
            left_out=self.lacking,
        )

    @property
    def ranked_arms(self) -> tuple[str, ...]:
        """The arms that are ranked, by name; none if no two compared arms ran the same instances."""
        return self.instance_set.arms

    @cached_property
    def ladders(self) -> dict[str, dict[str, Step]]:
        """The ladders of settings: name -> arm -> its settings, smallest step first; includes arms without runs."""
        present = set(self.cells["arm"].unique())
        declared = [] if self.contract is None else [arm for arm in self.contract.arms if arm.name in present]
        return find_ladders(self.envelopes.runs, declared)

    @property
    def apart(self) -> tuple[str, ...]:
        """Arms of tier 2 that are steps of ladders: described along their steps, unless the study has no other arms."""
        everyone = set(self.envelopes.runs["arm"].unique())
        steps = [arm for ladder in self.ladders.values() for arm in ladder if arm in self.tier_two and arm in everyone]
        return tuple(steps) if everyone - set(steps) else ()

    @property
    def pairs(self) -> list[Pair]:
        """The declared contrasts, or every pair of ranked arms if none was declared."""
        # Declared contrasts are the question; every pair is compared only without them.
        return list(self.declared) or list(combinations(self.ranked_arms, 2))

    @property
    def snapshot(self) -> Snapshot:
        """The declared reference."""
        return self.references[0].snapshot

    @cached_property
    def campaign_digest(self) -> str:
        """The digest of the campaign, computed once, since it takes a pass over all columns."""
        return self.campaign.digest()

    @cached_property
    def folded(self) -> LabelledSnapshot:
        """The analysis reference: the best of the stored values and of these runs."""
        # Under the policy `analysis` it already exists: folding again would only rename it.
        for entry in self.references:
            if entry.policy == Policy.ANALYSIS:
                return entry
        return fold_reference(self.stored[0] if self.stored else None, self.envelopes, self.tolerance)

    @cached_property
    def only_folded(self) -> tuple[str, ...]:
        """Instances that runs solved but for which the stored reference has no value: only the fold has one."""
        solved = self.envelopes.runs.filter(pl.col("steps") > 0)["instance"].unique().sort()
        return tuple(name for name in solved for stored in self.stored[:1] if lacks_value(stored, name))

    @cached_property
    def both(self) -> tuple[LabelledSnapshot, ...]:
        """Every requested reference, and one under the other policy, for the sensitivity analysis."""
        # The requested reference stays first: shifts are counted from it.
        if any(entry.policy != Policy.ANALYSIS for entry in self.references) or not self.stored:
            known = any(entry.policy == Policy.ANALYSIS for entry in self.references)
            return self.references if known else (*self.references, self.folded)
        # A stored reference without a value for a solved instance cannot be used: then there is only one reference.
        if self.only_folded:
            return self.references
        digests = registered_digests(self.register)
        registered, late = digests.get("registered", ()), digests.get("late", ())
        label = label_reference(self.stored[0], self.envelopes, registered=registered, late=late)
        stored = LabelledSnapshot(self.stored[0], label)
        return (*self.references, stored)

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """The scores of every run under every kernel, one `Scores` per requested reference."""
        return self.score_against(self.references)

    def score_against(self, references: Sequence[LabelledSnapshot]) -> tuple[Scores, ...]:
        """Score the runs against references, under the choices of the study."""
        doing("scoring")
        found = score_grid(
            self.envelopes,
            [entry.snapshot for entry in references],
            kernels=self.kernels,
            weights=[self.weight],
            goals=self.goals,
            tolerance=self.tolerance,
            policies=[entry.policy for entry in references],
            statistics=self.statistics,
        )
        return tuple(
            replace(scores, reading=self.reading_of(entry, weighting=None))
            for scores, entry in zip(found, references, strict=True)
        )

    @property
    def checker(self) -> str | None:
        """Name and version of the checker whose verdicts count, if there is one."""
        return self.campaign.facts.get("checker")

    @cached_property
    def simplified_models(self) -> dict[str, str]:
        """The arms that solve a simplified model of the instances, with the model."""
        arms = () if self.contract is None else self.contract.arms
        exact = [arm.name for arm in arms if arm.model == EXACT_MODEL]
        stated = {arm.name: arm.model for arm in arms if arm.model and arm.name not in exact}
        found = simplified_models(self.envelopes.runs, exact) | stated
        return {arm: found[arm] for arm in self.envelopes.runs["arm"].unique().sort() if arm in found}

    @cached_property
    def origins(self) -> dict[str, tuple[FactOrigin, ...]]:
        """Where clock, horizon, validation, sense, threads, machine and reference date of the runs were stated."""
        found = reading_origins(self.envelopes.runs, given=self.given, declared=declared_facts(self.contract))
        policy, dated = self.references[0].policy, self.snapshot.as_of is not None
        stated = FactOrigin.FILE if dated else FactOrigin.NOT_STATED
        return found | {"reference date": (FactOrigin.JOURNAL if policy == Policy.FROZEN else stated,)}

    @cached_property
    def reading(self) -> Reading:
        """The choices behind every number unless other choices are stated."""
        return self.reading_of(self.references[0])

    def reading_of(self, reference: LabelledSnapshot, **changes: Any) -> Reading:
        """Return the declared reading against another reference, or with other choices changed."""
        lacking = reference.label.unreferenced
        declared = build_reading(
            self.envelopes,
            reference.label,
            kernels=self.kernels,
            # The code of the weight and the error of its integral follow from it.
            weight=changes.pop("weight", self.weight),
            goals=self.goals,
            tolerance=self.tolerance,
            weighting=self.weighting,
            # Another reference may lack values of other instances that no run solved.
            coverage=replace(self.coverage, unreferenced=count_unreferenced(self.envelopes.runs, lacking)),
            statistics=self.statistics,
            tier_two=self.tier_two,
            instance_set=self.instance_set,
        )
        known = {"checker": self.checker, "packages": self.packages, "origins": self.origins}
        return replace(declared, **(known | changes))

    @cached_property
    def summary(self) -> Summary:
        """The means of every arm under the declared reading."""
        found = summarise(self.scores[0], weighting=self.weighting)
        if self.coverage.planned is None or self.coverage.filled:
            return found
        absent = self.cells.filter(pl.col("state").is_in(["interrupted", "missing"]))
        if self.lacking:
            absent = absent.join(shared_units(self.envelopes.runs), on=["panel", "instance"], how="semi")
        balance = Balance(absent.select(CELL))
        return replace(found, balance=balance, notes=(*found.notes, *balance.notes()))

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """The draws of the declared reading; refused if some run has no score."""
        return Bootstrap(self.scores[0], weighting=self.weighting, draws=self.draws, seed=self.seed)

    @cached_property
    def no_intervals(self) -> str | None:
        """Why nothing can be drawn, None if it can."""
        try:
            doing("drawing samples of the instances")
            # Tried once here, so that every table gives the same reason instead of raising an error.
            _ = self.bootstrap
        except MixedScoresError as error:
            return error.message
        return None

    @cached_property
    def intervals(self) -> ArmIntervals | None:
        """The mean of every arm with its interval."""
        return None if self.no_intervals else arm_intervals(self.bootstrap, method=self.interval, level=self.level)

    @property
    def why_unranked(self) -> str | None:
        """Why the leading kernel ranks and tests nothing, None if it does (`Scores.why_unranked`)."""
        return self.scores[0].why_unranked(self.kernels[0])

    @cached_property
    def contrasts(self) -> Contrasts | None:
        """Paired differences: the declared ones with Holm's adjustment, the other pairs of ranked arms exploratory."""
        if self.no_intervals:
            return None
        return contrasts(
            self.bootstrap,
            declared=self.declared,
            method=self.interval,
            level=self.level,
            simultaneous=self.simultaneous,
        )

    @cached_property
    def ranking(self) -> Ranking | None:
        """The ranked arms by their mean."""
        return None if self.no_intervals else ranking(self.bootstrap, method=self.interval, level=self.level)

    @cached_property
    def mean_bands(self) -> pl.DataFrame | None:
        """Bands of the mean curves, None if the curve itself does not exist."""
        return self._bands(goal=None)

    @cached_property
    def attainment_bands(self) -> pl.DataFrame | None:
        """Bands of the attainment curves of the leading goal."""
        return self._bands(goal=self.goals[0])

    def _bands(self, *, goal: float | None) -> pl.DataFrame | None:
        try:
            found = curve_bands(
                self.envelopes,
                self.snapshot,
                kernel=self.kernels[0],
                goal=goal,
                relative=self.relative,
                **self.band_choices,
            )
        # `raw` has no mean curve if a run starts without a candidate: then there is no band either.
        except UsageError:
            return None
        return drawn_bands(found)

    @property
    def band_choices(self) -> dict[str, Any]:
        """How bands are computed, as arguments of `curve_bands`."""
        return {
            "weighting": self.weighting,
            "method": self.interval,
            "level": self.level,
            # A band consists of two hundred intervals, and is looked at, not quoted: fewer draws are enough.
            "draws": min(self.draws, BAND_DRAWS),
            "seed": self.seed,
            "simultaneous": self.simultaneous,
            "tolerance": self.tolerance,
        }

    @property
    def band_words(self) -> str:
        """The description of the bands of its curves."""
        joint = ", lighter: at all times together" if self.simultaneous else ""
        how = method_words(band_method(self.interval), self.band_choices["draws"], self.seed)
        return f"bands: {self.level:.0%} at each time{joint}, by {how}"

    @cached_property
    def fairness(self) -> Fairness | None:
        """How the runs were measured; None if gapline did not supervise them."""
        runs = self.campaign.runs
        return summarise_fairness(runs.iter_rows(named=True)) if "disturbed" in runs.columns else None

    def notes(self) -> list[str]:
        """Return notes for readers of the numbers, each once."""
        disturbed = [] if self.fairness is None else self.fairness.disturbed_lines()
        folded = []
        if self.only_folded:
            named, these = listing(self.only_folded), counted(len(self.only_folded), "instance")
            folded.append(f"{self.stored[0].name} has no value of {these} ({named}): the best of these runs counts")
        models = [model_note(arm, model) for arm, model in self.simplified_models.items()]
        pairs = () if self.contract is None else self.contract.aggregate.contrasts
        for left, right in pairs:
            if two := [arm for arm in (left, right) if arm in self.tier_two]:
                models.append(f"the contrast {left} against {right} is not tested: {listing(two)} of tier 2")
        measured = [f"measurement: {line}" for line in disturbed]
        own = [*self.remarks, *models, *folded, *self.summary.notes, *measured]
        return list(dict.fromkeys([*own, *self.campaign.notes()]))

    def without(self, arms: Sequence[str]) -> "Study":
        """Return the study without some of its arms, under the same references."""
        rest = ~pl.col("arm").is_in(list(arms))
        kept = [arm for arm in self.cells["arm"].unique() if arm not in arms]
        return replace(
            self,
            envelopes=self.envelopes.select(rest),
            planned=self.cells.filter(rest),
            coverage=self.coverage_of(kept),
            tier_two=tuple(arm for arm in self.tier_two if arm not in arms),
        )

    def coverage_of(self, arms: Sequence[str]) -> Coverage:
        """Return the coverage of some arms alone."""
        # Removed runs belong to no arm of the contract, so to none of these.
        cells = self.cells.filter(pl.col("arm").is_in(list(arms)))
        return count_cells(
            self.envelopes.runs.filter(pl.col("arm").is_in(list(arms))),
            cells,
            self.references[0].label,
            planned=self.coverage.planned is not None,
            filled=self.coverage.filled > 0,
            unscorable=sum(self.dropped.get(arm, 0) for arm in arms),
            unshared=sum(self.unshared.get(arm, 0) for arm in arms),
            unchecked=cells.filter(pl.col("state") == "unchecked").height,
            begun=count_begun(self.campaign, arms),
            shared=shared_units(self.envelopes.runs) if self.lacking else None,
        )

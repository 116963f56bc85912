"""`Study`: what every command opens. Which runs count, against what, under which choices is decided here alone.

A study is a contract, the plan that follows from it, a verified campaign and references. Sources without a contract (a
trace file, an imported campaign) make a study whose choices are those of the caller.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from gapline.capture.planned import (
    every_arm_has_every_cell,
    expected_cells,
    planned_cells,
    runs_of_contract,
    with_empty_runs,
)
from gapline.capture.read import matching, read, read_in_parts
from gapline.envelope.build import NOT_POSITIVE, Envelopes, Unchecked, build_envelopes
from gapline.errors import GaplineError, MixedScoresError, UsageError, closest, listing
from gapline.model.campaign import Campaign, as_patterns
from gapline.model.code import refuse_code
from gapline.model.layout import CAMPAIGN, CARRIED_REFERENCES, CONTRACT_FILE, JOURNALS, is_study
from gapline.model.limits import read_document
from gapline.model.names import WeightCode, check_statistic_name, keep_weight, split_python_name
from gapline.model.reading import TOLERANCE, Coverage, Reading, ReferenceLabel
from gapline.model.solver_versions import version_changes
from gapline.model.tables import RUN_KEY, RunKey
from gapline.model.text import counted
from gapline.model.time_scale import Given as TimeScaleGiven
from gapline.model.time_scale import TimeScale, scale_times, settle_time_scale
from gapline.model.workers import Workers
from gapline.reference.alarm import Alarm, find_alarms
from gapline.reference.choose import (
    LabelledSnapshot,
    choose_references,
    fold_reference,
    label_reference,
    stored_snapshots,
)
from gapline.reference.contradictions import find_contradictions, find_stored_contradictions
from gapline.reference.policy import Policy
from gapline.reference.resolve import lacks_value
from gapline.reference.scorable import find_unscorable, settle_scale
from gapline.reference.snapshot import Snapshot
from gapline.scoring.custom import load_kernel, load_statistic
from gapline.scoring.function_weight import Weight, as_weight, load_weight
from gapline.scoring.reading import build_reading, count_coverage, count_unreferenced, descriptive_arms
from gapline.scoring.scores import DEFAULT_GOALS, Scores, score_grid
from gapline.summary.bands import band_method, curve_bands, drawn_bands
from gapline.summary.bootstrap import DRAWS, ArmIntervals, Bootstrap, arm_intervals
from gapline.summary.contrasts import Contrasts, contrasts
from gapline.summary.estimate import DEFAULT_METHOD, method_words, parse_method
from gapline.summary.means import Summary, summarise
from gapline.summary.ranking import Ranking, ranking

if TYPE_CHECKING:
    from gapline.journal.register import Register
    from gapline.model.contract import Contract

Pair = tuple[str, str]
DEFAULT_KERNEL = "squeezed"
# A band is drawn, not tested: fewer draws look the same.
BAND_DRAWS = 1000


class Missing(StrEnum):
    """What becomes of planned cells without a whole attempt; they are counted in every caption either way."""

    LEAVE_OUT = "leave-out"
    EMPTY = "empty"
    REFUSE = "refuse"


@dataclass(frozen=True, eq=False)
class Study:
    """Runs, references and choices, opened once.

    Attributes
    ----------
    references
        What the runs are read against, the declared one first: means, intervals, ranks and contrasts use that one.
    stored
        The snapshots as they are stored, before anything of the runs is folded in; alarms ring on them.
    kernels, goals
        The first of each leads.
    horizon
        The shorter horizon at which the runs are scored, where the caller asked for one.
    declared
        Contrasts that the contract or the caller names; `registered` says whether they stood in the register before the
        first run (None: nothing registers when they were named).
    left_out
        Instances that cannot be scored and were left out because that was asked for, each with the reason; `dropped`
        counts their runs by arm.
    planned
        The cells that were to be run, as `cells` has them; None where no contract planned any and every arm has all the
        cells that any arm has.
    """

    sources: tuple[str, ...]
    title: str
    contract: "Contract | None"
    contract_text: str | None
    register: "Register | None"
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

    @cached_property
    def cells(self) -> pl.DataFrame:
        """Arm, panel, instance, seed, state (done, running, interrupted or missing) of everything that was to be run.

        That is the plan of the contract, or without one every cell that any arm has.
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
        """The arms that are compared."""
        arms = self.envelopes.runs["arm"].unique().sort().to_list()
        return tuple(arm for arm in arms if arm not in self.tier_two)

    @property
    def pairs(self) -> list[Pair]:
        """The declared contrasts, or every pair of tier-1 arms where none was declared."""
        # What was declared beforehand is the question; only without one is every pair looked at.
        return list(self.declared) or list(combinations(self.tier_one, 2))

    @property
    def snapshot(self) -> Snapshot:
        """The declared reference."""
        return self.references[0].snapshot

    @cached_property
    def campaign_digest(self) -> str:
        """The digest of the campaign: made once, since it takes a pass over all of its columns."""
        return self.campaign.digest()

    @cached_property
    def folded(self) -> LabelledSnapshot:
        """The analysis reference: the best of the stored values and of these runs."""
        # Under the policy `analysis` it is there already: folding again would only rename it.
        known = next((entry for entry in self.references if entry.policy == Policy.ANALYSIS), None)
        if known is not None:
            return known
        return fold_reference(self.stored[0] if self.stored else None, self.envelopes, self.tolerance)

    @cached_property
    def only_folded(self) -> tuple[str, ...]:
        """Instances that runs solved and of which the stored reference has no value: the fold alone has one."""
        solved = self.envelopes.runs.filter(pl.col("steps") > 0)["instance"].unique().sort()
        return tuple(name for name in solved for stored in self.stored[:1] if lacks_value(stored, name))

    @cached_property
    def both(self) -> tuple[LabelledSnapshot, ...]:
        """Every reference that was asked for and, beside it, the other policy: what sensitivity is judged between."""
        # The reference that was asked for stays first: it is the one from which a shift is counted.
        if any(entry.policy != Policy.ANALYSIS for entry in self.references) or not self.stored:
            known = any(entry.policy == Policy.ANALYSIS for entry in self.references)
            return self.references if known else (*self.references, self.folded)
        # What lacks a value that a run has cannot be scored against: then there is one reference alone.
        if self.only_folded:
            return self.references
        stored = LabelledSnapshot(self.stored[0], label_reference(self.stored[0], self.envelopes))
        return (*self.references, stored)

    @cached_property
    def scores(self) -> tuple[Scores, ...]:
        """The scores of every run under every kernel, one `Scores` per reference that was asked for."""
        return self.score_against(self.references)

    def score_against(self, references: Sequence[LabelledSnapshot], *, weight: str | None = None) -> tuple[Scores, ...]:
        """Score the runs against references, under the choices of the study."""
        found = score_grid(
            self.envelopes,
            [entry.snapshot for entry in references],
            kernels=self.kernels,
            weights=[weight or self.weight],
            goals=self.goals,
            tolerance=self.tolerance,
            policies=[entry.policy for entry in references],
            statistics=self.statistics,
        )
        return tuple(
            replace(
                scores,
                reading=replace(
                    scores.reading,
                    reference=entry.label,
                    tier_two=self.tier_two,
                    checker=self.checker,
                    coverage=self._coverage_against(entry.label),
                ),
            )
            for scores, entry in zip(found, references, strict=True)
        )

    @property
    def checker(self) -> str | None:
        """Name and version of the checker whose verdicts count, where one is named."""
        return self.campaign.facts.get("checker")

    @cached_property
    def reading(self) -> Reading:
        """The choices behind every number that names no other."""
        return self.reading_of(self.references[0])

    def reading_of(self, reference: LabelledSnapshot, **changes: Any) -> Reading:
        """Return the declared reading against another reference, or with other choices changed."""
        declared = build_reading(
            self.envelopes,
            reference.label,
            kernels=self.kernels,
            # With the weight go its code and the error of its integral.
            weight=changes.pop("weight", self.weight),
            goals=self.goals,
            tolerance=self.tolerance,
            weighting=self.weighting,
            coverage=self._coverage_against(reference.label),
            statistics=self.statistics,
        )
        return replace(declared, tier_two=self.tier_two, checker=self.checker, **changes)

    def _coverage_against(self, label: ReferenceLabel) -> Coverage:
        """Return the coverage under another reference, which may lack other instances that nobody solved."""
        return replace(self.coverage, unreferenced=count_unreferenced(self.envelopes.runs, label.unreferenced))

    @cached_property
    def summary(self) -> Summary:
        """The means of every arm under the declared reading."""
        return summarise(self.scores[0], weighting=self.weighting)

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """The draws of the declared reading; refused where some run has no score."""
        return Bootstrap(self.scores[0], weighting=self.weighting, draws=self.draws, seed=self.seed)

    @cached_property
    def no_intervals(self) -> str | None:
        """Why nothing can be drawn, or None where it can."""
        try:
            # Asked for once here, so that every table gives the same reason instead of an error of its own.
            _ = self.bootstrap
        except MixedScoresError as error:
            return error.message
        return None

    @cached_property
    def intervals(self) -> ArmIntervals | None:
        """The mean of every arm with its interval."""
        if self.no_intervals:
            return None
        return arm_intervals(self.bootstrap, method=self.interval, level=self.level)

    @cached_property
    def contrasts(self) -> Contrasts | None:
        """Paired differences of tier-1 arms: the declared ones with Holm's adjustment, the others exploratory."""
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
        """Tier-1 arms by their mean."""
        return None if self.no_intervals else ranking(self.bootstrap, method=self.interval, level=self.level)

    @cached_property
    def mean_bands(self) -> pl.DataFrame | None:
        """Bands of the mean curves, None where the curve itself does not exist."""
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
        # `raw` has no mean curve where a run starts without a candidate: then there is no band either.
        except UsageError:
            return None
        return drawn_bands(found)

    @property
    def band_choices(self) -> dict[str, Any]:
        """How bands are found, as `curve_bands` takes it."""
        return {
            "weighting": self.weighting,
            "method": self.interval,
            "level": self.level,
            # A band is two hundred intervals, and is looked at, not quoted: fewer draws do.
            "draws": min(self.draws, BAND_DRAWS),
            "seed": self.seed,
            "simultaneous": self.simultaneous,
            "tolerance": self.tolerance,
        }

    @property
    def band_words(self) -> str:
        """What the bands of its curves are."""
        joint = ", lighter: at all times together" if self.simultaneous else ""
        how = method_words(band_method(self.interval), self.band_choices["draws"], self.seed)
        return f"bands: {self.level:.0%} at each time{joint}, by {how}"

    def notes(self) -> list[str]:
        """Return what a reader has to know beside the numbers, each once."""
        folded = []
        if self.only_folded:
            named, these = listing(self.only_folded), counted(len(self.only_folded), "instance")
            folded.append(f"{self.stored[0].name} has no value of {these} ({named}): the best of these runs counts")
        return list(dict.fromkeys([*self.remarks, *folded, *self.summary.notes, *self.campaign.notes()]))

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
        runs = self.envelopes.runs.filter(pl.col("arm").is_in(list(arms)))
        dropped = sum(self.dropped.get(arm, 0) for arm in arms)
        known = {"planned": self.coverage.planned is not None, "filled": self.coverage.filled > 0}
        return _count(runs, cells, self.references[0].label, removed=0, unscorable=dropped, **known)


def open_study(
    *sources: Any,
    arm: str | Sequence[str] = (),
    panel: str | Sequence[str] = (),
    instance: str | Sequence[str] = (),
    exclude: str | Sequence[str] = (),
    negate: str | Sequence[str] = (),
    columns: str | Mapping[str, str] | None = None,
    decimal: str | None = None,
    strict: bool = False,
    missing: str | Missing = Missing.LEAVE_OUT,
    references: str | Path | None = None,
    snapshots: Sequence[str | Path | Snapshot] = (),
    policy: str | None = None,
    horizon: float | None = None,
    time_scale: "TimeScaleGiven | TimeScale" = (),
    transform: str | Sequence[str] = (),
    leave_out_unscorable: bool = False,
    validation: str | None = None,
    allow_unchecked: bool = False,
    checker: str | None = None,
    kernels: Sequence[str] = (),
    statistics: Sequence[str] = (),
    allow_code: bool = False,
    weight: Weight | None = None,
    goals: Sequence[float] = (),
    weighting: str | None = None,
    tier_two: Sequence[str] = (),
    contrasts: Sequence[Pair] = (),
    interval: str | None = None,
    level: float | None = None,
    draws: int | None = None,
    seed: int | None = None,
    simultaneous: bool | None = None,
    title: str | None = None,
    workers: Workers | None = None,
    campaign: Campaign | None = None,
) -> Study:
    """Open a study, a campaign or traces: what `score`, `curve`, `compare`, `analyse` and `report` begin with.

    Parameters
    ----------
    sources
        A study directory, whose contract gives every choice that is not given here; or campaign directories, trace
        files, zips or patterns of them, frames, campaigns.
    arm, panel, instance, exclude
        Names or patterns to keep; instances to leave out.
    columns, decimal, strict
        How tables among the sources differ from a neutral trace, and whether problems are refused; see `gapline.read`.
    negate
        Arms whose source reports the negated objective: what they say is negated.
    missing
        Planned cells without a whole attempt: `leave-out` (counted, and no order is headlined), `empty` (they count as
        runs that found nothing: for a closed campaign) or `refuse`.
    references, snapshots
        Reference values (a CSV, a `.solu` file, a store such as `mamut:PATH@COMMIT`) or snapshots; else the contract's,
        else those that the sources carry.
    policy
        `frozen` refuses values known after the runs; `analysis` folds the best of the runs in; `both` reads side by
        side.
    time_scale
        What a second of each host is worth in seconds of the reference machine: `HOST=1.37` (names or patterns, once or
        several), a mapping, or `measured[:HOST]` for the calibrations that the runs record. Horizons are then in
        seconds of the reference machine, and every output says so; see `gapline.model.time_scale`.
    horizon, transform, validation, allow_unchecked
        What is accepted; see `gapline.build_envelopes`. Objectives of zero or below are scored by Berthold's gap where
        it is the only kernel.
    checker
        Count the verdicts of this checker instead of those of the contract's; verdicts of two are never mixed.
    leave_out_unscorable
        Leave out instances that cannot be scored (an objective or a reference of zero or below, or none where a run
        solved it), list and count them; else they are refused. What nobody solved needs no reference.
    kernels, weight, goals, weighting
        How runs are scored and averaged. A kernel or a weight may be a function of yours, `python:MODULE:FUNCTION`; a
        weight also a function of time itself.
    statistics
        Functions of one run, `python:MODULE:FUNCTION`, shown and averaged beside the scores; see
        `gapline.scoring.custom`.
    allow_code
        Let the code of the study run: functions that its contract names, and modules in its directory. A kernel of the
        contract that may not run is refused, a statistic is left out and said to be.
    tier_two
        Arms that are described and not compared.
    contrasts
        Pairs of arms named before the data were seen.
    interval, level, draws, seed
        How intervals and p-values are found: `skew-t` (the default), `t`, `studentized`, `calibrated`, `bca`,
        `percentile` (the paper's cluster bootstrap) or `sign-flip`; draws and seed for those that draw.
    simultaneous
        Intervals of the declared contrasts that hold together, and joint bands beside the pointwise ones.
    workers
        Others who read the candidates and pass over the steps, such as `gapline.run.where.tasks` opens on a cluster.
        The one source is then a study or a campaign directory that they see too; the results are the same.
    campaign
        What the sources hold, where it was read already.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": [(time, 30.0)]}
    ...         for arm, time in (("a", 2), ("b", 4))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    >>> study = open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot])
    >>> study.summary.frame.select("arm", "squeezed").rows()
    [('a', 0.6), ('b', 0.7)]
    """
    if not sources:
        raise UsageError("open_study: expected at least one source, got none")
    # One pattern may stand for several sources, which are then several here too.
    sources = tuple(
        one for source in sources for one in (matching(source) if isinstance(source, str | Path) else [source])
    )
    paths = tuple(source for source in sources if isinstance(source, str))
    # Several sources have no contract in common: choices that one of them declares would bind the others.
    folder = Path(paths[0]) if len(sources) == 1 and paths and is_study(paths[0]) else None
    contract, text, register = _contract(folder)
    stated = declared_choices(contract)
    patterns = {"arm": arm, "panel": panel, "instance": instance, "exclude": exclude}
    wanted = {name: as_patterns(given) for name, given in patterns.items()}
    dialect: dict[str, Any] = {"columns": columns, "decimal": decimal, "strict": strict, "checker": checker}
    whole = _negated(_read(sources, workers, **dialect) if campaign is None else campaign, negate)
    scaling = _time_scale(time_scale or stated.get("time_scale", ()), whole)
    # A contract beside an imported campaign planned nothing that we ran: it names the arms, no cells.
    planned = contract if folder is not None and (folder / JOURNALS).is_dir() else None
    kept, removed = runs_of_contract(whole, contract, cells=planned is not None)
    campaign = kept.filter(**wanted)
    cells = _cells(campaign, planned, wanted)
    rule, absent = _absent_cells(cells, missing)
    if rule is Missing.EMPTY and absent.height:
        campaign = with_empty_runs(campaign, absent, contract)
    campaign = campaign if scaling is None else scale_times(campaign, scaling)
    noticed: list[str] = []
    stored = stored_snapshots(paths, folder, contract, references, snapshots, noticed)
    chosen_kernels = tuple(kernels) or stated.get("kernels") or (DEFAULT_KERNEL,)
    chosen_statistics = _load_functions(folder, kernels, statistics, stated, noticed, allow_code=allow_code)
    chosen_weight = _load_weight(folder, weight, stated.get("weight", "uniform"), allow_code=allow_code)
    chosen_policy = policy or stated.get("policy")
    accepted: dict[str, Any] = {
        "horizon": horizon,
        "unchecked": _unchecked(validation, stated.get("validation"), allow_unchecked),
    }
    scale = settle_scale(
        campaign,
        as_patterns(transform) or stated.get("transform", ()),
        stored,
        kernels=chosen_kernels,
        sense=stated.get("sense"),
        **accepted,
    )
    left_out: dict[str, str] = {}
    if leave_out_unscorable:
        left_out = find_unscorable(campaign, scale, stored, policy=chosen_policy, **accepted)
    unscorable = pl.col("instance").is_in(list(left_out))
    dropped = dict(campaign.runs.filter(unscorable).group_by("arm").len().iter_rows()) if left_out else {}
    if left_out:
        campaign = replace(campaign, runs=campaign.runs.filter(~unscorable))
        cells, scale = None if cells is None else cells.filter(~unscorable), scale.without(left_out)
        if not len(campaign):
            raise GaplineError(
                f"expected instances that can be scored, got none: {_shown(left_out)}", hint=NOT_POSITIVE
            )
    envelopes = build_envelopes(campaign, transform=scale, workers=workers, **accepted)
    registered = None if register is None else register.snapshot_digests()
    chosen_tolerance = stated.get("tolerance", TOLERANCE)
    named = None if contract is None else contract.reference.snapshot
    entries = choose_references(stored, envelopes, chosen_policy, registered, chosen_tolerance, named=named)
    arms = set(campaign.runs["arm"].unique())
    named_two = tuple(tier_two) or tuple(a for a in stated.get("tier_two", ()) if a in arms)
    descriptive = descriptive_arms(envelopes.runs, named_two)
    pairs, before = _contrasts(contrasts, stated.get("contrasts", ()), register, arms, descriptive)
    remarks = _remarks(campaign, register, removed, absent.height if rule is Missing.EMPTY else 0, left_out)
    return Study(
        sources=paths,
        title=title or stated.get("title") or "gapline report",
        contract=contract,
        contract_text=text,
        register=register,
        campaign=campaign,
        envelopes=envelopes,
        references=entries,
        stored=stored,
        kernels=chosen_kernels,
        weight=chosen_weight,
        weighting=weighting or stated.get("weighting", "panel"),
        goals=tuple(goals) or _led(stated.get("goals", ())) or DEFAULT_GOALS,
        tolerance=chosen_tolerance,
        tier_two=descriptive,
        declared=pairs,
        registered=before,
        interval=parse_method(interval or stated.get("interval", DEFAULT_METHOD)).value,
        level=stated.get("level", 0.95) if level is None else level,
        draws=stated.get("draws", DRAWS) if draws is None else draws,
        seed=stated.get("seed", 1) if seed is None else seed,
        simultaneous=stated.get("simultaneous", False) if simultaneous is None else simultaneous,
        planned=cells,
        coverage=_count(
            envelopes.runs,
            cells,
            entries[0].label,
            planned=planned is not None,
            filled=rule is Missing.EMPTY,
            removed=removed,
            unscorable=sum(dropped.values()),
        ),
        alarms=(
            *(find_alarms(stored, envelopes, tolerance=chosen_tolerance) if stored else ()),
            *find_contradictions(campaign, envelopes, tolerance=chosen_tolerance),
            *find_stored_contradictions(campaign, envelopes, stored, tolerance=chosen_tolerance),
        ),
        statistics=chosen_statistics,
        horizon=horizon,
        time_scale=scaling,
        remarks=(*remarks, *noticed),
        left_out=left_out,
        dropped=dropped,
    )


def open_studies(sources: Sequence[str], /, **choices: Any) -> dict[str, Study]:
    """Open several sources, each as a study of its own, under the same choices; a host may be in one of them alone."""
    if choices.get("time_scale"):
        tables: dict[str, Any] = {
            name: choices[name] for name in ("columns", "decimal", "strict", "checker") if name in choices
        }
        choices["time_scale"] = settle_time_scale(choices["time_scale"], [read(source, **tables) for source in sources])
    given = choices.get("references") or choices.get("snapshots")
    own = {} if given or len(sources) < 2 else {one: _own(one) for one in sources}
    lenders = [source for source, snapshots in own.items() if snapshots]
    opened = {}
    for source in sources:
        # What neither the caller nor a source itself names is lent by the only other one that has references.
        lent = own[lenders[0]] if len(lenders) == 1 and source not in lenders else ()
        study = open_study(source, **choices | ({"snapshots": lent} if lent else {}))
        remark = f"{source} has no reference of its own: read against that of {lenders[0]}" if lent else ""
        opened[source] = replace(study, remarks=(*study.remarks, remark)) if lent else study
    return opened


def _own(source: str) -> tuple[Snapshot, ...]:
    """Return the snapshots that a source names or carries."""
    paths = matching(source)
    folder = Path(paths[0]) if len(paths) == 1 and is_study(paths[0]) else None
    contract, _, _ = _contract(folder)
    return stored_snapshots(paths, folder, contract, None, ())


def _load_functions(
    folder: Path | None,
    kernels: Sequence[str],
    statistics: Sequence[str],
    stated: Mapping[str, Any],
    noticed: list[str],
    *,
    allow_code: bool,
) -> tuple[str, ...]:
    """Import the functions that are named, and return the statistics; what a contract names needs leave to run."""
    wanted = [name for name in kernels or stated.get("kernels", ()) if split_python_name(name)]
    found = tuple(statistics) or stated.get("statistics", ())
    for name in found:
        check_statistic_name(name)
    if not allow_code and not kernels and wanted:
        refuse_code(wanted, folder, where=f"{folder}/{CONTRACT_FILE}: score.kernel")
    if not allow_code and not statistics and found:
        noticed.append(f"statistics of the contract are left out, as its code may not run: {listing(found)}")
        found = ()
    for name in wanted:
        load_kernel(name, folder=folder if allow_code else None)
    for name in found:
        load_statistic(name, folder=folder if allow_code else None)
    return tuple(found)


def _load_weight(folder: Path | None, given: Weight | None, stated: str, *, allow_code: bool) -> str:
    """Return the name of the time weight, its function loaded where it is one; a contract's needs leave to run."""
    if given is not None and not isinstance(given, str):
        made = as_weight(given)
        # Steps under a name of the caller's: from here on everything goes by the name.
        named = made.code is WeightCode.STEPS and not made.name.startswith("steps:")
        return keep_weight(made).name if named else made.name
    name = given or stated
    if split_python_name(name):
        if not allow_code and given is None:
            refuse_code([name], folder, where=f"{folder}/{CONTRACT_FILE}: score.weight", option="--weight")
        load_weight(name, folder=folder if allow_code else None)
    return name


def _read(sources: tuple[Any, ...], workers: Workers | None, **dialect: Any) -> Campaign:
    # Workers read the files themselves, so that nothing of a campaign in parts is gathered here.
    reader = read if workers is None else read_in_parts
    return reader(sources[0] if len(sources) == 1 else list(sources), **dialect)


def _negated(campaign: Campaign, arms: str | Sequence[str]) -> Campaign:
    """Negate what some arms report; without a run there is nothing to negate, score or report."""
    if not len(campaign):
        begun = {"under way": len(campaign.running), "interrupted": len(campaign.interrupted)}
        words = ", ".join(f"{number:,} {what}" for what, number in begun.items() if number)
        raise GaplineError(f"expected runs to score, got none{f' that is whole ({words})' if words else ''}")
    return campaign.negate(arms) if arms else campaign


def _time_scale(given: "TimeScaleGiven | TimeScale", campaign: Campaign) -> TimeScale | None:
    """Settle what was asked for; the hosts are looked for before any filter takes runs away."""
    if isinstance(given, TimeScale) or not given:
        return given or None  # type: ignore[return-value]
    return settle_time_scale(given, [campaign])


def _cells(
    campaign: Campaign, planned: "Contract | None", wanted: Mapping[str, tuple[str, ...]]
) -> pl.DataFrame | None:
    """Return the cells of the plan, None where there is no plan and nothing lacks.

    Of a million runs the table costs more than their scores: it is then made where somebody asks for it.
    """
    if planned is None and every_arm_has_every_cell(campaign.rows):
        return None
    return planned_cells(campaign, planned, wanted)


def _absent_cells(cells: pl.DataFrame | None, missing: str | Missing) -> tuple[Missing, pl.DataFrame]:
    """Return what becomes of planned cells without a whole attempt, and these cells."""
    try:
        rule = Missing(missing)
    except ValueError:
        raise UsageError(f"missing: expected {listing(Missing)}, got {missing!r}") from None
    if cells is None:
        return rule, pl.DataFrame()
    absent = cells.filter(pl.col("state") != "done")
    if rule is Missing.REFUSE and absent.height:
        shown = listing(
            (f"{RunKey(*row[:3])} ({row[3]})" for row in absent.select(*RUN_KEY, "state").iter_rows()), most=5
        )
        how = "running, interrupted or missing" if (absent["state"] == "running").any() else "interrupted or missing"
        raise GaplineError(
            f"expected every planned run, got {absent.height:,} of {cells.height:,} {how}: {shown}",
            hint="run them (`gapline run`), or count them as empty (`--missing empty`)",
        )
    return rule, absent


def _shown(left_out: Mapping[str, str]) -> str:
    return listing((f"{name} ({why})" for name, why in left_out.items()), most=20)


def _contract(folder: Path | None) -> "tuple[Contract | None, str | None, Register | None]":
    """Read contract and register; a study that was never run, or run before there were registers, has none."""
    if folder is None:
        return None, None, None
    from gapline.journal.register import read_register
    from gapline.model.contract import load_contract

    contract, register = load_contract(folder), read_register(folder)
    text = read_document(folder / CONTRACT_FILE).decode("utf-8").replace("\r\n", "\n")
    return contract, text, register if register.entries else None


def declared_choices(contract: "Contract | None") -> dict[str, Any]:
    """Return what a contract declares, by the names of `open_study`."""
    if contract is None:
        return {}
    return {
        "kernels": tuple(contract.score.kernels),
        "statistics": tuple(contract.score.statistics),
        "weight": contract.score.weight,
        "goals": tuple(contract.score.goals),
        "weighting": contract.aggregate.weighting,
        "time_scale": contract.time.scale,
        "transform": contract.transforms,
        "sense": contract.senses,
        "validation": contract.objective.validation,
        "policy": None if contract.reference.policy == "retrospective" else contract.reference.policy,
        "tolerance": contract.reference.tolerance,
        "contrasts": tuple((a, b) for a, b in contract.aggregate.contrasts),
        "tier_two": tuple(arm.name for arm in contract.arms if arm.tier == 2),
        "interval": contract.aggregate.bootstrap.method,
        "simultaneous": contract.aggregate.simultaneous,
        "draws": contract.aggregate.bootstrap.draws,
        "seed": contract.aggregate.bootstrap.seed,
        "level": contract.aggregate.bootstrap.level,
        "title": contract.study.title or contract.study.name,
    }


def score_options(contract: "Contract", folder: Path, *, carried: bool = False) -> list[str]:
    """Return the options under which `gapline score` reads the traces of a study as the study itself is read.

    `carried` where the snapshot lies beside the traces, and need not be named.
    """
    stated = declared_choices(contract)
    goals = _led(stated["goals"])
    scale = stated["time_scale"]
    scales = [scale] if isinstance(scale, str) else [f"{host}={factor!r}" for host, factor in scale.items()]
    options: list[tuple[str, ...]] = []
    # In this order, as the study itself looks for them.
    places = [folder / contract.reference.snapshot] if contract.reference.snapshot else []
    files = [place for place in (*places, folder / CAMPAIGN / CARRIED_REFERENCES) if place.is_file()]
    options += [("--snapshot", str(file)) for file in files[:1] if not carried]
    if stated["policy"] in (Policy.ANALYSIS, "both"):
        options.append(("--policy", stated["policy"]))
    options += [("--kernel", name) for name in stated["kernels"] if stated["kernels"] != (DEFAULT_KERNEL,)]
    options += [("--weight", stated["weight"])] if stated["weight"] != "uniform" else []
    options += [("--weighting", stated["weighting"])] if stated["weighting"] != "panel" else []
    options += [("--goal", repr(goal)) for goal in goals if goals != DEFAULT_GOALS]
    options += [("--transform", text) for text in as_patterns(stated["transform"]) if text != "none"]
    options += [("--time-scale", text) for text in scales if text]
    options += [("--validation", "solver")] if stated["validation"] == "solver" else []
    return [part for option in options for part in option]


def _led(goals: Sequence[float]) -> tuple[float, ...]:
    """Put the first positive goal in front: a lead of 0 would show who found the reference itself."""
    lead = next((goal for goal in goals if goal > 0), None)
    return tuple(goals) if lead is None else (lead, *(goal for goal in goals if goal != lead))


def _count(
    runs: pl.DataFrame,
    cells: pl.DataFrame | None,
    reference: ReferenceLabel,
    *,
    planned: bool,
    filled: bool,
    removed: int,
    unscorable: int = 0,
) -> Coverage:
    found = replace(count_coverage(runs, reference.unreferenced), unscorable=unscorable)
    if not planned and not filled:
        return found
    states = {} if cells is None else dict(cells.group_by("state").len().iter_rows())
    absent = {name: states.get(name, 0) for name in ("running", "interrupted", "missing")}
    return replace(
        found,
        planned=cells.height if planned and cells is not None else None,
        **absent,
        filled=sum(absent.values()) if filled else 0,
        removed=removed,
    )


def _unchecked(given: str | None, declared: str | None, allow_unchecked: bool) -> Unchecked:
    """Say what becomes of unchecked candidates; the caller's word stands in for the contract's."""
    if given == "solver" and allow_unchecked:
        raise UsageError("expected --validation solver (count them) or --allow-unchecked (leave them out), got both")
    if allow_unchecked:
        return Unchecked.LEAVE_OUT
    return Unchecked.TRUST_SOLVER if (given or declared) == "solver" else Unchecked.REFUSE


def _contrasts(
    given: Sequence[Pair],
    declared: Sequence[Pair],
    register: "Register | None",
    arms: set[str],
    tier_two: Sequence[str],
) -> tuple[tuple[Pair, ...], bool | None]:
    """Return the contrasts that are named, and whether they were registered before the first run (None: unknown)."""
    for name in (name for pair in given for name in pair if name not in arms):
        near = closest(name, arms)
        hint = f"did you mean {near!r}?" if near else f"there are: {listing(sorted(arms))}"
        raise UsageError(f"contrast: expected the name of an arm, got {name!r}", hint=hint)
    # A contrast of the contract may name an arm that a filter left out, or that was declared descriptive here.
    present = arms - set(tier_two)
    named = tuple((a, b) for a, b in given) or tuple(pair for pair in declared if present.issuperset(pair))
    if register is None or not named:
        return named, None
    before = {frozenset(pair) for pair in register.declared_contrasts()}
    return named, all(frozenset(pair) in before for pair in named)


def _remarks(
    campaign: Campaign, register: "Register | None", removed: int, filled: int, unscorable: Mapping[str, str]
) -> tuple[str, ...]:
    """Say what changed after the first run or between runs, and what was left out or filled in."""
    changes = [] if register is None else register.changes()
    remarks = [f"changed after the first run: {change}" for change in changes]
    remarks += version_changes(campaign.runs)
    if removed:
        remarks.append(f"{removed:,} runs belong to arms or cells that the contract does not have: left out")
    if filled:
        remarks.append(f"{filled:,} cells without a whole run count as empty streams (--missing empty)")
    if unscorable:
        verb = "is" if len(unscorable) == 1 else "are"
        count = counted(len(unscorable), "instance")
        remarks.append(f"{count} cannot be scored and {verb} left out: {_shown(unscorable)}")
    return tuple(remarks)

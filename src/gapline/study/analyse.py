"""`analyse`: the driver of every analysis, shared by `gapline analyse`, `gapline report` and `gapline paper`.

All of them use one `Study` and its declared reference. Metric and reference sensitivity also use the analysis
reference, and complementarity uses only that one, as in the paper.
"""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import polars as pl

from gapline.contract.argument_checks import expect
from gapline.contract.reading import ReferenceLabel
from gapline.contract.result_table import Shown, as_json
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.envelope.build import Envelopes
from gapline.measures.areas import curve_areas
from gapline.measures.attainment_surface import AttainmentDifference, attainment_difference
from gapline.measures.compared_arms import Compared, compare_cells
from gapline.measures.improvement import DRAWS, ArmAverages, arm_averages
from gapline.measures.pairs import NeighbourPairs, neighbour_pairs
from gapline.measures.ranks import MeanRanks, mean_ranks
from gapline.measures.rating import Ratings, ratings
from gapline.measures.running_times import Profiles, performance_profile
from gapline.measures.summary_table import neighbours
from gapline.references.choice import LabelledSnapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.events import Events, collect_groups
from gapline.scoring.kernels import PAPER_KERNELS, Kernel, parse_kernel
from gapline.scoring.run_references import reference_column
from gapline.scoring.scores import Scores
from gapline.statistics.cells import remaining_pairs
from gapline.statistics.power import PowerTable, power_table
from gapline.study import DEFAULT_KERNEL, Study
from gapline.study.complementarity import Complementarity, complementarity
from gapline.study.cutoff_sweep import CutoffSweep, cutoff_sweep
from gapline.study.health import Health, completeness, health
from gapline.study.horizon_sweep import HorizonSweep, horizon_sweep
from gapline.study.ladders import Ladder, study_ladders
from gapline.study.readings import Readings, build_readings
from gapline.study.robustness import Robustness, robustness
from gapline.study.sensitivity import MetricSensitivity, ReferenceSensitivity, metric_sensitivity, reference_sensitivity
from gapline.study.transform_sensitivity import TransformSensitivity, transform_sensitivity
from gapline.text import counted


@dataclass(frozen=True, eq=False, repr=False)
class Analysis(Shown):
    """The analyses of one study, each computed on first use; `analyse` documents the choices."""

    study: Study
    ladders_by: tuple[str, ...] | None = None
    screen: Mapping[str, float] | None = None
    par: float = 10.0
    shift: float = 10.0
    score_shift: float = 1.0
    transforms_by: tuple[str, ...] | None = None
    cutoffs_at: tuple[float, ...] | None = None

    def to_polars(self) -> pl.DataFrame:
        """Return the name and the description of each analysis."""
        made = {
            name: (inspect.getdoc(part) or "").split("\n")[0]
            for name, part in inspect.getmembers_static(type(self), lambda part: isinstance(part, cached_property))
        }
        return pl.DataFrame({"name": list(made), "what": list(made.values())})

    def caption(self) -> str:
        """Return a description in one line."""
        return f"of {self.study.caption()}"

    @cached_property
    def kernels(self) -> tuple[Kernel, ...]:
        """The kernels to compare, first the declared one, or `squeezed` where it has no value before an incumbent."""
        named = self.study.kernels
        # A single kernel has nothing to be compared with: add the paper's set.
        if len(named) == 1 and not self.study.envelopes.scale.signed:
            named = tuple(dict.fromkeys([*named, *PAPER_KERNELS]))
        parsed = [parse_kernel(name, tolerance=self.study.tolerance) for name in named]
        # A sweep starts at time 0, where `raw` has no value: such a kernel cannot come first.
        lead = next((kernel for kernel in parsed if kernel.before is not None), parse_kernel(DEFAULT_KERNEL))
        return (lead, *(kernel for kernel in parsed if kernel is not lead))

    @cached_property
    def references_by_name(self) -> dict[str, LabelledSnapshot]:
        """Every reference under a short name: its policy, or its own name where two share a policy."""
        entries = self.study.both
        words = [entry.policy for entry in entries]
        names = [entry.snapshot.name for entry in entries]
        if len(set(words)) == len(words):
            names = words
        elif len(set(names)) < len(names):
            names = [f"{entry.snapshot.name} ({entry.snapshot.digest[7:15]})" for entry in entries]
        return dict(zip(names, entries, strict=True))

    @property
    def labels(self) -> dict[str, ReferenceLabel]:
        """The label of each of these references."""
        return {name: entry.label for name, entry in self.references_by_name.items()}

    @cached_property
    def readings(self) -> Readings:
        """Every run under every kernel and reference."""
        named = {name: entry.snapshot for name, entry in self.references_by_name.items()}
        return build_readings(
            self.main,
            named,
            kernels=self.kernels,
            weight=self.study.weight,
            weighting=self.study.weighting,
            tolerance=self.study.tolerance,
            tier_two=[arm for arm in self.study.tier_two if arm not in self.apart],
            ranked=self.study.ranked_arms,
        )

    @cached_property
    def health(self) -> Health:
        """What was captured, rejected, late or never there, per arm."""
        return health(self.study.campaign, self.study.envelopes)

    @property
    def main_health(self) -> Health:
        """The health of the campaign itself, without ladders that are described separately."""
        if not self.apart:
            return self.health
        mine = ~pl.col("arm").is_in(list(self.apart))
        return replace(self.health, frame=self.health.frame.filter(mine), reasons=self.health.reasons.filter(mine))

    @cached_property
    def ladders(self) -> dict[str, Ladder]:
        """Validity and means along each ladder of settings."""
        return study_ladders(self.study, self.ladders_by)

    @cached_property
    def apart(self) -> tuple[str, ...]:
        """Arms of tier 2 that are steps of ladders: described along their steps, no part of the campaign."""
        return self.study.apart

    @cached_property
    def main_study(self) -> Study:
        """The campaign itself, without the ladders that stand apart."""
        return self.study.without(self.apart) if self.apart else self.study

    @property
    def main(self) -> Envelopes:
        """The envelopes of the campaign itself."""
        return self.main_study.envelopes

    @property
    def main_words(self) -> str:
        """The coverage of the campaign itself, and the ladders that are described separately."""
        return f"{self.main_study.coverage}{self.apart_words}"

    @property
    def ranked_words(self) -> str:
        """The same, with the ranked arms if some arm is not ranked."""
        ranked = str(self.study.instance_set)
        return f"{self.main_words}; {ranked}" if ranked else self.main_words

    @property
    def apart_words(self) -> str:
        """The runs of separate ladders, as text to follow the coverage; empty if there are none."""
        if not self.apart:
            return ""
        return f"; {counted(self.study.coverage_of(self.apart).runs, 'run')} of ladders stand in tables of their own"

    @cached_property
    def design(self) -> pl.DataFrame | None:
        """The evaluation design, and how many of its runs are `done`; None without a plan."""
        contract, cells = self.study.contract, self.study.cells
        if contract is None or self.study.coverage.planned is None:
            return None
        from gapline.contract.plan import Plan, evaluation_design

        # Only cells that the study contains: a filter removes cells.
        state = {RunKey(*key): state for *key, state in cells.select(*RUN_KEY, "state").iter_rows()}
        plan = tuple(cell for cell in Plan.of(contract).cells if cell.key in state)
        done = tuple(cell for cell in plan if state[cell.key] == "done")
        design, made = (evaluation_design(contract, Plan(part)) for part in (plan, done))
        counts = made.select("evidence", done="runs")
        return design.join(counts, on="evidence", how="left", maintain_order="left").with_columns(
            pl.col("done").fill_null(0)
        )

    @cached_property
    def completeness(self) -> pl.DataFrame:
        """Planned, done, interrupted and missing cells per arm and panel."""
        return completeness(self.study.cells, self.study.envelopes.runs)

    @cached_property
    def metrics(self) -> MetricSensitivity:
        """What another kernel would have said."""
        return metric_sensitivity(self.readings)

    @cached_property
    def references(self) -> ReferenceSensitivity | None:
        """What the other policy says against the declared reference; None where there is one reference alone."""
        return reference_sensitivity(self.readings) if len(self.labels) > 1 else None

    @cached_property
    def transforms(self) -> TransformSensitivity | None:
        """What other constants of the declared transform would have said; None where there is none to vary."""
        return transform_sensitivity(self.study, self.readings, kernel=self.kernels[0], transforms=self.transforms_by)

    @cached_property
    def complementarity(self) -> Complementarity:
        """Pairs of arms with similar scores that end elsewhere, against the analysis reference."""
        return complementarity(
            self.main,
            self.study.folded.snapshot,
            kernel=self.kernels[0],
            weight=self.study.weight,
            goal=self.study.goals[0],
            tolerance=self.study.tolerance,
            **dict(self.screen or {}),
        )

    @cached_property
    def folded_scores(self) -> Scores:
        """The runs against the analysis reference, for what complementarity shows."""
        return self.study.score_against([self.study.folded])[0]

    @cached_property
    def horizon(self) -> HorizonSweep:
        """The score at every shorter horizon, under the uniform weight."""
        return horizon_sweep(
            self.study.envelopes,
            self.study.snapshot,
            kernel=self.kernels[0],
            weighting=self.study.weighting,
            relative=self.study.relative,
            events=self._events,
            tolerance=self.study.tolerance,
        )

    @cached_property
    def cutoffs(self) -> CutoffSweep:
        """The score under logarithmic weights at several cutoffs, and where two arms swap."""
        return cutoff_sweep(
            self.study.envelopes,
            self.readings.references[0],
            self.readings.cells,
            self.horizon,
            kernel=self.kernels[0],
            weight=self.study.weight,
            baseline=self.readings.pooled(0, 0),
            cutoffs=self.cutoffs_at,
            compared=self.study.ranked_arms,
        )

    @cached_property
    def robustness(self) -> Robustness:
        """Under which share of the choices each contrast holds."""
        others = self.transforms
        return robustness(
            self.readings,
            contrasts=self.study.pairs,
            sweep=self.horizon,
            transforms=() if others is None else others.choices,
            left_out=() if others is None else others.left_out,
        )

    @cached_property
    def neighbours(self) -> pl.DataFrame:
        """The classical measures, one row per arm."""
        study = self.study
        return neighbours(
            study.envelopes,
            study.snapshot,
            goal=study.goals[0],
            factor=self.par,
            shift=self.shift,
            weighting=study.weighting,
            campaign=study.campaign,
            tolerance=study.tolerance,
        )

    @cached_property
    def averages(self) -> ArmAverages | None:
        """Interquartile and geometric means of the scores of every arm."""
        if self._compared is None:
            return None
        return arm_averages(self._compared, weighting=self.study.weighting, shift=self.score_shift, **self._drawn)

    @cached_property
    def no_ranks(self) -> str | None:
        """Why nothing is ranked by the classical rank methods, or None where it is."""
        return self.study.no_intervals or self.study.why_unranked

    @cached_property
    def ranks(self) -> MeanRanks | None:
        """Mean ranks of the ranked arms with Friedman's and Nemenyi's tests."""
        return None if self._ranked is None else mean_ranks(self._ranked, level=self.study.level)

    @cached_property
    def ratings(self) -> Ratings | None:
        """Bradley-Terry ratings of the ranked arms."""
        return None if self._ranked is None else ratings(self._ranked, **self._drawn)

    @cached_property
    def neighbour_pairs(self) -> NeighbourPairs | None:
        """Pairs of ranked arms by Wilcoxon's test, probability of improvement and area between their curves."""
        if self._ranked is None:
            return None
        study = self.study
        pairs = [*study.declared, *remaining_pairs(study.declared, study.ranked_arms)]
        areas = None
        if parse_kernel(study.kernels[0]).before is not None:
            areas = curve_areas(
                study.envelopes,
                study.snapshot,
                pairs,
                kernel=study.kernels[0],
                weighting=study.weighting,
                relative=study.relative,
                tolerance=study.tolerance,
            )
        return neighbour_pairs(
            self._ranked,
            declared=study.declared,
            ranks=self.ranks,
            areas=areas,
            weighting=study.weighting,
            level=study.level,
        )

    @cached_property
    def attainment_differences(self) -> tuple[AttainmentDifference, ...]:
        """Where in time and quality the arms of a pair differ: declared contrasts, else the two best arms."""
        study = self.study
        if study.envelopes.scale.signed:
            return ()
        best = [] if study.ranking is None else study.ranking.frame["arm"][:2].to_list()
        pairs = study.declared or ([(best[0], best[1])] if len(best) > 1 else [])
        return tuple(
            attainment_difference(study.envelopes, study.snapshot, a, b, relative=study.relative) for a, b in pairs
        )

    @cached_property
    def _compared(self) -> Compared | None:
        return None if self.study.no_intervals else compare_cells(self.study.scores[0])

    @property
    def _ranked(self) -> Compared | None:
        return None if self.no_ranks else self._compared

    @property
    def _drawn(self) -> dict[str, Any]:
        study = self.study
        return {"level": study.level, "draws": min(study.draws, DRAWS), "seed": study.seed}

    @cached_property
    def profile(self) -> Profiles:
        """The performance profile of the leading goal."""
        return performance_profile(
            self.study.envelopes, self.study.snapshot, goal=self.study.goals[0], tolerance=self.study.tolerance
        )

    @cached_property
    def power(self) -> PowerTable:
        """How many instances and seeds would show a difference."""
        study = self.study
        return power_table(study.scores[0], pairs=study.pairs, level=study.level, weighting=study.weighting)

    @cached_property
    def _events(self) -> list[Events]:
        envelopes = self.study.envelopes
        members = [rows for _, rows in group_rows(envelopes.runs, ["arm"])]
        column = reference_column(self.study.snapshot, envelopes)
        return collect_groups(envelopes, column, members, relative=self.study.relative)

    def document(self) -> dict[str, Any]:
        """Return the JSON of `gapline analyse --json`."""
        study = self.study
        tables = {name: getattr(study, name) for name in ("intervals", "contrasts", "ranking")}
        found: dict[str, Any] = as_json(
            {
                "reading": study.reading,
                "readings": [{"reference": name, **label.document()} for name, label in self.labels.items()],
                "health": [
                    row | {"rejected_by_reason": _reasons(self.health, row)} for row in self.health.frame.to_dicts()
                ],
                "design": self.design,
                "ladders": {name: ladder.frame for name, ladder in self.ladders.items()},
                "completeness": self.completeness,
                "metrics": self.metrics,
                "references": self.references,
                "transforms": self.transforms,
                "complementarity": self.complementarity.document()
                | {"reading": study.reading_of(study.folded, kernels=(self.kernels[0].name,))},
                "horizon": self.horizon,
                "cutoffs": self.cutoffs,
                "robustness": self.robustness,
                "bootstrap": {"kernel": study.kernels[0]}
                | {name: getattr(study, name) for name in ("weighting", "interval", "level", "draws", "seed")},
                **{name: None if table is None else table.frame for name, table in tables.items()},
                "no_intervals": study.no_intervals,
                **self.neighbours_document(),
                "power": self.power.frame,
            }
        )
        return found

    def neighbours_document(self) -> dict[str, Any]:
        """Return the classical measures for JSON, under the names that `analyse --json` and `results.json` share."""
        averages = {} if self.averages is None else {row["arm"]: row for row in self.averages.frame.to_dicts()}
        chosen = {name: getattr(self, name) for name in ("par", "shift", "score_shift")}
        return {
            "neighbours": [row | averages.get(row["arm"], {}) for row in self.neighbours.to_dicts()],
            "neighbour_choices": chosen | self._drawn,
            "ranks": as_json(self.ranks),
            "ratings": as_json(self.ratings),
            "neighbour_pairs": None if self.neighbour_pairs is None else self.neighbour_pairs.frame.to_dicts(),
            "no_ranks": self.no_ranks,
        }


def analyse(
    study: Study,
    /,
    *,
    ladders: Sequence[str] | None = None,
    screen: Mapping[str, float] | None = None,
    par: float = 10.0,
    shift: float = 10.0,
    score_shift: float = 1.0,
    transforms: Sequence[str] | None = None,
    cutoffs: Sequence[float] | None = None,
) -> Analysis:
    """Return the analyses of a study, each computed on first use.

    Parameters
    ----------
    study
        A study that `gapline.open_study` returned.
    ladders
        Ladders of the study by name, or columns of the runs table; by default the ladders that the contract declares or
        the runs record, and without these the numeric columns that take several values.
    screen
        Thresholds of the complementarity rule: max_score, min_final, min_attainment.
    par
        The cost in PAR-k, in horizons, of a run that misses the goal.
    shift, score_shift
        The constants added before a geometric mean is taken, of times (seconds) and of scores.
    transforms
        Other transforms to score the runs under: `shift:100`, `INSTANCE=shift:100`, `hierarchical:20n`, or `x2` for
        twice every declared constant; by default half and twice the declared constants.
    cutoffs
        Seconds at which logarithmic weights are cut off; by default powers of ten up to half of the horizon.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": [(time, 30.0)]}
    ...         for arm, time in (("a", 2), ("b", 4))]
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    >>> study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot])
    >>> gl.analyse(study).metrics.pairs
    1
    """
    return Analysis(
        expect(study, Study, "analyse"),
        ladders_by=None if ladders is None else tuple(ladders),
        screen=screen,
        par=par,
        shift=shift,
        score_shift=score_shift,
        transforms_by=None if transforms is None else tuple(transforms),
        cutoffs_at=None if cutoffs is None else tuple(cutoffs),
    )


def _reasons(table: Health, row: Mapping[str, Any]) -> dict[str, int]:
    mine = table.reasons.filter(pl.col("arm") == row["arm"])
    return dict(mine.select("reason", "rejected").iter_rows())

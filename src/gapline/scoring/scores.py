"""`score`: every run under every kernel, against one reference, with companions such as the final gap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from gapline.contract.argument_checks import expect, several
from gapline.contract.reading import TOLERANCE, ReferenceLabel
from gapline.contract.row_groups import Numbered, rows_of
from gapline.contract.transforms import shortest
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.native.arrays import Floats
from gapline.native.kernel_formulas import check_tolerance, is_beaten
from gapline.references.choice import References, as_snapshot, label_reference
from gapline.references.resolve import refuse_changed_instances, rewritten_instances
from gapline.scoring.endpoints import final_gaps, first_steps, hitting_times
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.kernels import Kernel, KernelCode, parse_kernel
from gapline.scoring.printed_integrals import resolution_bound
from gapline.scoring.run_references import ReadTable, build_reading, reference_column
from gapline.scoring.user_functions import Weight, as_weight, run_statistic, score_error
from gapline.text import counted, error_bound

DEFAULT_GOALS = (0.01,)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Scores(ReadTable):
    """One row per run: key, panel, horizon, one column per kernel, companions and counts, and the choices behind them.

    Other columns: `reference` (the value scored against), `final_gap` (raw; null for an empty run), `final_squeezed`
    (1 for an empty run), `first_time` (null for an empty run), `hit:GOAL` (infinite if never attained), `beaten`, and
    the counts of `Envelopes.runs`. A `raw` score is null unless the run is feasible at time 0.
    """

    notes: tuple[str, ...] = ()
    known: Numbered | None = None

    @property
    def rows(self) -> Numbered:
        """The row groups of the runs."""
        return rows_of(self.frame, self.known)

    @property
    def reference(self) -> ReferenceLabel:
        """The reference that the runs were scored against."""
        return self.reading.reference

    @property
    def beaten(self) -> str | None:
        """How many runs beat their reference, as text; None if none does."""
        return _beaten_words(self.frame["beaten"])

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return self.reading.line()

    def why_unranked(self, kernel: str) -> str | None:
        """Return why the arms are not ranked or tested under a kernel, None if they are.

        If runs of ranked arms beat their reference, Berthold's gap counts that as a loss.
        """
        if parse_kernel(kernel).code is not KernelCode.BERTHOLD:
            return None
        ranked = pl.col("arm").is_in(list(self.reading.instance_set.arms))
        runs = counted(beaten, "run") if (beaten := int(self.frame.filter(ranked)["beaten"].sum())) else None
        return runs and f"berthold counts beating the reference as a loss, and {runs} beat it: shown, not ranked"


def _beaten_words(beaten: pl.Series) -> str | None:
    count, these = int(beaten.sum()), "its reference" if beaten.sum() == 1 else "their references"
    return f"{count:,} of {counted(len(beaten), 'run')} beat{'s' if count == 1 else ''} {these}" if count else None


def goal_name(goal: float) -> str:
    """Return the column that holds the hitting times of a goal.

    >>> goal_name(0.01)
    'hit:0.01'
    """
    return f"hit:{shortest(goal)}"


def score(
    envelopes: Envelopes,
    snapshot: References,
    /,
    *,
    kernels: str | Kernel | Sequence[str | Kernel] = "squeezed",
    weight: Weight = "uniform",
    goals: float | Sequence[float] = DEFAULT_GOALS,
    tolerance: float = TOLERANCE,
    policy: str | None = None,
) -> Scores:
    """Score every run.

    Parameters
    ----------
    snapshot
        A positive reference for every instance: a snapshot, values by instance, or a file of them (`refs.csv`); all
        instances without one are listed before anything is scored.
    kernels, weight
        By name, one kernel or several; see `gapline.scoring.kernels` and `gapline.native.time_weights`. A weight may
        be a function of time.
    goals
        Raw gaps for which hitting times are computed, one or several.
    tolerance
        Relative differences up to this are ignored: when beating a reference, attaining a goal, or passing THETA of
        `dimacs:THETA`.
    policy
        How the reference came about; by default derived from the snapshot's dates.

    The third run of the paper's worked example, which ends below its reference:

    >>> import gapline as gl
    >>> trace = [(0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)]
    >>> run = {"arm": "a", "instance": "i", "seed": 3, "horizon": 30, "trace": trace}
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    >>> scores = gl.score(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="paper"), kernels=["squeezed", "raw"])
    >>> [round(value, 4) for value in scores.frame.select("squeezed", "raw", "final_gap").row(0)]
    [-0.1049, -0.16, -0.5]
    """
    return score_grid(
        envelopes, [snapshot], kernels=kernels, weights=[weight], goals=goals, tolerance=tolerance, policies=[policy]
    )[0]


def score_grid(
    envelopes: Envelopes,
    snapshots: Sequence[References],
    /,
    *,
    kernels: str | Kernel | Sequence[str | Kernel] = "squeezed",
    weights: Sequence[Weight] = ("uniform",),
    goals: float | Sequence[float] = DEFAULT_GOALS,
    tolerance: float = TOLERANCE,
    policies: Sequence[str | None] | None = None,
    statistics: Sequence[str] = (),
) -> tuple[Scores, ...]:
    """Score the same envelopes under several snapshots × weights: one `Scores` each, snapshots first, never pooled.

    `statistics` are user-defined numbers per run, which `open_study` has loaded: a column each.
    """
    expect(envelopes, Envelopes, "score")
    against = [as_snapshot(snapshot) for snapshot in several(snapshots)]
    check_tolerance(tolerance)
    goals = several(goals)
    parsed = [parse_kernel(kernel, tolerance=tolerance) for kernel in several(kernels)]
    names = [kernel.name for kernel in parsed]
    if len(set(names)) < len(names):
        raise UsageError(f"kernels: expected each once, got {names}")
    if len({*names, *statistics}) < len(names) + len(statistics):
        raise UsageError(f"statistics: expected each once, and none that is a kernel here, got {list(statistics)}")
    for goal in goals:
        if not (math.isfinite(goal) and goal > -1):
            raise UsageError(f"goal: expected a raw gap above -1, such as 0.01, got {goal}")
    labels = policies or [None] * len(against)
    # Two snapshots may disagree on an instance even if the runs state no digest of it.
    refuse_changed_instances(against, envelopes.runs)
    rewritten = rewritten_instances(against, envelopes.runs)
    readings = []
    for snapshot, policy in zip(against, labels, strict=True):
        references = reference_column(snapshot, envelopes)
        companions = _companions(envelopes, references, tuple(goals), tolerance)
        own = [run_statistic(name, envelopes, references) for name in statistics]
        label = label_reference(snapshot, envelopes, policy=policy)
        resolution = _resolution_notes(envelopes, references, parsed)
        for weight in map(as_weight, weights):
            matrix = integrate_envelopes(envelopes, references, kernels=parsed, weight=weight)
            reading = build_reading(
                envelopes, label, kernels=tuple(names), weight=weight, goals=tuple(goals), tolerance=tolerance,
                statistics=tuple(statistics),
            )  # fmt: skip
            lacking = _unreferenced_notes(label, reading.coverage.unreferenced)
            beside = (*_kernel_notes(parsed, companions), *_null_notes(own), *resolution, *rewritten)
            notes = (*envelopes.notes, *lacking, *beside, *_weight_notes(weight.name, reading.weight_error, parsed))
            table = _score_table(envelopes, parsed, matrix, [*own, *companions])
            readings.append(Scores(table, reading, notes, envelopes.rows.carried(table)))
    return tuple(readings)


def _companions(envelopes: Envelopes, references: Floats, goals: tuple[float, ...], tolerance: float) -> pl.DataFrame:
    raw, squeezed = final_gaps(envelopes, references)
    hits = hitting_times(envelopes, references, goals, tolerance)
    return pl.DataFrame(
        {
            "reference": _nullable(references),
            "final_gap": _nullable(raw),
            "final_squeezed": _nullable(squeezed),
            "first_time": _nullable(first_steps(envelopes)),
            **{goal_name(goal): hits[:, k] for k, goal in enumerate(goals)},
            "beaten": is_beaten(envelopes.worst_best, references, tolerance),
        }
    )


def _nullable(values: Floats) -> pl.Series:
    """Return a column with null instead of NaN."""
    return pl.Series(values, dtype=pl.Float64).fill_nan(None)


def _score_table(
    envelopes: Envelopes, kernels: list[Kernel], matrix: Floats, companions: Sequence[pl.Series]
) -> pl.DataFrame:
    scores = [_nullable(matrix[:, k]).alias(kernel.name) for k, kernel in enumerate(kernels)]
    taken = {series.name for series in (*scores, *companions)}
    runs = envelopes.runs.drop("first", "count").drop(taken & set(envelopes.runs.columns))
    head = ["arm", "panel", "instance", "seed", "horizon", "announced", "status"]
    rest = [name for name in runs.columns if name not in head]
    return pl.DataFrame([*runs.select(head), *scores, *companions, *runs.select(rest)])


def _resolution_notes(envelopes: Envelopes, references: Floats, kernels: list[Kernel]) -> list[str]:
    """Return a note on how far coarse stamps may have moved the uniform scores."""
    bounded = [kernel for kernel in kernels if kernel.before is not None]
    runs = envelopes.runs
    if "resolution" not in runs.columns or not (runs["resolution"].fill_null(0.0) > 0).any() or not bounded:
        return []
    bound = resolution_bound(envelopes, references, kernel=bounded[0])
    coarse = float(runs["resolution"].max())  # type: ignore[arg-type]
    return [
        f"stamps may be off by up to {coarse:g}: the uniform {bounded[0].name} score of a run may be off by at "
        f"most {bound.max():.2g}, their mean by {bound.mean():.2g}"
    ]


def _weight_notes(name: str, error: float | None, kernels: list[Kernel]) -> list[str]:
    """Return a note on how far a numerically integrated weight may have moved the scores."""
    if error is None:
        return []
    off = [(kernel.name, score_error(kernel, error)) for kernel in kernels]
    words = [f"{kernel} off by at most {error_bound(bound)}" for kernel, bound in off if bound is not None]
    most = error_bound(error)
    words += [f"{kernel} by {most} times the range of its gaps" for kernel, bound in off if bound is None]
    return [f"weight {name} is a function, integrated numerically to {most} of its whole: {', '.join(words)}"]


def _null_notes(statistics: Sequence[pl.Series]) -> list[str]:
    return [
        f"{one.name} is None for {counted(one.null_count(), 'run')}: a group that has one has no mean of it"
        for one in statistics
        if one.null_count()
    ]


def _unreferenced_notes(label: ReferenceLabel, runs: int) -> list[str]:
    """Return a note on instances without a reference, which no run solved and which score the worst value."""
    if not label.unreferenced:
        return []
    named, one = listing(label.unreferenced), len(label.unreferenced) == 1
    return [
        f"{counted(len(label.unreferenced), 'instance')} without reference: nobody solved {'it' if one else 'them'} "
        f"({named}); {'its' if one else 'their'} {counted(runs, 'run')} "
        f"score{'s' if runs == 1 else ''} the worst value (a raw score is null)"
    ]


def _kernel_notes(kernels: list[Kernel], companions: pl.DataFrame) -> list[str]:
    notes = []
    if (words := _beaten_words(companions["beaten"])) is not None:
        notes.append(words)
        if any(kernel.code is KernelCode.BERTHOLD for kernel in kernels):
            notes.append("berthold counts beating the reference as a loss: scores of these runs are too high")
    if apart := int((companions["final_gap"].is_null() & companions["first_time"].is_not_null()).sum()):
        notes.append(f"runs that end apart from a reference of 0, so without a relative final gap: {apart:,}")
    overflowed = int(companions["final_gap"].is_infinite().sum())
    if overflowed:
        notes.append(f"the raw final gap overflows in {overflowed:,} runs")
    return notes

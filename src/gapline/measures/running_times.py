"""Running times: ERT, success rate, target ECDF, PAR-k, performance and data profiles."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from gapline.contract.reading import TOLERANCE
from gapline.contract.result_table import ResultTable
from gapline.contract.tables import PENALISED_TIMES, RUNNING_TIMES
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.native.arrays import Floats
from gapline.references.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.run_references import reference_column
from gapline.scoring.weighting import run_weights, share_steps
from gapline.statistics.cells import CellIndex, build_cells

TARGETS = tuple(float(goal) for goal in np.logspace(-4, 0, 41))


def expected_running_time(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goals: Sequence[float] = (0.01,), tolerance: float = TOLERANCE
) -> pl.DataFrame:
    """Return ERT = (time spent by all runs until success or the horizon) / (number of successes).

    One row per arm and goal. ERT is the expected time to a first success when a solver is restarted at the horizon.
    Seconds; smaller is better.

    Missing incumbents: an empty run spends its whole horizon and never succeeds, like any run that misses the goal, so
    it increases the ERT; without any success there is no ERT (null), where cocopp says infinity. Beaten references: a
    run below its reference attains every goal of 0 or more; how far below has no effect. All runs of a group count
    equally.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(2, 10.0)]), (2, [(4, 10.0)]), (3, []))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> expected_running_time(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"))["ert"].to_list()
    [8.0]
    """
    hits, horizons = hits_and_horizons(envelopes, snapshot, goals, tolerance)
    spent = np.where(np.isfinite(hits), hits, horizons[:, None])
    rows = []
    for (arm,), chosen in group_rows(envelopes.runs, ["arm"]):
        for column, goal in enumerate(goals):
            total = float(spent[chosen, column].sum())
            successes = int(np.isfinite(hits[chosen, column]).sum())
            ert = total / successes if successes else None
            rows.append((arm, float(goal), len(chosen), successes, successes / len(chosen), ert, total))
    return pl.DataFrame(rows, schema=RUNNING_TIMES, orient="row")


def target_ecdf(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = TARGETS,
    weighting: str = "panel",
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return the empirical distribution of hitting times over runs and a grid of goals, all goals weighted equally.

    Step curves: arm, time, value; `value` is the share of (run, goal) pairs attained by then.

    Missing incumbents: an empty run attains no goal and stays in the denominator. Beaten references: goals are raw gaps
    of 0 or more by default, so going below the reference adds nothing; declare negative goals to see it. Where horizons
    differ, time is relative to each run's own.
    """
    if not goals:
        raise UsageError("target ECDF: expected goals, got none")
    hits, horizons = hits_and_horizons(envelopes, snapshot, goals, tolerance)
    if len(np.unique(horizons)) > 1:
        hits = hits / horizons[:, None]
    weights = run_weights(envelopes.runs, by=["arm"], weighting=weighting)
    frames = []
    for (arm,), rows in group_rows(envelopes.runs, ["arm"]):
        shares = np.repeat(weights[rows] / len(goals), len(goals))
        times, value = share_steps(hits[rows].ravel(), shares, start=0.0)
        frames.append(pl.DataFrame({"time": times, "value": value}).select(pl.lit(arm).alias("arm"), "time", "value"))
    return pl.concat(frames)


def hits_and_horizons(
    envelopes: Envelopes, snapshot: Snapshot, goals: Sequence[float], tolerance: float = TOLERANCE
) -> tuple[Floats, Floats]:
    """Return hitting times, runs × goals (infinite where never attained), and the horizon of each run."""
    references = reference_column(snapshot, envelopes)
    return hitting_times(envelopes, references, goals, tolerance), envelopes.runs["horizon"].to_numpy()


def penalised_mean(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = (0.01,),
    factor: float = 10.0,
    shift: float | None = None,
    weighting: str = "panel",
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return PAR-k: the mean time to a goal, where a run that misses it counts as `factor` times its horizon.

    With `shift` it is the shifted geometric mean, exp(mean ln(t + shift)) - shift; `arm_averages` has that of scores.

    Missing incumbents: an empty run is a miss like any other, so it costs the penalty, which is a choice of the analyst
    and often decides the ranking; a factor of 1, the time limit, understates it. Beaten references: the goal counts as
    attained, and further improvement has no effect. Unbalanced cells: each mean is over the instances that the arm ran.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(2, 10.0)]), (2, []))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> penalised_mean(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"))["mean"].to_list()
    [51.0]
    """
    if not (math.isfinite(factor) and factor >= 1):
        raise UsageError(f"factor: expected 1 or more, got {factor}")
    if shift is not None and not (math.isfinite(shift) and shift > 0):
        raise UsageError(f"shift: expected a positive number, got {shift}")
    hits, horizons = hits_and_horizons(envelopes, snapshot, goals, tolerance)
    missed = ~np.isfinite(hits)
    times = np.where(missed, factor * horizons[:, None], hits)
    weights = run_weights(envelopes.runs, by=["arm"], weighting=weighting)
    rows = []
    for (arm,), chosen in group_rows(envelopes.runs, ["arm"]):
        for column, goal in enumerate(goals):
            t, w = times[chosen, column], weights[chosen]
            mean = float(t @ w) if shift is None else math.exp(float(np.log(t + shift) @ w)) - shift
            rows.append((arm, float(goal), len(chosen), int(missed[chosen, column].sum()), mean))
    return pl.DataFrame(rows, schema=PENALISED_TIMES | {"mean": pl.Float64()}, orient="row")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Profiles(ResultTable):
    """Step curves: arm, x (a ratio, or seconds), value: the share of instances solved within x."""

    goal: float
    instances: int
    kind: str

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return f"{self.kind} profile over {self.instances} instances, time to a raw gap of {self.goal:g}"


def instance_times(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goal: float = 0.01, tolerance: float = TOLERANCE
) -> tuple[CellIndex, Floats]:
    """Return, arms × units, the expected running time to the goal on each instance; infinite if never attained."""
    hits, horizons = hits_and_horizons(envelopes, snapshot, [goal], tolerance)
    cells = build_cells(envelopes.runs)
    success = np.isfinite(hits[:, 0])
    counts = cells.counts()
    spent = np.where(counts > 0, cells.instance_means(np.where(success, hits[:, 0], horizons)) * counts, 0.0)
    successes = cells.counts(success)
    times = np.full(counts.shape, np.inf)
    np.divide(spent, successes, out=times, where=successes > 0)
    return cells, times


def performance_profile(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goal: float = 0.01, tolerance: float = TOLERANCE
) -> Profiles:
    """Return, for each arm, the share of instances on which its time to the goal is at most x times the best arm's.

    The time of an arm on an instance is its expected running time over the seeds. Missing incumbents: an instance that
    an arm never solves has no ratio and stays in the denominator; one that no arm solves counts as unsolved for all.
    Beaten references count as solved, whatever the distance. A best time of 0 gives ratio 1 to the arms that match it
    and no finite ratio to the others. Adding an arm can change the curves of the others: ratios are to the best of this
    set.
    """
    cells, times = instance_times(envelopes, snapshot, goal=goal, tolerance=tolerance)
    best = times.min(axis=0)
    ratios = np.full(times.shape, np.inf)
    with np.errstate(over="ignore", invalid="ignore"):
        np.divide(times, best, out=ratios, where=np.isfinite(times) & (best > 0))
    # Also if the best time is 0, where there is nothing to divide by.
    ratios[np.isfinite(times) & (times == best)] = 1.0
    return Profiles(_steps(cells, ratios, start=1.0), goal, len(cells.units), "performance")


def data_profile(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goal: float = 0.01, unit: float = 1.0, tolerance: float = TOLERANCE
) -> Profiles:
    """Return, for each arm, the share of instances solved within x units of time (`unit` seconds each).

    Missing incumbents and beaten references as in `performance_profile`; no arm's curve depends on another's.
    """
    cells, times = instance_times(envelopes, snapshot, goal=goal, tolerance=tolerance)
    return Profiles(_steps(cells, times / unit, start=0.0), goal, len(cells.units), "data")


def _steps(cells: CellIndex, values: Floats, *, start: float) -> pl.DataFrame:
    frames = []
    for row, arm in enumerate(cells.arms):
        finite = np.sort(values[row][np.isfinite(values[row])])
        x = np.unique(finite)
        share = np.searchsorted(finite, x, side="right") / len(cells.units)
        if not len(x) or x[0] > start:
            x, share = np.append(start, x), np.append(0.0, share)
        frames.append(pl.DataFrame({"x": x, "value": share}).with_columns(arm=pl.lit(arm)).select("arm", "x", "value"))
    return pl.concat(frames)

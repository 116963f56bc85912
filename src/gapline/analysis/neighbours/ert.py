"""Expected running time, success rate and target ECDF: how long until a goal, misses counted."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.reading import TOLERANCE, ReferenceLabel
from gapline.model.result_table import ResultTable
from gapline.model.tables import RUNNING_TIMES
from gapline.reference.choose import label_reference
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.reading import reference_column
from gapline.scoring.weighting import run_weights

Floats = NDArray[np.float64]
TARGETS = tuple(float(goal) for goal in np.logspace(-4, 0, 41))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RunningTimes(ResultTable):
    """One row per group and goal: runs, successes, success_rate, ert (null without a success), spent (seconds)."""

    reference: ReferenceLabel

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return f"expected running time to raw gap goals, against {self.reference}"


def expected_running_time(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = (0.01,),
    by: str | Sequence[str] = "arm",
    policy: str | None = None,
    tolerance: float = TOLERANCE,
) -> RunningTimes:
    """Return ERT = (time spent by all runs until success or the horizon) / (number of successes).

    It is the expected time to a first success when a solver is restarted at the horizon. Seconds; smaller is better.

    Missing incumbents: an empty run spends its whole horizon and succeeds never, like any run that misses the goal, so
    the ERT grows by it; without any success there is no ERT (null), where cocopp says infinity. Beaten references: a
    run below its reference attains every goal of 0 or more; how far below does not show. Runs of a group count alike.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": t}
    ...         for s, t in ((1, [(2, 10.0)]), (2, [(4, 10.0)]), (3, []))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> expected_running_time(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine")).frame["ert"].to_list()
    [8.0]
    """
    groups = [by] if isinstance(by, str) else list(by)
    hits, horizons = hits_and_horizons(envelopes, snapshot, goals, tolerance)
    spent = np.where(np.isfinite(hits), hits, horizons[:, None])
    rows = []
    for key, chosen in group_rows(envelopes.runs, groups):
        for column, goal in enumerate(goals):
            total = float(spent[chosen, column].sum())
            successes = int(np.isfinite(hits[chosen, column]).sum())
            ert = total / successes if successes else None
            rows.append((*key, float(goal), len(chosen), successes, successes / len(chosen), ert, total))
    schema = {name: envelopes.runs.schema[name] for name in groups} | RUNNING_TIMES
    return RunningTimes(
        pl.DataFrame(rows, schema=schema, orient="row"), label_reference(snapshot, envelopes, policy=policy)
    )


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TargetEcdf(ResultTable):
    """Step curves: group, time, value; `value` is the share of (run, goal) pairs attained by then."""

    goals: tuple[float, ...]
    weighting: str
    reference: ReferenceLabel

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"share of {len(self.goals)} raw gap goals from {min(self.goals):g} to {max(self.goals):g} attained over "
            f"time, {self.weighting}-equal, against {self.reference}"
        )


def target_ecdf(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    goals: Sequence[float] = TARGETS,
    by: str | Sequence[str] = "arm",
    weighting: str = "panel",
    relative: bool | None = None,
    policy: str | None = None,
    tolerance: float = TOLERANCE,
) -> TargetEcdf:
    """Return the empirical distribution of hitting times over runs and a grid of goals, every goal alike.

    Missing incumbents: an empty run attains no goal and stays in the denominator. Beaten references: goals are raw gaps
    of 0 or more by default, so going below the reference adds nothing; declare negative goals to see it. Where horizons
    differ, time is relative to each run's own.
    """
    groups = [by] if isinstance(by, str) else list(by)
    if not goals:
        raise UsageError("target ECDF: expected goals, got none")
    hits, horizons = hits_and_horizons(envelopes, snapshot, goals, tolerance)
    if relative or (relative is None and len(np.unique(horizons)) > 1):
        hits = hits / horizons[:, None]
    weights = run_weights(envelopes.runs, by=groups, weighting=weighting)
    frames = []
    for key, rows in group_rows(envelopes.runs, groups):
        times = hits[rows].ravel()
        shares = np.repeat(weights[rows] / len(goals), len(goals))
        reached = np.isfinite(times)
        times, shares = times[reached], shares[reached]
        order = np.lexsort((shares, times))
        times, value = times[order], np.minimum(np.cumsum(shares[order]), 1.0)
        last = np.append(times[1:] != times[:-1], True) if len(times) else reached[:0]
        times, value = times[last], value[last]
        if not len(times) or times[0] > 0:
            times, value = np.append(0.0, times), np.append(0.0, value)
        named = [pl.lit(cell).alias(name) for name, cell in zip(groups, key, strict=True)]
        frames.append(
            pl.DataFrame({"time": times, "value": value}).with_columns(*named).select(*groups, "time", "value")
        )
    return TargetEcdf(
        pl.concat(frames), tuple(goals), str(weighting), label_reference(snapshot, envelopes, policy=policy)
    )


def hits_and_horizons(
    envelopes: Envelopes, snapshot: Snapshot, goals: Sequence[float], tolerance: float = TOLERANCE
) -> tuple[Floats, Floats]:
    """Return hitting times, runs × goals (infinite where never attained), and the horizon of each run."""
    references = reference_column(snapshot, envelopes)
    return hitting_times(envelopes, references, goals, tolerance), envelopes.runs["horizon"].to_numpy()

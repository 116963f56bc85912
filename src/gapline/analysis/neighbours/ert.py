"""Expected running time, success rate and target ECDF: how long until a goal, misses counted."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.model.reading import TOLERANCE
from gapline.model.tables import RUNNING_TIMES
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.endpoints import hitting_times
from gapline.scoring.reading import reference_column
from gapline.scoring.weighting import run_weights, share_steps

Floats = NDArray[np.float64]
TARGETS = tuple(float(goal) for goal in np.logspace(-4, 0, 41))


def expected_running_time(
    envelopes: Envelopes, snapshot: Snapshot, /, *, goals: Sequence[float] = (0.01,), tolerance: float = TOLERANCE
) -> pl.DataFrame:
    """Return ERT = (time spent by all runs until success or the horizon) / (number of successes).

    One row per arm and goal.
    It is the expected time to a first success when a solver is restarted at the horizon. Seconds; smaller is better.

    Missing incumbents: an empty run spends its whole horizon and succeeds never, like any run that misses the goal, so
    the ERT grows by it; without any success there is no ERT (null), where cocopp says infinity. Beaten references: a
    run below its reference attains every goal of 0 or more; how far below does not show. Runs of a group count alike.

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
    """Return the empirical distribution of hitting times over runs and a grid of goals, every goal alike.

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

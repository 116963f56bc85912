"""Cumulative distributions: final gaps, performance profiles and data profiles."""

import numpy as np
import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.measures.running_times import Profiles
from gapline.report.curve_figure import MANY_RUNS, CurveFigure, thin_curves, thinning_note
from gapline.report.numbers import goal_words
from gapline.scoring.curve import group_rows
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import run_weights, share_steps

# The axis is cut if the last few runs would squeeze all others against its left end.
CUT_SHARE, CUT_FACTOR = 0.98, 2.0


def final_gap_figure(scores: Scores, *, weighting: str = "panel") -> CurveFigure:
    """Return the distribution of final raw gaps, one step curve per arm; with empty runs it ends below 1."""
    frame = scores.frame
    # Empty runs have an infinite gap: they are beyond every x, but their weight still counts.
    gaps = frame["final_gap"].fill_null(np.inf).to_numpy()
    weights = run_weights(frame, by=["arm"], weighting=weighting)
    finite = gaps[np.isfinite(gaps)]
    low = float(finite.min(initial=0.0))
    high = float(finite.max(initial=0.0))
    cut = float(np.quantile(finite, CUT_SHARE)) if len(finite) else 0.0
    # A cut is only worth its note if it at least halves the axis.
    shortened = high > CUT_FACTOR * cut > 0
    end = cut if shortened else high if high > low else low + 0.01
    parts = []
    for (arm,), rows in group_rows(frame, ["arm"]):
        x, share = share_steps(gaps[rows], weights[rows])
        share = np.append(0.0, share)
        steps = {"time": np.append(np.append(low, x), max(end, high)), "value": np.append(share, share[-1])}
        parts.append(pl.DataFrame({"series": [arm] * (len(x) + 2), **steps}))
    empty = int((frame["steps"] == 0).sum())
    note = f"; axis cut at {100 * end:.2g} %, the largest gap is {100 * high:.3g} %" if shortened else ""
    whole = pl.concat(parts)
    data = thin_curves(whole)
    return CurveFigure(
        data=data,
        title="Final gaps: further left and higher is better",
        caption=(
            f"share of runs that ended within x of the reference, {weighting}-equal, against {scores.reference}; "
            f"{empty:,} of {frame.height:,} runs are empty and never count as within{note}"
            + thinning_note(whole, data, many=MANY_RUNS)
        ),
        time_title="raw final gap (z − z*) / z*",
        value_title="share of runs",
        start=low,
        end=end,
        percent_time=True,
        shares=True,
    )


def profile_figure(profiles: Profiles, reference: ReferenceLabel) -> CurveFigure:
    """Return the profile of every arm, extended to the largest ratio of any arm."""
    ratio = profiles.kind == "performance"
    highest = profiles.frame["x"].max()
    end = float(highest) if isinstance(highest, float) else 1.0
    # If every arm is very close to the best, a logarithmic axis from 1 to 1 would be empty.
    end = max(end * 1.05, 2.0) if ratio else end
    curves = profiles.frame.select(series="arm", time="x", value="value")
    goal = goal_words(profiles.goal)
    return CurveFigure(
        data=thin_curves(curves, end=end),
        title=f"Performance profile: time to {goal}, further left and higher is better"
        if ratio
        else f"Data profile: time to {goal}",
        caption=(
            f"share of {profiles.instances} instances on which an arm's expected time to a raw gap of {goal} is at "
            f"most {'x times that of the best arm' if ratio else 'x'}; against {reference}; instances never solved "
            "stay in the denominator"
        ),
        time_title="ratio to the best arm" if ratio else "time (s)",
        value_title="share of instances",
        log_time=ratio,
        shares=True,
        start=1.0 if ratio else 0.0,
        end=end,
    )

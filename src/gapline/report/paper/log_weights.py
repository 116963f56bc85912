"""Figures early-log and end-log: logarithmic time weights on the worked example and on the pair of equal scores."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.report.drawing import alt, small_title, step_lines, titled, zero_line
from gapline.report.figures.sweeps import cutoff_lines
from gapline.report.paper.examples import (
    HORIZON,
    PAIR,
    WORKED,
    Trace,
    example_envelopes,
    example_snapshot,
    gap_steps,
    run_look,
)
from gapline.study.cutoff_sweep import weighted_curves
from gapline.study.horizon_sweep import horizon_sweep

CUTOFFS = (0.01, 0.1, 1.0)
# Rounded, so that it contains the few cutoffs above.
SWEEP = tuple(float(f"{value:.6g}") for value in np.geomspace(0.01, 10.0, 61))


class WeightFigure(NamedTuple):
    """`gaps`: series, time, value; `scores`: series, weight, value; `sweep`: series, cutoff, value; uniform scores."""

    gaps: pl.DataFrame
    scores: pl.DataFrame
    sweep: pl.DataFrame
    uniform: pl.DataFrame


def weight_figure(kind: str, traces: dict[str, Trace]) -> WeightFigure:
    """Score the runs uniformly and under `early-log` or `end-log` at several cutoffs."""
    envelopes, snapshot = example_envelopes(traces), example_snapshot()
    horizons = horizon_sweep(envelopes, snapshot)
    arms = list(horizons.curves)
    uniform = pl.DataFrame({"series": arms, "value": [float(horizons.curves[arm].at(HORIZON)) for arm in arms]})
    # Compute the few named cutoffs and the many between them in one pass over each curve.
    cutoffs = sorted({*CUTOFFS, *SWEEP})
    swept = pl.DataFrame(
        [
            (arm, cutoff, float(score))
            for cutoff, row in zip(cutoffs, weighted_curves(horizons, arms, kind, cutoffs), strict=True)
            for arm, score in zip(arms, row, strict=True)
        ],
        schema={"series": pl.String, "cutoff": pl.Float64, "value": pl.Float64},
        orient="row",
    ).sort("series", "cutoff")
    few = swept.filter(pl.col("cutoff").is_in(CUTOFFS)).sort("cutoff")
    named = pl.Series([f"{kind}:{cutoff:g}" for cutoff in few["cutoff"]], dtype=pl.String)
    return WeightFigure(
        gaps=pl.concat(gap_steps(name, trace, "squeezed") for name, trace in traces.items()),
        scores=pl.concat(
            part.select("series", name.alias("weight"), "value")
            for part, name in ((uniform, pl.lit("uniform")), (few, named))
        ),
        sweep=swept,
        uniform=uniform,
    )


def draw_early() -> Any:
    """Draw the gaps of the worked example on logarithmic time, its scores at three cutoffs, and over all cutoffs."""
    figure = weight_figure("early-log", WORKED)
    return titled(
        _panels(figure, pl.col("time"), "time (s), logarithmic", ["(a) gaps on a logarithmic axis", "(b) ", "(c) "]),
        "Early weighting: startup counts, and so does the cutoff",
        "the worked example, squeezed gap; early-log weighs 1/t from a cutoff on; the cutoff shifts every score and "
        "turns the sign of Run 3",
        width=860,
    )


def draw_end() -> Any:
    """Draw the worked example and the pair of equal scores on reversed logarithmic remaining time, with the scores."""
    figures = [weight_figure("end-log", traces) for traces in (WORKED, PAIR)]
    left = (HORIZON - pl.col("time"), "time left (s), logarithmic")
    rows = [
        _panels(figure, *left, [name, "", ""], reverse=True)
        for figure, name in zip(figures, ("(a) the worked example", "(b) equal uniform scores"), strict=True)
    ]
    chart = alt.vconcat(*rows, spacing=18)
    return titled(
        chart.resolve_scale(color="independent", strokeDash="independent"),
        "End weighting: the deadline counts",
        "squeezed gap; end-log weighs 1/(time left) up to a cutoff before the horizon; small cutoffs pull every score "
        "towards the final gap, and part two runs whose uniform scores are equal",
        width=860,
    )


def _panels(figure: WeightFigure, time: pl.Expr, title: str, titles: list[str], *, reverse: bool = False) -> Any:
    """Draw the gaps, the scores at a few cutoffs and the scores at every cutoff, side by side."""
    names = figure.uniform["series"].to_list()
    look = run_look(names)
    colour, score = look["color"], alt.Y("value:Q", title="score")
    # A logarithmic axis has no 0: draw values at 0 from the smallest cutoff on.
    first = min(CUTOFFS)
    ticks = alt.Axis(values=[0.01, 0.1, 1, 10, 30] if reverse else [0.01, 0.1, 1, 10], format="~g")
    # Vega-Lite accepts `reverse` of a scale only if it is true or absent.
    scale = alt.Scale(type="log", domain=[first, HORIZON], nice=False, reverse=True if reverse else alt.Undefined)
    gaps = step_lines(
        figure.gaps.with_columns(shown=time.clip(lower_bound=first)), width=2.5, clip=True, order="time:Q",
        x=alt.X("shown:Q", title=title, scale=scale, axis=ticks), y=alt.Y("value:Q", title="squeezed gap"), **look,
    )  # fmt: skip
    weights = list(dict.fromkeys(figure.scores["weight"].to_list()))
    x = alt.X("weight:N", sort=weights, title=None, axis=alt.Axis(labelAngle=-35))
    dots = alt.Chart(figure.scores).mark_point(filled=True, size=80, opacity=1)
    dots = dots.encode(x=x, y=score, color=colour, shape=alt.Shape("series:N", legend=None))
    swept = cutoff_lines(
        figure.sweep.rename({"value": "score"}), figure.uniform.rename({"value": "score"}), arm="series",
        title="cutoff (s)", value="score", look={"color": colour},
    )  # fmt: skip
    parts = (
        (300, gaps, titles[0]),
        (170, alt.layer(zero_line(), dots), f"{titles[1]}scores"),
        (220, swept, f"{titles[2]}by cutoff, thin: uniform"),
    )
    charts = [part.properties(width=width, height=200, title=small_title(text)) for width, part, text in parts]
    return alt.hconcat(*charts, spacing=26)

"""Figures early-log and end-log: logarithmic time weights on the worked example and on the pair of equal scores."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from gapline.paper.examples import HORIZON, PAIR, WORKED, Trace, example_envelopes, example_snapshot
from gapline.paper.steps import gap_steps
from gapline.report.drawing import load_altair, titled
from gapline.scoring.scores import score_grid

CUTOFFS = (0.01, 0.1, 1.0)
SWEEP = tuple(float(f"{value:.6g}") for value in np.geomspace(0.01, 10.0, 61))
_RANGE = {
    "Run 1": "#000000",
    "Run 2": "#D55E00",
    "Run 3": "#0072B2",
    "early, then flat": "#D55E00",
    "late, then better": "#0072B2",
}
_DASH = {"Run 1": [1, 3], "Run 2": [6, 3], "Run 3": [1, 0], "early, then flat": [6, 3], "late, then better": [1, 0]}


@dataclass(frozen=True, slots=True)
class WeightFigure:
    """`gaps`: series, time, value; `scores`: series, weight, value; `sweep`: series, cutoff, value; uniform scores."""

    kind: str
    gaps: pl.DataFrame
    scores: pl.DataFrame
    sweep: pl.DataFrame
    uniform: pl.DataFrame


def weight_figure(kind: str, traces: dict[str, Trace]) -> WeightFigure:
    """Score the runs uniformly and under `early-log` or `end-log` at several cutoffs."""
    weights = ["uniform", *(f"{kind}:{cutoff:g}" for cutoff in (*CUTOFFS, *SWEEP))]
    rows = []
    for reading in score_grid(example_envelopes(traces), [example_snapshot()], weights=weights):
        rows += [
            (arm, reading.reading.weight, value) for arm, value in reading.frame.select("arm", "squeezed").iter_rows()
        ]
    table = pl.DataFrame(rows, schema={"series": pl.String, "weight": pl.String, "value": pl.Float64}, orient="row")
    table = table.unique(maintain_order=True)
    few = ["uniform", *(f"{kind}:{cutoff:g}" for cutoff in CUTOFFS)]
    swept = table.filter(pl.col("weight") != "uniform").with_columns(
        cutoff=pl.col("weight").str.split(":").list.last().cast(pl.Float64)
    )
    return WeightFigure(
        kind=kind,
        gaps=pl.concat(gap_steps(name, trace, "squeezed") for name, trace in traces.items()),
        scores=table.filter(pl.col("weight").is_in(few)),
        sweep=swept.select("series", "cutoff", "value").sort("series", "cutoff"),
        uniform=table.filter(pl.col("weight") == "uniform").select("series", "value"),
    )


def early_figure() -> WeightFigure:
    """Return the worked example under early-log weights."""
    return weight_figure("early-log", WORKED)


def end_figures() -> tuple[WeightFigure, WeightFigure]:
    """Return the worked example and the pair of equal scores under end-log weights."""
    return weight_figure("end-log", WORKED), weight_figure("end-log", PAIR)


def draw_early(figure: WeightFigure) -> Any:
    """Draw the gaps on logarithmic time, the scores at three cutoffs, and the sweep over the cutoff."""
    alt = load_altair()
    first = min(CUTOFFS)
    # A logarithmic axis has no 0: what holds at 0 is drawn from the smallest cutoff on.
    gaps = figure.gaps.with_columns(pl.col("time").clip(lower_bound=first))
    x = alt.X(
        "time:Q",
        title="time (s), logarithmic",
        scale=alt.Scale(type="log", domain=[first, HORIZON], nice=False),
        axis=alt.Axis(values=[0.01, 0.1, 1, 10], format="~g"),
    )
    left = _lines(gaps, x, "squeezed gap", interpolate="step-after").properties(
        width=300, height=230, title=_small("(a) gaps on a logarithmic axis")
    )
    return titled(
        alt.hconcat(left, _dots(figure, "(b) scores"), _sweep(figure, "(c) by cutoff, dashed: uniform"), spacing=26),
        "Early weighting: startup counts, and so does the cutoff",
        "the worked example, squeezed gap; early-log weighs 1/t from a cutoff on; the cutoff shifts every score and "
        "turns the sign of Run 3",
        width=860,
    )


def draw_end(worked: WeightFigure, pair: WeightFigure) -> Any:
    """Draw both sets of runs on reversed logarithmic remaining time, each with its scores."""
    alt = load_altair()
    rows = []
    for figure, letter, name in ((worked, "a", "the worked example"), (pair, "b", "equal uniform scores")):
        first = min(CUTOFFS)
        remaining = figure.gaps.with_columns(rest=(HORIZON - pl.col("time")).clip(lower_bound=first))
        x = alt.X(
            "rest:Q",
            title="time left (s), logarithmic",
            axis=alt.Axis(values=[0.01, 0.1, 1, 10, 30], format="~g"),
            scale=alt.Scale(type="log", domain=[first, HORIZON], nice=False, reverse=True),
        )
        left = _lines(remaining, x, "squeezed gap", interpolate="step-after").properties(
            width=300, height=200, title=_small(f"({letter}) {name}")
        )
        rows.append(
            alt.hconcat(left, _dots(figure, "scores"), _sweep(figure, "by cutoff, dashed: uniform"), spacing=26)
        )
    return titled(
        alt.vconcat(*rows, spacing=18).resolve_scale(color="independent", strokeDash="independent"),
        "End weighting: the deadline counts",
        "squeezed gap; end-log weighs 1/(time left) up to a cutoff before the horizon; small cutoffs pull every score "
        "towards the final gap, and part two runs whose uniform scores are equal",
        width=860,
    )


def _lines(data: pl.DataFrame, x: Any, title: str, *, interpolate: str) -> Any:
    alt = load_altair()
    return (
        alt.Chart(data)
        .mark_line(interpolate=interpolate, strokeWidth=2.5, clip=True)
        .encode(x=x, y=alt.Y("value:Q", title=title), color=_colour(data), strokeDash=_dash(data), order="time:Q")
    )


def _dots(figure: WeightFigure, title: str) -> Any:
    alt = load_altair()
    order = list(dict.fromkeys(figure.scores["weight"].to_list()))
    chart = (
        alt.Chart(figure.scores)
        .mark_point(filled=True, size=80, opacity=1)
        .encode(
            x=alt.X("weight:N", sort=order, title=None, axis=alt.Axis(labelAngle=-35)),
            y=alt.Y("value:Q", title="score"),
            color=_colour(figure.scores),
            shape=alt.Shape("series:N", legend=None),
        )
    )
    zero = alt.Chart(alt.Data(values=[{"y": 0}])).mark_rule(color="#444").encode(y="y:Q")
    return alt.layer(zero, chart).properties(width=170, height=200, title=_small(title))


def _sweep(figure: WeightFigure, title: str) -> Any:
    alt = load_altair()
    x = alt.X(
        "cutoff:Q",
        title="cutoff (s)",
        scale=alt.Scale(type="log", nice=False),
        axis=alt.Axis(values=[0.01, 0.1, 1, 10], format="~g"),
    )
    lines = (
        alt.Chart(figure.sweep)
        .mark_line(strokeWidth=2.5)
        .encode(x=x, y=alt.Y("value:Q", title="score"), color=_colour(figure.sweep))
    )
    base = (
        alt.Chart(figure.uniform)
        .mark_rule(strokeDash=[4, 3], strokeWidth=1.5)
        .encode(y="value:Q", color=_colour(figure.uniform))
    )
    return alt.layer(base, lines).properties(width=220, height=200, title=_small(title))


def _colour(data: pl.DataFrame) -> Any:
    alt = load_altair()
    names = [name for name in _RANGE if name in set(data["series"].to_list())]
    scale = alt.Scale(domain=names, range=[_RANGE[name] for name in names])
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeWidth=3)
    return alt.Color("series:N", sort=names, scale=scale, legend=legend)


def _dash(data: pl.DataFrame) -> Any:
    alt = load_altair()
    names = [name for name in _DASH if name in set(data["series"].to_list())]
    scale = alt.Scale(domain=names, range=[_DASH[name] for name in names])
    return alt.StrokeDash("series:N", sort=names, scale=scale, legend=alt.Legend(orient="bottom", title=None))


def _small(text: str) -> Any:
    return load_altair().TitleParams(text, fontSize=12, fontWeight="normal", anchor="start")

"""The drawings of the docs, made by gapline from the numbers that the pages work with."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import gapline as gl
from gapline import figures
from gapline.report.drawing import alt, line_look, step_lines, titled, zero_line
from gapline.report.paper.scale import draw_shapes, shape_figure
from gapline.report.paper.sensitivity import SYNTHETIC, draw_regimes, regime_figure, synthetic_study
from gapline.report.write import for_report

REFERENCE, HORIZON = 10.0, 20.0
# The run of docs/what-the-numbers-mean.md: time, objective, valid.
CANDIDATES = ((2, 30, True), (5, 12, False), (6, 15, True), (9, 17, True), (14, 6, True), (21, 5, True))
WEIGHTS = ("uniform", "early-log:1", "end-log:1", "steps:0=1,10=0.5")


def worked_envelopes(*, empty: bool = False) -> gl.Envelopes:
    """Return the worked run, beside an empty one if wanted."""
    traces = [CANDIDATES, ()][: 1 + empty]
    runs = [
        {"arm": "mine", "instance": "i1", "seed": seed, "horizon": HORIZON, "trace": list(trace)}
        for seed, trace in enumerate(traces, 1)
    ]
    return gl.build_envelopes(gl.Campaign.from_runs(runs))


def worked_snapshot(value: float = REFERENCE) -> gl.Snapshot:
    """Return its reference."""
    return gl.Snapshot.from_values({"i1": value}, name="worked example")


def draw_run() -> Any:
    """Draw the gap of the worked run with the area that is its score."""
    return figures.gap_area(worked_envelopes(), worked_snapshot(), arm="mine", instance="i1", seed=1)


def draw_weights() -> Any:
    """Draw the weights of the page as densities over the horizon."""
    t = np.linspace(0, HORIZON, 401)
    with np.errstate(divide="ignore"):
        early = np.where(t >= 1, 1 / t, 0) / np.log(HORIZON)
        end = np.where(t <= HORIZON - 1, 1 / (HORIZON - t), 0) / np.log(HORIZON)
    values = (np.full(len(t), 1 / HORIZON), early, end, np.where(t < HORIZON / 2, 1.0, 0.5) / 15)
    frame = pl.concat(
        pl.DataFrame({"time": t, "value": value}).with_columns(weight=pl.lit(name))
        for name, value in zip(WEIGHTS, values, strict=True)
    )
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    y = alt.Y("value:Q", title="share of the score per second", scale=alt.Scale(domain=[0, 0.35]))
    lines = alt.Chart(frame).mark_line(strokeWidth=2, clip=True).encode(x=x, y=y, **line_look("weight", list(WEIGHTS)))
    caption = "The area under each line is 1; where it is high, a gap costs most"
    return titled(lines.properties(width=620, height=240), "Which moments count", caption)


def draw_companions() -> Any:
    """Draw the mean curve and the attainment of the worked run and an empty one."""
    both, known = worked_envelopes(empty=True), worked_snapshot()
    return alt.vconcat(figures.mean_convergence(both, known), figures.attainment(both, known, goals=[0.5]), spacing=30)


def draw_policies() -> Any:
    """Draw the gap of the worked run against the reference before it, and against the best that is known after it."""
    envelopes = worked_envelopes()
    names = ["frozen: z* = 10", "analysis: z* = 6"]
    parts = []
    for name, known in zip(names, (worked_snapshot(), gl.analysis_snapshot(worked_snapshot(), envelopes)), strict=True):
        curve = gl.mean_curve(envelopes, known).frame.select("time", "value")
        end = curve.tail(1).with_columns(time=pl.lit(HORIZON))
        parts.append(pl.concat([curve, end]).with_columns(series=pl.lit(name)))
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    y = alt.Y("value:Q", title="squeezed gap", scale=alt.Scale(domain=[-0.3, 1]))
    lines = step_lines(pl.concat(parts)).encode(x=x, y=y, **line_look("series", names))
    chart = alt.layer(zero_line(), lines).properties(width=620, height=240)
    return titled(chart, "One run, two questions", "Scores 0.205 and 0.405: nothing but the reference is different")


def draw_two_readings() -> Any:
    """Draw the curves of the campaign that gapline makes up for the paper's figures, against two references."""
    return draw_regimes(regime_figure(for_report(synthetic_study()), source=SYNTHETIC))


DRAWINGS: dict[str, Callable[[], Any]] = {
    "definitions-run": draw_run,
    "definitions-kernels": lambda: draw_shapes(shape_figure()),
    "definitions-weights": draw_weights,
    "definitions-companions": draw_companions,
    "definitions-policies": draw_policies,
    "two-regimes": draw_two_readings,
}


def write_drawings(folder: Path) -> None:
    """Write every drawing as SVG into a folder."""
    for name, draw in DRAWINGS.items():
        figures.write(draw(), folder / f"{name}.svg")

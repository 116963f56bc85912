"""Figure companion: two runs with equal scores, different endpoints and different attainment."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.paper.examples import HORIZON, PAIR, example_envelopes, example_snapshot
from gapline.paper.steps import gap_steps
from gapline.report.drawing import load_altair, titled
from gapline.scoring.attainment import attainment_curve
from gapline.scoring.scores import score

GOALS = (0.1, 0.05)
_SHADES = ["#D55E00", "#0072B2"]
_DASHES = [[6, 3], [1, 0]]


@dataclass(frozen=True, slots=True)
class CompanionFigure:
    """`gaps`: series, time, value; `attained`: series, goal, time, value; `ends`: series, score, final_gap, text."""

    gaps: pl.DataFrame
    attained: pl.DataFrame
    ends: pl.DataFrame


def companion_figure() -> CompanionFigure:
    """Return both runs in the three views."""
    envelopes, snapshot = example_envelopes(PAIR), example_snapshot()
    scores = score(envelopes, snapshot).frame
    curves = attainment_curve(envelopes, snapshot, goals=GOALS).frame.rename({"arm": "series"})
    held = [
        pl.concat([part, part.tail(1).with_columns(time=pl.lit(HORIZON))])
        for part in curves.partition_by("series", "goal", maintain_order=True)
    ]
    return CompanionFigure(
        gaps=pl.concat(gap_steps(name, trace, "squeezed") for name, trace in PAIR.items()),
        attained=pl.concat(held),
        ends=scores.select(series="arm", score="squeezed", final_gap="final_gap").with_columns(
            text=pl.col("final_gap").map_elements(lambda gap: f"{100 * gap:g} %", return_dtype=pl.String)
        ),
    )


def draw_companion(figure: CompanionFigure) -> Any:
    """Draw gaps, final gaps and attainment side by side."""
    alt = load_altair()
    names = list(PAIR)
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeWidth=3)
    colour = alt.Color("series:N", sort=names, scale=alt.Scale(domain=names, range=_SHADES), legend=legend)
    dash = alt.StrokeDash("series:N", sort=names, scale=alt.Scale(domain=names, range=_DASHES), legend=legend)
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    equal = f"{figure.ends['score'][0]:.4f}"
    gaps = (
        alt.Chart(figure.gaps)
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(x=x, y=alt.Y("value:Q", title="squeezed gap"), color=colour, strokeDash=dash)
    )
    left = gaps.properties(width=300, height=230, title=_small(f"(a) area: both scores are {equal}"))
    bars = alt.Chart(figure.ends).encode(
        x=alt.X("series:N", sort=names, title=None, axis=None),
        y=alt.Y(
            "final_gap:Q",
            title="raw final gap",
            axis=alt.Axis(format="%", tickCount=4),
            scale=alt.Scale(domain=[0, 0.12]),
        ),
    )
    ends = alt.layer(bars.mark_bar(width=34).encode(color=colour), bars.mark_text(dy=-8).encode(text="text:N"))
    middle = ends.properties(width=110, height=230, title=_small("(b) endpoint"))
    panels = [left, middle]
    for letter, goal in zip("cd", GOALS, strict=True):
        mine = figure.attained.filter(pl.col("goal") == goal)
        curve = (
            alt.Chart(mine)
            .mark_line(interpolate="step-after", strokeWidth=2.5)
            .encode(
                x=x,
                y=alt.Y(
                    "value:Q", title="attained", axis=alt.Axis(values=[0, 1]), scale=alt.Scale(domain=[-0.05, 1.05])
                ),
                color=colour,
                strokeDash=dash,
            )
        )
        panels.append(curve.properties(width=190, height=230, title=_small(f"({letter}) within {100 * goal:g} %")))
    return titled(
        alt.hconcat(*panels, spacing=22),
        "Equal scores, different runs: why the score has companions",
        "two runs against z* = 10 over 30 s whose squeezed gaps have the same area; one is useful at once and stays "
        "10 % away, the other reaches the reference",
        width=840,
    )


def _small(text: str) -> Any:
    return load_altair().TitleParams(text, fontSize=12, fontWeight="normal", anchor="start")

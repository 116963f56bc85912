"""Figure companion: two runs with equal scores, different endpoints and different attainment."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.paper.examples import HORIZON, PAIR, example_envelopes, example_snapshot, run_look
from gapline.paper.steps import gap_steps
from gapline.report.curve_figure import held
from gapline.report.drawing import load_altair, small_title, step_lines, titled
from gapline.scoring.attainment import attainment_curve
from gapline.scoring.scores import score

GOALS = (0.1, 0.05)


@dataclass(frozen=True, slots=True)
class CompanionFigure:
    """`gaps`: series, time, value; `attained`: series, goal, time, value; `ends`: series, score, final_gap, text."""

    gaps: pl.DataFrame
    attained: pl.DataFrame
    ends: pl.DataFrame


def companion_figure() -> CompanionFigure:
    """Return both runs in the three views."""
    envelopes, snapshot = example_envelopes(PAIR), example_snapshot()
    curves = attainment_curve(envelopes, snapshot, goals=GOALS).frame.rename({"arm": "series"})
    ends = score(envelopes, snapshot).frame.select(series="arm", score="squeezed", final_gap="final_gap")
    return CompanionFigure(
        gaps=pl.concat(gap_steps(name, trace, "squeezed") for name, trace in PAIR.items()),
        attained=held(curves, "series", "goal", end=HORIZON),
        ends=ends.with_columns(text=pl.Series([f"{100 * gap:g} %" for gap in ends["final_gap"]])),
    )


def draw_companion(figure: CompanionFigure) -> Any:
    """Draw gaps, final gaps and attainment side by side."""
    alt = load_altair()
    look = run_look(list(PAIR), width=840)
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    gaps = step_lines(figure.gaps, width=2.5, x=x, y=alt.Y("value:Q", title="squeezed gap"), **look)
    equal = f"(a) area: both scores are {figure.ends['score'][0]:.4f}"
    final = alt.Y("final_gap:Q", title="raw final gap").axis(format="%", tickCount=4).scale(domain=[0, 0.12])
    bars = alt.Chart(figure.ends).encode(x=alt.X("series:N", sort=list(PAIR), title=None, axis=None), y=final)
    ends = alt.layer(bars.mark_bar(width=34).encode(color=look["color"]), bars.mark_text(dy=-8).encode(text="text:N"))
    panels = [
        gaps.properties(width=300, height=230, title=small_title(equal)),
        ends.properties(width=110, height=230, title=small_title("(b) endpoint")),
    ]
    # A little beyond 0 and 1: on the frame itself half of a line would be cut off.
    share = alt.Y("value:Q", title="attained").axis(values=[0, 1]).scale(domain=[-0.05, 1.05])
    for letter, goal in zip("cd", GOALS, strict=True):
        curve = step_lines(figure.attained.filter(pl.col("goal") == goal), width=2.5, x=x, y=share, **look)
        title = small_title(f"({letter}) within {100 * goal:g} %")
        panels.append(curve.properties(width=190, height=230, title=title))
    return titled(
        alt.hconcat(*panels, spacing=22),
        "Equal scores, different runs: why the score has companions",
        "two runs against z* = 10 over 30 s whose squeezed gaps have the same area; one is useful at once and stays "
        "10 % away, the other reaches the reference",
        width=840,
    )

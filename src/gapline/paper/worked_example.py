"""The paper's three runs: figure worked-example and its table."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.paper.examples import HORIZON, REFERENCE, WORKED, example_envelopes, example_snapshot
from gapline.paper.scale import KERNELS
from gapline.paper.steps import gap_steps, objective_steps
from gapline.report.drawing import COLOURS, DASHES, load_altair, titled
from gapline.report.numbers import number
from gapline.report.table import Column, Table, Text, one_part
from gapline.scoring.scores import Scores, score


@dataclass(frozen=True, slots=True)
class WorkedFigure:
    """`objectives`: series, time, value; `gaps`: run, series (kernel), time, value; `scores`: run -> Λ."""

    objectives: pl.DataFrame
    gaps: pl.DataFrame
    scores: dict[str, float]


def worked_scores() -> Scores:
    """Score the three runs under every kernel."""
    return score(example_envelopes(WORKED), example_snapshot(), kernels=KERNELS)


def worked_figure() -> WorkedFigure:
    """Return the trajectories, and the gaps of the two runs that have any."""
    gaps = [
        gap_steps(kernel, WORKED[run], kernel).with_columns(run=pl.lit(run))
        for run in ("Run 2", "Run 3")
        for kernel in KERNELS
    ]
    return WorkedFigure(
        objectives=pl.concat(objective_steps(run, trace) for run, trace in WORKED.items()),
        gaps=pl.concat(gaps),
        scores=dict(worked_scores().frame.select("arm", "squeezed").iter_rows()),
    )


def draw_worked(figure: WorkedFigure) -> Any:
    """Draw the objectives above the gaps of runs 2 and 3."""
    alt = load_altair()
    runs = list(WORKED)
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    levels = pl.DataFrame(
        {
            "level": [REFERENCE, 1.1 * REFERENCE, 2 * REFERENCE],
            "text": ["z* = 10", "1.1 z* = 11", "2 z* = 20"],
            "dy": [5, -5, -5],
        }
    )
    rule = alt.Chart(levels).mark_rule(color="#888", strokeDash=[4, 3]).encode(y="level:Q")
    words = [
        alt.Chart(levels.filter(pl.col("dy") == dy))
        .mark_text(align="left", dy=dy, dx=6, color="#555", fontSize=11)
        .encode(y="level:Q", x=alt.value(700), text="text:N")
        for dy in (5, -5)
    ]
    named = {
        run: run if figure.objectives.filter(pl.col("series") == run).height else f"{run} (no incumbent)"
        for run in runs
    }
    labels = list(named.values())
    # A run without a step has no line; a row without a value keeps it in the legend.
    shown = pl.concat(
        [
            figure.objectives,
            pl.DataFrame({"series": ["Run 1"], "time": [0.0], "value": [None]}, schema=figure.objectives.schema),
        ]
    )
    shown = shown.with_columns(series=pl.col("series").replace(named))
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeWidth=3)
    lines = (
        alt.Chart(shown)
        .mark_line(interpolate="step-after", strokeWidth=2.5)
        .encode(
            x=x,
            y=alt.Y("value:Q", title="objective z", scale=alt.Scale(domain=[0, 32])),
            color=alt.Color(
                "series:N", scale=alt.Scale(domain=labels, range=["#000000", "#D55E00", "#0072B2"]), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "series:N", scale=alt.Scale(domain=labels, range=[[1, 3], [6, 3], [1, 0]]), legend=legend
            ),
        )
    )
    top = alt.layer(rule, *words, lines).properties(width=700, height=220, title=_small("(a) the three runs"))
    panels = [
        _gaps(figure, run, f"({letter}) gaps of {run}, Λ = {figure.scores[run]:.2f}".replace("-", "−"))
        for letter, run in (("b", "Run 2"), ("c", "Run 3"))
    ]
    below = alt.hconcat(*panels, spacing=30)
    return titled(
        alt.vconcat(top, below, spacing=20).resolve_scale(color="independent", strokeDash="independent"),
        "The worked example: three runs against z* = 10 over 30 s",
        "shaded, the signed area of the squeezed gap, darker where it counts negative; overlapping dashes are exact "
        "coincidences; berthold below the reference is outside its envelope, shown deliberately",
        width=720,
    )


def _gaps(figure: WorkedFigure, run: str, title: str) -> Any:
    alt = load_altair()
    mine = figure.gaps.filter(pl.col("run") == run)
    names = list(KERNELS)
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    domain = [0, 2.1] if run == "Run 2" else [-0.55, 0.55]
    y = alt.Y("value:Q", title="gap", scale=alt.Scale(domain=domain), stack=None)
    squeezed = mine.filter(pl.col("series") == "squeezed")
    above = squeezed.with_columns(pl.col("value").clip(lower_bound=0))
    below = squeezed.with_columns(pl.col("value").clip(upper_bound=0))
    areas = [
        alt.Chart(part).mark_area(interpolate="step-after", color="#0072B2", opacity=opacity).encode(x=x, y=y)
        for part, opacity in ((above, 0.15), (below, 0.45))
    ]
    legend = alt.Legend(orient="bottom", title=None, symbolType="stroke", symbolStrokeWidth=3, columns=6)
    lines = (
        alt.Chart(mine)
        .mark_line(interpolate="step-after", clip=True)
        .encode(
            x=x,
            y=y,
            color=alt.Color(
                "series:N", sort=names, scale=alt.Scale(domain=names, range=list(COLOURS[:6])), legend=legend
            ),
            strokeDash=alt.StrokeDash(
                "series:N", sort=names, scale=alt.Scale(domain=names, range=list(DASHES[:6])), legend=legend
            ),
            strokeWidth=alt.StrokeWidth(
                "series:N", sort=names, scale=alt.Scale(domain=names, range=[3.5, 3.5, 2, 2, 2, 1.5]), legend=None
            ),
        )
    )
    zero = alt.Chart(alt.Data(values=[{"y": 0}])).mark_rule(color="#444").encode(y="y:Q")
    return alt.layer(*areas, zero, lines).properties(width=335, height=240, title=_small(title))


def worked_table() -> Table:
    """Return the paper's table of the worked example; DIMACS on its ×100 scale."""
    scores = worked_scores()
    rows = []
    for row in scores.frame.sort("arm").iter_rows(named=True):
        events = ", ".join(f"({t:g},{z:g})" for t, z in WORKED[row["arm"]]) or "none"
        cells = [Text(row["arm"]), Text(events), Text(f"{row['steps'] == 0:d}")]
        cells += [Text(number(row[kernel], digits=2)) for kernel in ("squeezed", "maxform", "berthold")]
        cells += [Text(number(100 * row[kernel], digits=1)) for kernel in ("dimacs:1.1", "dimacs:2")]
        rows.append([*cells, Text(number(row["raw"], digits=2))])
    columns = (
        Column("run", "Run", text=True),
        Column("valid incumbent events (t, z)", "Valid incumbent events", text=True),
        Column("empty", "Empty"),
        Column("squeezed", r"$\Lambda$"),
        Column("maxform", r"$\Lambda_B$"),
        Column("berthold", "Berthold"),
        Column("DIMACS 1.1 ×100", r"$\theta{=}1.1$"),
        Column("DIMACS 2 ×100", r"$\theta{=}2$"),
        Column("raw", r"raw $\bar g$"),
    )
    return Table(
        name="worked-example",
        caption=f"Three runs against z* = {REFERENCE:g} over {HORIZON:g} s, smaller is better",
        columns=columns,
        parts=one_part(rows),
        frame=scores.frame.select("arm", "steps", *KERNELS, "final_gap").sort("arm"),
        notes=(
            "DIMACS on its ×100 scale. Berthold's score of Run 3 is outside its envelope. A dash marks a value "
            "that does not exist.",
        ),
    )


def _small(text: str) -> Any:
    return load_altair().TitleParams(text, fontSize=12, fontWeight="normal", anchor="start")

"""The paper's three runs: figure worked-example and its table."""

from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.paper.examples import HORIZON, REFERENCE, WORKED, example_envelopes, example_snapshot, run_look
from gapline.paper.scale import kernel_look
from gapline.paper.steps import gap_steps, objective_steps
from gapline.report.drawing import load_altair, small_title, step_lines, titled, zero_line
from gapline.report.numbers import number
from gapline.report.table import Column, Table, one_part
from gapline.scoring.convert import SCALE_KERNELS
from gapline.scoring.scores import Scores, score


@dataclass(frozen=True, slots=True)
class WorkedFigure:
    """`objectives`: series, time, value; `gaps`: run, series (kernel), time, value; `scores`: run -> Λ."""

    objectives: pl.DataFrame
    gaps: pl.DataFrame
    scores: dict[str, float]


def worked_scores() -> Scores:
    """Score the three runs under every kernel."""
    return score(example_envelopes(WORKED), example_snapshot(), kernels=SCALE_KERNELS)


def worked_figure() -> WorkedFigure:
    """Return the trajectories, and the gaps of the two runs that have any."""
    gaps = [
        gap_steps(kernel, WORKED[run], kernel).with_columns(run=pl.lit(run))
        for run in ("Run 2", "Run 3")
        for kernel in SCALE_KERNELS
    ]
    return WorkedFigure(
        objectives=pl.concat(objective_steps(run, trace) for run, trace in WORKED.items()),
        gaps=pl.concat(gaps),
        scores=dict(worked_scores().frame.select("arm", "squeezed").iter_rows()),
    )


def draw_worked(figure: WorkedFigure) -> Any:
    """Draw the objectives above the gaps of runs 2 and 3."""
    alt = load_altair()
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    levels = [(REFERENCE, "z* = 10", 5), (1.1 * REFERENCE, "1.1 z* = 11", -5), (2 * REFERENCE, "2 z* = 20", -5)]
    marks = [alt.Chart(alt.Data(values=[{"level": level, "text": text}])) for level, text, _ in levels]
    rules = [mark.mark_rule(color="#888", strokeDash=[4, 3]).encode(y="level:Q") for mark in marks]
    words = [
        mark.mark_text(align="left", dy=dy, dx=6, color="#555", fontSize=11)
        .encode(y="level:Q", x=alt.value("width"), text="text:N")
        for mark, (_, _, dy) in zip(marks, levels, strict=True)
    ]  # fmt: skip
    drawn = set(figure.objectives["series"])
    named = {run: run if run in drawn else f"{run} (no incumbent)" for run in WORKED}
    # A run without a step has no line; a row without a value keeps it in the legend.
    nothing = [{"series": run, "time": 0.0, "value": None} for run in WORKED if run not in drawn]
    shown = pl.concat([figure.objectives, pl.DataFrame(nothing, schema=figure.objectives.schema)])
    shown = shown.with_columns(series=pl.col("series").replace(named))
    y = alt.Y("value:Q", title="objective z", scale=alt.Scale(domain=[0, 32]))
    look = run_look(list(named.values()))
    lines = step_lines(shown, width=2.5, x=x, y=y, **look)
    top = alt.layer(*rules, *words, lines).properties(width=700, height=220, title=small_title("(a) the three runs"))
    panels = [
        _gaps(figure, run, f"({letter}) gaps of {run}, Λ = {figure.scores[run]:.2f}".replace("-", "−"))
        for letter, run in (("b", "Run 2"), ("c", "Run 3"))
    ]
    below = alt.hconcat(*panels, spacing=30)
    return titled(
        alt.vconcat(top, below, spacing=20).resolve_scale(color="independent", strokeDash="independent"),
        "The worked example: three runs against z* = 10 over 30 s",
        "shaded, the signed area of the squeezed gap, darker where it counts negative; overlapping dashes are exact "
        "coincidences; berthold below the reference is outside its envelope, shown deliberately; (b) and (c) have "
        "scales of their own",
        width=720,
    )


def _gaps(figure: WorkedFigure, run: str, title: str) -> Any:
    alt = load_altair()
    mine = figure.gaps.filter(pl.col("run") == run)
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))
    domain = [0, 2.1] if run == "Run 2" else [-0.55, 0.55]
    y = alt.Y("value:Q", title="gap", scale=alt.Scale(domain=domain), stack=None)
    squeezed, value = mine.filter(pl.col("series") == "squeezed"), pl.col("value")
    areas = [
        alt.Chart(squeezed.with_columns(part)).mark_area(interpolate="step-after", color="#0072B2", opacity=opacity)
        for part, opacity in ((value.clip(lower_bound=0), 0.15), (value.clip(upper_bound=0), 0.45))
    ]
    # No width of the mark itself: it would win over the widths that keep coinciding kernels visible.
    lines = alt.Chart(mine).mark_line(interpolate="step-after", clip=True).encode(x=x, y=y, **kernel_look("series"))
    chart = alt.layer(*(area.encode(x=x, y=y) for area in areas), zero_line(), lines)
    return chart.properties(width=335, height=240, title=small_title(title))


def worked_table() -> Table:
    """Return the paper's table of the worked example; DIMACS on its ×100 scale."""
    scores = worked_scores()
    rows = []
    for row in scores.frame.sort("arm").iter_rows(named=True):
        events = ", ".join(f"({t:g},{z:g})" for t, z in WORKED[row["arm"]]) or "none"
        cells = [row["arm"], events, f"{row['steps'] == 0:d}"]
        cells += [number(row[kernel], digits=2) for kernel in ("squeezed", "maxform", "berthold")]
        cells += [number(100 * row[kernel], digits=1) for kernel in ("dimacs:1.1", "dimacs:2")]
        rows.append([*cells, number(row["raw"], digits=2)])
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
        frame=scores.frame.select("arm", "steps", *SCALE_KERNELS, "final_gap").sort("arm"),
        notes=(
            "DIMACS on its ×100 scale. Berthold's score of Run 3 is outside its envelope. A dash marks a value "
            "that does not exist.",
        ),
    )

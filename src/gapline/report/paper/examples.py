"""The paper's example traces: the three-run example with its table, and two runs of equal score."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.envelope.build import Envelopes, build_envelopes
from gapline.references.snapshot import Snapshot
from gapline.report.drawing import alt, line_look, small_title, step_lines, titled, zero_line
from gapline.report.looks import look_of
from gapline.report.numbers import number
from gapline.report.paper.scale import kernel_look
from gapline.report.table import Column, Table, one_part
from gapline.scoring.attainment import attainment_curve
from gapline.scoring.convert import SCALE_KERNELS
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.scores import Scores, score

REFERENCE, HORIZON, INSTANCE = 10.0, 30.0, "worked"
Trace = tuple[tuple[float, float], ...]

WORKED: dict[str, Trace] = {
    "Run 1": (),
    "Run 2": ((5, 30), (7, 29), (11, 22), (14, 18), (19, 15), (24, 14), (27, 13)),
    "Run 3": ((0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)),
}
# Both areas are exactly 2: 2/3 + 28/21, and 1 + 6/9 + 7/21 + 0. Over 30 seconds that is a score of 1/15.
PAIR: dict[str, Trace] = {
    "early, then flat": ((0, 20), (2, 11)),
    "late, then better": ((0, 30), (2, 12.5), (8, 11), (15, 10)),
}
# The looks of the three runs; the pair uses the last two.
_LOOKS = tuple(map(look_of, (6, 1, 0)))


def run_look(names: list[str], *, width: int = 620) -> dict[str, Any]:
    """Return the encodings that distinguish the runs."""
    return line_look("series", names, width=width, looks=dict(zip(names, _LOOKS[-len(names) :], strict=True)))


def example_envelopes(traces: dict[str, Trace]) -> Envelopes:
    """Return the runs as envelopes, one arm each."""
    runs = [
        {"arm": arm, "instance": INSTANCE, "seed": 1, "horizon": HORIZON, "trace": [(*step, True) for step in trace]}
        for arm, trace in traces.items()
    ]
    return build_envelopes(Campaign.from_runs(runs))


def example_snapshot() -> Snapshot:
    """Return the reference of the examples."""
    return Snapshot.from_values({INSTANCE: REFERENCE}, name="worked example", source="the paper")


def objective_steps(name: str, trace: Trace) -> pl.DataFrame:
    """Return series, time, value: the incumbent from its first time to the horizon."""
    return _steps(name, [time for time, _ in trace], [value for _, value in trace])


def gap_steps(name: str, trace: Trace, kernel: str) -> pl.DataFrame:
    """Return series, time, value: the gap from 0 to the horizon; `raw` begins with its first incumbent."""
    chosen = parse_kernel(kernel)
    times = [time for time, _ in trace]
    gaps = chosen(np.array([value for _, value in trace], np.float64), np.full(len(trace), REFERENCE)).tolist()
    if chosen.before is not None and (not times or times[0] > 0):
        times, gaps = [0.0, *times], [chosen.before, *gaps]
    return _steps(name, times, gaps)


def _steps(name: str, times: list[float], values: list[float]) -> pl.DataFrame:
    """Extend the last value to the horizon; a trace without a step has no rows."""
    rows = [(name, float(time), float(value)) for time, value in zip(times, values, strict=True)]
    rows += [(name, HORIZON, rows[-1][2])] if rows else []
    return pl.DataFrame(rows, schema={"series": pl.String, "time": pl.Float64, "value": pl.Float64}, orient="row")


GOALS = (0.1, 0.05)


class CompanionFigure(NamedTuple):
    """`gaps`: series, time, value; `attained`: series, goal, time, value; `ends`: series, score, final_gap, text."""

    gaps: pl.DataFrame
    attained: pl.DataFrame
    ends: pl.DataFrame


def _clock() -> Any:
    return alt.X("time:Q", title="time (s)", scale=alt.Scale(domain=[0, HORIZON]))


def companion_figure() -> CompanionFigure:
    """Return both runs in the three views."""
    envelopes, snapshot = example_envelopes(PAIR), example_snapshot()
    curves = attainment_curve(envelopes, snapshot, goals=GOALS).frame.rename({"arm": "series"})
    parts = curves.partition_by("series", "goal", maintain_order=True)
    ends = score(envelopes, snapshot).frame.select(series="arm", score="squeezed", final_gap="final_gap")
    return CompanionFigure(
        gaps=pl.concat(gap_steps(name, trace, "squeezed") for name, trace in PAIR.items()),
        # Extend the last step to the horizon: a step without a next one would not be visible.
        attained=pl.concat(row for part in parts for row in (part, part.tail(1).with_columns(time=pl.lit(HORIZON)))),
        ends=ends.with_columns(text=pl.Series([f"{100 * gap:g} %" for gap in ends["final_gap"]])),
    )


def draw_companion(figure: CompanionFigure) -> Any:
    """Draw gaps, final gaps and attainment side by side."""
    x, look = _clock(), run_look(list(PAIR), width=840)
    gaps = step_lines(figure.gaps, width=2.5, x=x, y=alt.Y("value:Q", title="squeezed gap"), **look)
    equal = f"(a) area: both scores are {figure.ends['score'][0]:.4f}"
    final = alt.Y("final_gap:Q", title="raw final gap").axis(format="%", tickCount=4).scale(domain=[0, 0.12])
    bars = alt.Chart(figure.ends).encode(x=alt.X("series:N", sort=list(PAIR), title=None, axis=None), y=final)
    ends = alt.layer(bars.mark_bar(width=34).encode(color=look["color"]), bars.mark_text(dy=-8).encode(text="text:N"))
    panels = [
        gaps.properties(width=300, height=230, title=small_title(equal)),
        ends.properties(width=110, height=230, title=small_title("(b) endpoint")),
    ]
    # Slightly beyond 0 and 1: on the frame itself, half of a line would be cut off.
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


class WorkedFigure(NamedTuple):
    """`objectives`: series, time, value; `gaps`: run, series (kernel), time, value; `scores`: run -> Λ."""

    objectives: pl.DataFrame
    gaps: pl.DataFrame
    scores: dict[str, float]


def worked_scores() -> Scores:
    """Score the three runs under every kernel."""
    return score(example_envelopes(WORKED), example_snapshot(), kernels=SCALE_KERNELS)


def worked_figure() -> WorkedFigure:
    """Return the trajectories, and the gaps of the two runs that have any."""
    runs = [(run, kernel) for run in ("Run 2", "Run 3") for kernel in SCALE_KERNELS]
    return WorkedFigure(
        objectives=pl.concat(objective_steps(run, trace) for run, trace in WORKED.items()),
        gaps=pl.concat(gap_steps(kernel, WORKED[run], kernel).with_columns(run=pl.lit(run)) for run, kernel in runs),
        scores=dict(worked_scores().frame.select("arm", "squeezed").iter_rows()),
    )


def draw_worked(figure: WorkedFigure) -> Any:
    """Draw the objectives above the gaps of runs 2 and 3."""
    x = _clock()
    levels = [(REFERENCE, "z* = 10", 5), (1.1 * REFERENCE, "1.1 z* = 11", -5), (2 * REFERENCE, "2 z* = 20", -5)]
    marks = [alt.Chart(alt.Data(values=[{"level": level, "text": text}])) for level, text, _ in levels]
    rules = [mark.mark_rule(color="#888", strokeDash=[4, 3]).encode(y="level:Q") for mark in marks]
    place = {"y": "level:Q", "x": alt.value("width"), "text": "text:N"}
    words = [
        mark.mark_text(align="left", dy=dy, dx=6, color="#555", fontSize=11).encode(**place)
        for mark, (_, _, dy) in zip(marks, levels, strict=True)
    ]
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
    mine = figure.gaps.filter(pl.col("run") == run)
    x, domain = _clock(), [0, 2.1] if run == "Run 2" else [-0.55, 0.55]
    y = alt.Y("value:Q", title="gap", scale=alt.Scale(domain=domain), stack=None)
    squeezed, value = mine.filter(pl.col("series") == "squeezed"), pl.col("value")
    areas = [
        alt.Chart(squeezed.with_columns(part)).mark_area(interpolate="step-after", color="#0072B2", opacity=opacity)
        for part, opacity in ((value.clip(lower_bound=0), 0.15), (value.clip(upper_bound=0), 0.45))
    ]
    # No width of the mark itself: it would override the widths that keep coinciding kernels visible.
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

"""One run: its gap over time and the signed area that is its score."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.tables import RUN_KEY, RunKey
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError, listing
from gapline.references.choice import label_reference
from gapline.references.snapshot import Snapshot
from gapline.report.curve_figure import thin_curves
from gapline.report.drawing import Figure, alt, step_lines, titled, zero_line
from gapline.scoring.integral import primal_integral
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.run_references import reference_column

ABOVE, BELOW = "above the reference: counts positive", "below the reference: counts negative"


@dataclass(frozen=True, slots=True)
class AreaFigure(Figure):
    """Columns time, gap (until the next time; the last row is the horizon), and the score of the run."""

    score: float = field(kw_only=True)


def area_figure(
    envelopes: Envelopes, snapshot: Snapshot, run: RunKey, *, kernel: str = "squeezed", policy: str | None = None
) -> AreaFigure:
    """Return the gap of one run from 0 to its horizon."""
    chosen = parse_kernel(kernel)
    if chosen.before is None:
        raise UsageError(
            f"kernel {chosen.name}: expected one with a value before the first incumbent, such as squeezed"
        )
    keys = list(envelopes.runs.select(RUN_KEY).iter_rows())
    if tuple(run) not in keys:
        raise UsageError(f"run {run}: matches none, got {listing((str(RunKey(*key)) for key in keys), most=3)}")
    row = keys.index(tuple(run))
    time, objective = envelopes.steps(row)
    reference = float(reference_column(snapshot, envelopes)[row])
    horizon = float(envelopes.runs["horizon"][row])
    score: float | None = chosen.before
    gaps = np.empty(0)
    # The score of an empty run does not depend on the reference, which may not exist.
    if len(time):
        score = primal_integral(time, objective, reference=reference, horizon=horizon, kernel=chosen)
        gaps = chosen(objective, np.full(len(objective), reference))
    assert score is not None
    # A run that is feasible at time 0 has no segment before the first incumbent.
    start = int(len(time) > 0 and time[0] == 0)
    values = np.append(chosen.before, gaps)[start:]
    times, values = np.append(np.append(0.0, time)[start:], horizon), np.append(values, values[-1])
    # A minus sign in the score only: hyphens in names stay.
    printed = f"{score:.4f}".replace("-", "−")
    return AreaFigure(
        data=pl.DataFrame({"time": times, "gap": values}),
        score=score,
        title=f"{run.arm} on {run.instance}, seed {run.seed}: score {printed}",
        caption=(
            f"{chosen.name} gap against {label_reference(snapshot, envelopes, policy=policy)}; the signed area over "
            f"the horizon of {horizon:g} s is the score; {len(time)} steps"
        ),
        value_title=f"{chosen.name} gap",
    )


def draw_area(figure: AreaFigure) -> Any:
    """Draw the gap as steps, with a light area above zero and a dark area below it."""
    rows = thin_curves(figure.data.select(pl.lit("run").alias("series"), "time", value="gap")).rename({"value": "gap"})
    sides = {ABOVE: pl.col("gap").clip(lower_bound=0.0), BELOW: pl.col("gap").clip(upper_bound=0.0)}
    shaded = rows.select("time", **sides)
    shaded = shaded.unpivot([ABOVE, BELOW], index="time", variable_name="side", value_name="gap")
    x = alt.X("time:Q", title="time (s)", scale=alt.Scale(nice=False), axis=alt.Axis(tickCount=8))
    legend = alt.Legend(orient="bottom", title=None, symbolType="square", symbolOpacity=0.55)
    scale = alt.Scale(domain=[ABOVE, BELOW], range=["#9ecae1", "#08519c"])
    y, color = alt.Y("gap:Q", title=figure.value_title, stack=None), alt.Color("side:N", scale=scale, legend=legend)
    area = alt.Chart(shaded).mark_area(interpolate="step-after", opacity=0.55).encode(x=x, y=y, color=color)
    line = step_lines(rows, x=x, y=alt.Y("gap:Q", title=figure.value_title), color=alt.value("#08306b"))
    chart = alt.layer(area, zero_line(), line).properties(width=620, height=260)
    return titled(chart, figure.title, figure.caption)

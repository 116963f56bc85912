"""The scores under logarithmic weights over their cutoff, and the cutoffs at which two arms swap."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from gapline.analysis.cutoff_sweep import KINDS, CutoffSweep
from gapline.model.reading import ReferenceLabel
from gapline.report.drawing import Figure, line_look, load_altair, small_title, titled
from gapline.report.looks import grey_words, leading

_TITLES = {"early-log": "early-log: 1/t from the cutoff on", "end-log": "end-log: 1/(time left) until the cutoff"}

# More rules than this are shortened.
MOST_RULES = 12


@dataclass(frozen=True, slots=True)
class CutoffFigure(Figure):
    """`data`: kind, cutoff, arm, score; `baseline`: arm, score (declared weight); `swaps`: kind, cutoff, pair."""

    baseline: pl.DataFrame = field(kw_only=True)
    swaps: pl.DataFrame = field(kw_only=True)


def cutoff_figure(found: CutoffSweep, reference: ReferenceLabel, *, unit: str = "s") -> CutoffFigure:
    """Return the curves on a fine grid, the scores under the declared weight, and every swap on the grid's span."""
    data = found.fine()
    inside = [swap for swap in found.swaps or () if swap.cutoff <= found.cutoffs[-1]]
    rows = [(s.kind, s.cutoff, f"{s.below} better below, {s.above} above") for s in inside]
    schema = {"kind": pl.String, "cutoff": pl.Float64, "pair": pl.String}
    exact = "exact swaps of two arms, marked by rules" if found.swaps is not None else "horizons differ: at the cutoffs"
    return CutoffFigure(
        data=data,
        baseline=pl.DataFrame({"arm": list(found.baseline), "score": list(found.baseline.values())}),
        swaps=pl.DataFrame(rows, schema=schema, orient="row"),
        title="The mean score under logarithmic weights, by their cutoff: smaller is better",
        caption=(
            f"mean {found.kernel} score, {found.weighting}-equal, against {reference}; thin: weight {found.weight}; "
            f"{exact}: {len(rows) if found.swaps is not None else len(found.cutoffs)}"
        ),
        time_title=f"cutoff ({unit}), logarithmic",
        value_title=f"mean {found.kernel} score",
    )


def cutoff_lines(data: pl.DataFrame, baseline: pl.DataFrame, *, arm: str, title: str, value: str, look: Any) -> Any:
    """Draw score over cutoff for each arm on a logarithmic axis, and dashed what a weight without a cutoff says."""
    alt = load_altair()
    # Ticks at powers of ten alone: Vega's own have all nine between two of them.
    low, high = (math.log10(float(end)) for end in (data["cutoff"].to_numpy().min(), data["cutoff"].to_numpy().max()))
    ticks = [10.0**power for power in range(math.ceil(low - 1e-9), math.floor(high + 1e-9) + 1)]
    axis = alt.Axis(values=ticks, format="~g") if len(ticks) > 1 else alt.Axis(format="~g", tickCount=3)
    x = alt.X("cutoff:Q", title=title, scale=alt.Scale(type="log", nice=False), axis=axis)
    lines = alt.Chart(data).mark_line(strokeWidth=2)
    lines = lines.encode(x=x, y=alt.Y("score:Q", title=value), tooltip=[f"{arm}:N", "cutoff:Q", "score:Q"], **look)
    rules = alt.Chart(baseline).mark_rule(strokeDash=[2, 3], strokeWidth=1)
    return alt.layer(rules.encode(y="score:Q", color=look["color"]), lines)


def draw_cutoffs(
    figure: CutoffFigure, *, best: Sequence[str] = (), arms: Sequence[str] = (), width: int = 620, height: int = 240
) -> Any:
    """Draw both kinds side by side, with a rule at each swap; of many arms the first of `best` are in colour."""
    alt = load_altair()
    names = sorted(figure.baseline["arm"].to_list())
    lead = leading(names, best or names)
    look = line_look("arm", names, width=width, arms=arms, lead=lead)
    panels = []
    for kind in KINDS:
        lines = cutoff_lines(
            figure.data.filter(pl.col("kind") == kind), figure.baseline, arm="arm", title=figure.time_title,
            value=figure.value_title, look=look,
        )  # fmt: skip
        swaps = alt.Chart(figure.swaps.filter(pl.col("kind") == kind))
        if figure.swaps.height > MOST_RULES:
            # A fence of rules would hide the curves: short ones at the foot of the plot.
            marks = swaps.mark_tick(color="#000", opacity=0.5, thickness=1, size=10, yOffset=-5)
            marks = marks.encode(y=alt.value("height"))
        else:
            marks = swaps.mark_rule(color="#000", opacity=0.5)
        marks = marks.encode(x="cutoff:Q", tooltip=["pair:N", "cutoff:Q"])
        chart = alt.layer(lines, marks).properties(width=width // 2 - 40, height=height)
        panels.append(chart.properties(title=small_title(_TITLES[kind])))
    words = figure.caption + grey_words(names, lead)
    return titled(alt.hconcat(*panels, spacing=30).resolve_scale(y="shared"), figure.title, words, width=width)

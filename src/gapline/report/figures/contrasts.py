"""Paired differences of arms with their intervals: the forest."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from gapline.model.reading import ReferenceLabel
from gapline.report.drawing import load_altair, titled
from gapline.report.numbers import p_value, signed
from gapline.report.tables.contrasts import compared_rows
from gapline.summary.contrasts import Contrasts

DECLARED, EXPLORATORY = "declared", "exploratory"


@dataclass(frozen=True, slots=True)
class ContrastFigure:
    """Columns pair, kind (declared or exploratory), difference, low, high, text; declared ones first."""

    data: pl.DataFrame
    title: str
    caption: str


def contrast_figure(
    contrasts: Contrasts, reference: ReferenceLabel, *, descriptive: Sequence[str] = ()
) -> ContrastFigure:
    """Return every contrast of compared arms as `a − b`: left of zero, a is better."""
    known = compared_rows(contrasts, descriptive).filter(pl.col("difference").is_not_null())
    rows = []
    for row in known.sort("declared", "difference", "a", "b", descending=[True, False, False, False]).iter_rows(
        named=True
    ):
        p = "" if row["p_holm"] is None else f", Holm p {p_value(row['p_holm'])}"
        rows.append(
            (
                f"{row['a']} − {row['b']}",
                DECLARED if row["declared"] else EXPLORATORY,
                row["difference"],
                row["low"],
                row["high"],
                f"{signed(row['difference'])}{p}",
            )
        )
    schema = {
        "pair": pl.String, "kind": pl.String, "difference": pl.Float64, "low": pl.Float64, "high": pl.Float64,
        "text": pl.String,
    }  # fmt: skip
    return ContrastFigure(
        data=pl.DataFrame(rows, schema=schema, orient="row"),
        title="Differences of mean scores: left of zero, the first arm is better",
        caption=f"{contrasts.caption()}; against {reference}",
    )


def draw_contrasts(figure: ContrastFigure, *, width: int = 460) -> Any:
    """Draw the forest of differences."""
    alt = load_altair()
    kind = alt.Color(
        "kind:N",
        scale=alt.Scale(domain=[DECLARED, EXPLORATORY], range=["#0072B2", "#777777"]),
        legend=alt.Legend(orient="bottom", title=None, symbolType="circle", symbolSize=90),
    )
    base = alt.Chart(figure.data).encode(
        y=alt.Y("pair:N", sort=figure.data["pair"].to_list(), title=None, axis=alt.Axis(labelLimit=320, grid=False)),
        color=kind,
    )
    x_title = "difference of mean scores (a − b)"
    bars = base.mark_rule(strokeWidth=3).encode(x=alt.X("low:Q", title=x_title), x2="high:Q")
    points = base.mark_point(filled=True, size=90, opacity=1).encode(
        x=alt.X("difference:Q", title=x_title), tooltip=["pair:N", "difference:Q", "low:Q", "high:Q", "kind:N"]
    )
    # The numbers stand in a column of their own, where no interval runs through them.
    words = base.mark_text(align="left", dx=6, fontSize=11).encode(x=alt.value(width), text="text:N")
    zero = alt.Chart(alt.Data(values=[{"zero": 0}])).mark_rule(color="#444", strokeDash=[4, 3]).encode(x="zero:Q")
    chart = alt.layer(zero, bars, points, words).properties(width=width, height={"step": 30})
    return titled(chart, figure.title, figure.caption, width=width + 160)

"""Counts of captured and missing data per arm, to read before any score."""

from collections.abc import Sequence
from typing import Any

import polars as pl

from gapline.contract.reading import vouched
from gapline.report.drawing import Figure, alt, in_order, look_channels, titled
from gapline.report.looks import MOST_LOOKS, leading
from gapline.study.health import Health

# Maps columns of the health table to the labels of the bars.
COUNTS = {
    "rejected": "rejected candidates",
    "terminal_invalid": "runs that end invalid",
    "empty": "empty runs",
    "crashed": "crashed or killed runs",
    "late": "late candidates",
}


def health_figure(health: Health, *, validation: str, checker: str | None = None) -> Figure:
    """Return columns group, count (the name of the count), value, text, in the order of the paper's table."""
    names = [" · ".join(map(str, row)) for row in health.frame.select(health.by).iter_rows()]
    parts = [
        pl.DataFrame({"group": names, "count": [label] * len(names), "value": health.frame[column]})
        for column, label in COUNTS.items()
    ]
    data = pl.concat(parts).with_columns(text=pl.col("value").map_elements(lambda v: f"{v:,}", return_dtype=pl.String))
    runs, captured = int(health.frame["runs"].sum()), int(health.frame["captured"].sum())
    return Figure(
        data=data,
        title="Health: what never reached a score, and what did not end well",
        caption=(
            f"{runs:,} runs, {captured:,} captured candidates, {vouched(validation, checker)}; rejected candidates "
            f"stay out of the envelope, empty runs stay in every mean; each count has a scale of its own"
        ),
    )


def draw_health(figure: Figure, *, best: Sequence[str] = (), arms: Sequence[str] = ()) -> Any:
    """Draw one column of bars per count, each with its own scale and numbers at the bars; `best` as in the curves."""
    names = sorted(figure.data["group"].unique().to_list())
    look = look_channels("group", names, "color", arms=arms, lead=leading(names, best), legend=None)
    columns = []
    for k, label in enumerate(COUNTS.values()):
        part = figure.data.filter(pl.col("count") == label)
        axis = alt.Axis(labelLimit=200) if k == 0 else None
        # Each scale is longer than its longest bar, to leave room for the number.
        highest = max(1, int(part["value"].max()))  # type: ignore[arg-type]
        base = alt.Chart(part).encode(
            y=alt.Y("group:N", **in_order(names), title=None, axis=axis),
            x=alt.X("value:Q", title=None, axis=None, scale=alt.Scale(domain=[0, 1.45 * highest])),
        )
        bars = base.mark_bar().encode(**look)
        words = base.mark_text(align="left", dx=4, fontSize=11).encode(text="text:N")
        heading = alt.TitleParams(label, fontSize=11, fontWeight="normal", anchor="start")
        height = {"step": 24 if len(names) <= MOST_LOOKS else 17}
        columns.append(alt.layer(bars, words).properties(width=118, height=height, title=heading))
    return titled(alt.hconcat(*columns, spacing=12), figure.title, figure.caption, width=130 * len(COUNTS))

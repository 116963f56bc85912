"""The section "Replication" of the page: the verdict, the tables, and a simple picture that fits a phone."""

from typing import Any

from gapline.report.figures.replication import replication_figure
from gapline.report.numbers import signed
from gapline.report.page.classical import table_words
from gapline.report.replication import rank_sentence, remark_lines, replication_tables, verdict_sentence
from gapline.study.replication import Replicated
from gapline.text import printable

# Pixels: the picture, its edges, the lines of a pair (its name, there, here) and the room for the axis.
WIDTH, EDGE, NAME, LINE, AXIS = 420, 14, 22, 15, 26
# Longer names would not fit the picture; the table next to it has them in full.
_MOST = 62


def page_replication(found: Replicated | None, /) -> dict[str, Any] | None:
    """Return the variables of the section; None without a replication."""
    if found is None:
        return None
    return {
        "verdict": printable(verdict_sentence(found)),
        "contradicted": bool(found.contradicted),
        "ranks": printable(rank_sentence(found.ranks)),
        "picture": replication_svg(found),
        "tables": [table_words(table) for table in replication_tables(found)],
        "remarks": [printable(line) for line in remark_lines(found)],
        "caption": printable(f"{replication_figure(found).caption}."),
    }


def replication_svg(found: Replicated, /) -> dict[str, Any] | None:
    """Return the lines, points and texts of the picture, in pixels; None if no pair has a difference."""
    data = replication_figure(found).data
    if not data.height:
        return None
    ends = [value for name in ("difference", "low", "high") for value in data[name].drop_nulls()]
    low, high = min(0.0, *ends), max(0.0, *ends)
    spread = float(high - low) or 1.0

    def x(value: float) -> float:
        return round(float(EDGE + (WIDTH - 2 * EDGE) * (value - low) / spread), 1)

    lines: list[tuple[str, float, float, float, float]] = []
    points: list[tuple[str, float, float]] = []
    texts: list[tuple[str, float, float, str]] = []
    zeros: list[tuple[float, float, float, float]] = []
    y = 4.0
    for place, row in enumerate(data.iter_rows(named=True)):
        if place % 2 == 0:
            y += NAME
            name = printable(f"{row['pair']}: {row['agreement']}")
            texts.append(("start", 2, y - 4, name if len(name) <= _MOST else f"{name[: _MOST - 1]}…"))
            # Only next to the two intervals, so that it does not cross out a name.
            zeros.append((x(0.0), y, x(0.0), y + 2 * LINE))
        y += LINE
        if row["low"] is not None:
            lines.append((row["where"], x(row["low"]), y - 5, x(row["high"]), y - 5))
        points.append((row["where"], x(row["difference"]), y - 5))
    bottom = y + 4
    texts.append(("middle", x(0.0), bottom + 16, "0"))
    for value, anchor in ((low, "start"), (high, "end")):
        # Leave out a label that would overlap the zero.
        if abs(x(value) - x(0.0)) > 60:
            texts.append((anchor, x(value), bottom + 16, signed(value, digits=3)))
    return {
        "width": WIDTH,
        "height": round(bottom + AXIS),
        "zeros": zeros,
        "lines": lines,
        "points": points,
        "texts": texts,
        "label": "Differences of pairs of arms with their intervals, there and here",
    }

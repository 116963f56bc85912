"""Tables that the page shows as computed by Python: classical comparisons, design, ladders."""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

import numpy as np

from gapline.measures.attainment_surface import AttainmentDifference
from gapline.measures.ranks import MeanRanks
from gapline.report.analysis_tables import varied_tables
from gapline.report.canvas import text_width
from gapline.report.figures.attainment_difference import difference_map
from gapline.report.figures.critical_difference import rank_picture, rank_ticks
from gapline.report.looks import COLOURS, looks_of
from gapline.report.numbers import DASH, number, sentence
from gapline.report.table import Table
from gapline.report.tables.design import design_tables, ladder_tables
from gapline.report.tables.kernels import kernel_tables
from gapline.report.tables.measures import pair_table, rating_table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex
from gapline.report.writers.terminal import short_names
from gapline.study.analyse import Analysis
from gapline.text import printable


def page_tables(analysis: Analysis, /) -> dict[str, Any]:
    """Return the variables of the template: `evidence`, `kernel_tables` and `varied`, lists of tables as text."""
    found = {
        "evidence": [*design_tables(analysis), *ladder_tables(analysis.ladders.values())],
        "kernel_tables": kernel_tables(analysis),
        "varied": varied_tables(analysis),
    }
    return {name: [table_words(table) for table in tables] for name, tables in found.items()}


def table_words(table: Table, /) -> dict[str, Any]:
    """Return a table as text: its head, its rows under their headings, and its notes."""
    parts = [
        (heading, [[(printable(cell.text), cell.bold) for cell in row] for row in rows])
        for heading, rows in table.parts
    ]
    return {
        "name": table.name,
        "title": table.caption,
        "header": [(column.head, column.text) for column in table.columns],
        "parts": parts,
        "notes": [printable(note) for note in table.notes],
        # The same CSV as in the files next to the page: the page itself only shows texts.
        "numbers": to_csv(table.frame).decode("utf-8"),
        "latex": to_latex(table),
    }


# Pixels: the axis of ranks, the room for names next to it, a line of text.
AXIS, MARGIN, LINE = 420, 190, 20
# The size of names, the most letters shown of one, and how much wider the fonts of a reader may be.
NAME_SIZE, NAME_LETTERS, WIDER = 13.0, 22, 1.2
# Pixels of the map, the room for its labels, and the number of its cells.
WIDTH, HEIGHT, LEFT, BOTTOM, COLUMNS, ROWS = 640, 260, 62, 24, 64, 40


def page_classical(analysis: Analysis, /) -> dict[str, Any]:
    """Return the variables of the template: `ranks`, `pairs` and `difference`, None if there is nothing to show."""
    pairs = analysis.neighbour_pairs
    differences, arms = analysis.attainment_differences, analysis.study.arms
    return {
        "ranks": None if analysis.ranks is None or not analysis.ranks.frame.height else _ranks(analysis),
        "pairs": None if pairs is None or not len(pairs) else table_words(pair_table(pairs)),
        "difference": difference_svg(differences[0], arms=arms, more=len(differences) > 1) if differences else None,
    }


def _ranks(analysis: Analysis) -> dict[str, Any]:
    """Return ranks and ratings in one table, arms in the order of their ranks."""
    ranks = analysis.ranks
    assert ranks is not None
    header = ["arm", "mean rank", "median rank"]
    rows = [[printable(arm), number(mean, digits=3), f"{median:g}"] for arm, mean, median in ranks.frame.iter_rows()]
    notes = [ranks.verdict(), ranks.caption()]
    if analysis.ratings is not None:
        table = rating_table(analysis.ratings)
        rated = {row[0].text: [cell.text for cell in row[1:]] for row in table.rows}
        header += [column.head for column in table.columns[1:]]
        rows = [[*row, *rated.get(row[0], [DASH] * 3)] for row in rows]
        notes += [text.rstrip(".") for text in table.notes]
    return {
        "header": header,
        "rows": rows,
        "caption": " ".join(sentence(printable(note)) for note in notes),
        "picture": None if ranks.friedman is None else rank_svg(ranks),
    }


def rank_svg(ranks: MeanRanks, /) -> dict[str, Any]:
    """Return the lines and texts of the diagram of mean ranks, in pixels."""
    picture = rank_picture(ranks)
    top = 46.0

    def x(rank: float) -> float:
        return round(MARGIN + AXIS * (rank - picture.first) / (picture.last - picture.first), 1)

    def y(depth: float) -> float:
        return round(top + LINE * depth, 1)

    edges = {"left": MARGIN - 8.0, "right": MARGIN + AXIS + 8.0}
    lines = [("thin", x(picture.first), y(0), x(picture.last), y(0))]
    ticks = rank_ticks(picture.first, picture.last)
    names = _fitting([arm for arm, *_ in picture.stems])
    lines += [("thin", x(k), y(0) - 4, x(k), y(0) + 4) for k in ticks]
    texts = [("middle", x(k), y(0) - 9, str(k)) for k in ticks]
    for arm, rank, depth, side in picture.stems:
        lines += [("thin", x(rank), y(0), x(rank), y(depth)), ("thin", x(rank), y(depth), edges[side], y(depth))]
        anchor, step = ("end", -4) if side == "left" else ("start", 4)
        texts.append((anchor, edges[side] + step, y(depth) + 4, f"{names[arm]} {rank:.2f}"))
    lines += [("thick", x(low) - 3, y(depth), x(high) + 3, y(depth)) for low, high, depth in picture.bars]
    end = min(x(picture.first + picture.distance), x(picture.last))
    lines.append(("middle", x(picture.first), 10.0, end, 10.0))
    texts.append(("start", end + 6, 14.0, f"critical difference {picture.distance:.2f}"))
    return {
        "width": 2 * MARGIN + AXIS,
        "height": round(y(picture.depth)),
        "lines": lines,
        "texts": texts,
        "label": "Mean ranks of the arms; bars join arms whose mean ranks differ by less than the critical difference",
    }


def _fitting(arms: list[str]) -> dict[str, str]:
    """Return distinct names that fit next to the axis; the table below it has the full names."""
    letters = NAME_LETTERS
    while True:
        short = short_names(map(printable, arms), letters)
        shown = {arm: short[printable(arm)] for arm in arms}
        widest = max(WIDER * text_width(f"{name} 00.00", NAME_SIZE) for name in shown.values())
        if widest <= MARGIN - 14 or letters <= 6:
            return shown
        letters -= 1


def gap_label(gap: float, /) -> str:
    """Return a gap as a text short enough to fit next to the map.

    >>> gap_label(0.445), gap_label(-0.000907), gap_label(12.3), gap_label(0.0)
    ('44.5 %', '-0.1 %', '1230 %', '0 %')
    """
    value = 100 * gap
    return f"{value:.1f} %".replace(".0 %", " %").replace("-0 %", "0 %") if abs(value) < 100 else f"{value:.0f} %"


def difference_svg(pair: AttainmentDifference, /, *, arms: Sequence[str] = (), more: bool = False) -> dict[str, Any]:
    """Return the boxes of the map of one pair, in pixels; neighbours in time with the same value are one box.

    The class of a box names the colour of its arm among all `arms`; if both have the same colour, `dots` mark the cells
    of the second.
    """
    found = difference_map(pair, columns=COLUMNS, rows=ROWS)
    most = float(abs(found.shares).max()) or 1.0
    wide, high = (WIDTH - LEFT) / COLUMNS, (HEIGHT - BOTTOM) / ROWS
    looks = looks_of((pair.a, pair.b), arms)
    shades = {name: f"arm-{COLOURS.index(looks[name].colour)}" for name in (pair.a, pair.b)}
    alike = looks[pair.a].colour == looks[pair.b].colour
    boxes = []
    for row in range(ROWS):
        column = 0
        for share, cells in groupby(found.shares[:, row].tolist()):
            length = len(list(cells))
            if share:
                top = HEIGHT - BOTTOM - (row + 1) * high
                shade = shades[pair.a if share > 0 else pair.b]
                place = (LEFT + column * wide, top, length * wide, high)
                boxes.append((shade, *(round(v, 2) for v in place), round(abs(share) / most, 3)))
            column += length
    dotted = np.argwhere(found.shares < 0).tolist() if alike else []
    dots = [(round(LEFT + (i + 0.5) * wide, 2), round(HEIGHT - BOTTOM - (j + 0.5) * high, 2)) for i, j in dotted]
    low, top, unit = found.gaps[0], found.gaps[-1], "t/Γ" if pair.relative else "s"
    places = ((12, top), ((HEIGHT - BOTTOM) / 2 + 4, (low + top) / 2), (HEIGHT - BOTTOM, low))
    labels = [("end", LEFT - 6, at, gap_label(gap)) for at, gap in places]
    labels += [("start", LEFT, HEIGHT - 6, "0"), ("end", WIDTH, HEIGHT - 6, f"{pair.end:g} {unit}")]
    a, b = printable(pair.a), printable(pair.b)
    notes = " Larger gaps are cut off." if found.cut else ""
    notes += " The other declared pairs are among the figures of the report." if more else ""
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "frame": (LEFT, 0, WIDTH - LEFT, HEIGHT - BOTTOM),
        "boxes": boxes,
        "texts": labels,
        "dots": dots,
        "arms": [(shades[pair.a], a), (shades[pair.b], f"{b} (dotted)" if alike else b)],
        "label": f"Map over time and raw gap: where {a} or {b} attains more",
        "caption": f"Share of the runs of {a} minus that of {b} that are at a raw gap or below by a time, every run "
        f"alike; full colour is {100 * most:.3g} % of the runs.{notes}",
    }

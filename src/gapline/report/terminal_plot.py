"""Step curves on a terminal, drawn with braille dots: two by four dots in each character."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.model.text import printable
from gapline.report.time_axis import axis_moments

Floats = NDArray[np.float64]
# The bit of each dot of a braille letter, by row and column; the last row came later to the standard.
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))
COLOURS = ("cyan", "magenta", "yellow", "green", "red", "blue", "white", "bright_black")


class StepCurve(NamedTuple):
    """A named right-continuous step curve; each value holds to the next time, the last to the end of the plot."""

    name: str
    time: Floats
    value: Floats


def plot_steps(
    curves: Sequence[StepCurve],
    *,
    end: float,
    title: str,
    start: float | None = None,
    time_label: str = "s",
    width: int = 72,
    height: int = 14,
    low: float | None = None,
    high: float | None = None,
    colour: bool = False,
) -> str:
    """Draw curves from time 0 to `end`; returns lines of text, with rich markup for colours where asked for.

    With a `start`, time is logarithmic from there on (`time_axis.log_start`), and the axis says so.

    >>> curve = StepCurve("a", np.array([0.0, 5.0]), np.array([1.0, 0.0]))
    >>> print(plot_steps([curve], end=10.0, title="gap", width=8, height=2))
    gap
    1.00 ┤⠉⠉⠉⠉⡇
    0.00 ┤    ⣇⣀⣀⣀
         └────────
          0   10 s
     ━ a
    """
    values = np.concatenate([curve.value for curve in curves])
    bottom = float(values.min()) if low is None else low
    top = float(values.max()) if high is None else high
    # A flat curve has no height to divide by: it is drawn in the middle.
    if top <= bottom:
        top, bottom = top + 0.5, bottom - 0.5
    cells = np.zeros((height, width), np.int64)
    owner = np.full((height, width), -1)
    columns = axis_moments(start, end, 2 * width)
    for number, curve in enumerate(curves):
        # From the right: at the time of a step the new value holds.
        at = curve.value[np.clip(np.searchsorted(curve.time, columns, side="right") - 1, 0, None)]
        rows = np.rint((top - np.clip(at, bottom, top)) / (top - bottom) * (4 * height - 1)).astype(int)
        # A curve that begins late has no value before: nothing is drawn there.
        begin = int(np.searchsorted(columns, curve.time[0]))
        previous = rows[min(begin, len(rows) - 1)]
        for column, row in enumerate(rows[begin:], begin):
            # A step is drawn as a vertical line, so that the curve does not fall apart.
            for dot in range(min(previous, row), max(previous, row) + 1):
                cells[dot // 4, column // 2] |= DOTS[dot % 4][column % 2]
                owner[dot // 4, column // 2] = number
            previous = row
    labels = {0: f"{top:.2f}", height - 1: f"{bottom:.2f}"}
    if bottom < 0 < top:
        labels[round(top / (top - bottom) * (height - 1))] = "0.00"
    margin = max(map(len, labels.values()))
    lines = [printable(title)]
    for row in range(height):
        text = "".join(_cell(cells[row, c], owner[row, c], colour) for c in range(width))
        lines.append(f"{labels.get(row, ''):>{margin}} ┤{text.rstrip()}")
    lines.append(" " * margin + " └" + "─" * width)
    left, finish = "0" if start is None else f"{start:.3g}", f"{end:g} {time_label}"
    middle = "" if start is None else "logarithmic time".center(max(0, width - len(left) - len(finish)))
    lines.append(" " * margin + f"  {left}{middle}" + finish.rjust(width - len(left) - len(middle)))
    lines.append(" " + "   ".join(_legend(number, curve.name, colour) for number, curve in enumerate(curves)))
    return "\n".join(lines)


def _cell(dots: int, number: int, colour: bool) -> str:
    text = chr(0x2800 + dots) if dots else " "
    return f"[{COLOURS[number % len(COLOURS)]}]{text}[/]" if colour and dots else text


def _legend(number: int, name: str, colour: bool) -> str:
    from rich.markup import escape

    mark = f"[{COLOURS[number % len(COLOURS)]}]━[/]" if colour else "━"
    return f"{mark} {escape(printable(name)) if colour else printable(name)}"

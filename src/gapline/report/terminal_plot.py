"""Step curves on a terminal: coloured braille dots, two by four in each character, or one letter per curve."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.report.looks import Look, looks_of
from gapline.report.writers.terminal import legend_lines, short_names
from gapline.scoring.moments import axis_moments
from gapline.terminal import cells as columns_of
from gapline.terminal import console, width, wrapped
from gapline.text import printable

Floats = NDArray[np.float64]
# The bit of each dot of a braille character, by row and column; Unicode added the last row later.
DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))


class StepCurve(NamedTuple):
    """A named right-continuous step curve; each value holds until the next time, the last until the end of the plot."""

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
    letters: bool = False,
    arms: Sequence[str] = (),
    room: int | None = None,
) -> str:
    """Draw curves from time 0 to `end`; returns lines of text, with rich markup for colours if requested.

    With a `start`, time is logarithmic from there on (`scoring/moments.py`), and the axis says so. With `letters`, each
    curve has its own letter; where curves coincide, the last one is visible. Colours and letters follow from the
    curves' positions among `arms`, all arms of the study. `room` limits the width of the whole plot, instead of the
    `width` of its inner part.

    >>> curve = StepCurve("a", np.array([0.0, 5.0]), np.array([1.0, 0.0]))
    >>> print(plot_steps([curve], end=10.0, title="gap", width=8, height=2))
    gap
    1.00 ┤⠉⠉⠉⠉⡇
    0.00 ┤    ⣇⣀⣀⣀
         └────────
          0   10 s
     ━ a
    >>> print(plot_steps([curve], end=10.0, title="gap", width=8, height=2, letters=True))
    gap
    1.00 ┤AAAAA
    0.00 ┤    AAAA
         └────────
          0   10 s
     A a
    """
    known = looks_of([curve.name for curve in curves], arms)
    looks = [known[curve.name] for curve in curves]
    values = np.concatenate([curve.value for curve in curves])
    bottom = float(values.min()) if low is None else low
    top = float(values.max()) if high is None else high
    # A flat curve has no height to divide by: draw it in the middle.
    if top <= bottom:
        top, bottom = top + 0.5, bottom - 0.5
    labels = {0: f"{top:.2f}", height - 1: f"{bottom:.2f}"}
    if bottom < 0 < top:
        labels[round(top / (top - bottom) * (height - 1))] = "0.00"
    margin = max(map(len, labels.values()))
    if room is not None:
        width = max(8, room - margin - 2)
    cells = np.zeros((height, width), np.int64)
    owner = np.full((height, width), -1)
    # A letter fills its character; dots are two by four in each.
    across, down = (1, 1) if letters else (2, 4)
    columns = axis_moments(start, end, across * width)
    for number, curve in enumerate(curves):
        # From the right: at the time of a step the new value holds.
        at = curve.value[np.clip(np.searchsorted(curve.time, columns, side="right") - 1, 0, None)]
        rows = np.rint((top - np.clip(at, bottom, top)) / (top - bottom) * (down * height - 1)).astype(int)
        # A curve that begins late has no earlier value: draw nothing there.
        begin = int(np.searchsorted(columns, curve.time[0]))
        previous = rows[min(begin, len(rows) - 1)]
        for column, row in enumerate(rows[begin:], begin):
            # Draw a step as a vertical line, so that the curve is connected.
            for dot in range(min(previous, row), max(previous, row) + 1):
                cells[dot // down, column // across] |= DOTS[dot % down][column % across]
                owner[dot // down, column // across] = number
            previous = row
    lines = wrapped(printable(title), room or margin + 2 + width, hang="  ")
    for row in range(height):
        text = "".join(_cell(cells[row, c], looks[owner[row, c]], colour, letters) for c in range(width))
        lines.append(f"{labels.get(row, ''):>{margin}} ┤{text.rstrip()}")
    lines.append(" " * margin + " └" + "─" * width)
    left, finish = "0" if start is None else f"{start:.3g}", f"{end:g} {time_label}"
    middle = "" if start is None else "logarithmic time".center(max(0, width - len(left) - len(finish)))
    lines.append(" " * margin + f"  {left}{middle}" + finish.rjust(width - len(left) - len(middle)))
    lines += _legend([printable(curve.name) for curve in curves], looks, room or margin + 2 + width, colour, letters)
    return "\n".join(lines)


def _cell(dots: int, look: Look, colour: bool, letters: bool) -> str:
    if not dots:
        return " "
    return _marked(look.letter if letters else chr(0x2800 + dots), look, colour)


def _marked(text: str, look: Look, colour: bool) -> str:
    return f"[{look.ink}]{text}[/]" if colour else text


def _legend(names: Sequence[str], looks: Sequence[Look], room: int, colour: bool, letters: bool) -> list[str]:
    """Return the names after their marks, as many per line as fit; shortened names are written in full below."""
    from rich.markup import escape

    shown = short_names(names, max(8, room - 8))
    lines, used = [""], 0
    for name, look in zip(names, looks, strict=True):
        wide = columns_of(shown[name]) + 2
        if used and used + 3 + wide > room:
            lines.append("")
            used = 0
        text = escape(shown[name]) if colour else shown[name]
        lines[-1] += ("   " if used else " ") + f"{_marked(look.letter if letters else '━', look, colour)} {text}"
        used += wide + (3 if used else 1)
    whole = legend_lines({name: short for name, short in shown.items() if short != name}, room)
    return [*lines, *(escape(line) if colour else line for line in whole)]


def print_plot(curves: Sequence[StepCurve], *, arms: Sequence[str] = (), **axis: Any) -> None:
    """Plot curves as wide as the terminal: in colours, if it has them and they distinguish the curves."""
    out = console()
    colour = out.color_system is not None and not out.no_color
    # If colours repeat, letters are needed too.
    inks = {look.ink for look in looks_of([curve.name for curve in curves], arms).values()}
    letters = not colour or len(inks) < len(curves)
    text = plot_steps(curves, colour=colour, letters=letters, arms=arms, room=width(), **axis)
    out.print(text, soft_wrap=True, markup=colour)
    out.print()


def print_caption(text: str) -> None:
    """Print a caption below plots, in small print."""
    out = console()
    for line in wrapped(printable(text), width(), hang="  "):
        out.print(line, style="dim", markup=False, soft_wrap=True)

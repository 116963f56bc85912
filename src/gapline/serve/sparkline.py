"""A curve in one line of text: eight heights, one letter per moment."""

from collections.abc import Sequence

HEIGHTS = "▁▂▃▄▅▆▇█"


def sparkline(time: Sequence[float], value: Sequence[float], *, end: float, width: int = 20, top: float = 1.0) -> str:
    """Draw a step curve from 0 to `end`, between 0 and `top`, or lower where it goes below zero.

    >>> sparkline([0.0, 5.0], [1.0, 0.0], end=10.0, width=4)
    '██▁▁'
    """
    if not time or end <= 0:
        return ""
    drawn = values_drawn(time, value, end=end, width=width)
    low, high = min(0.0, *drawn), max(top, *drawn)
    shares = [(one - low) / ((high - low) or 1.0) for one in drawn]
    return "".join(HEIGHTS[min(len(HEIGHTS) - 1, int(share * len(HEIGHTS)))] for share in shares)


def values_drawn(time: Sequence[float], value: Sequence[float], *, end: float, width: int) -> list[float]:
    """Return the values of a step curve where its letters stand: in the middle of what each stands for.

    >>> values_drawn([0.0, 5.0], [1.0, 0.25], end=10.0, width=4)
    [1.0, 1.0, 0.25, 0.25]
    """
    found, place = [], 0
    for column in range(width):
        moment = (column + 0.5) * end / width
        while place + 1 < len(time) and time[place + 1] <= moment:
            place += 1
        found.append(value[place])
    return found

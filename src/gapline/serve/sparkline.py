"""A curve in one line of text: eight heights, one letter per moment."""

from collections.abc import Sequence

HEIGHTS = "▁▂▃▄▅▆▇█"


def sparkline(time: Sequence[float], value: Sequence[float], *, end: float, width: int = 20) -> str:
    """Draw a step curve from 0 to `end`, between 0 and 1, or lower where it goes below zero.

    >>> sparkline([0.0, 5.0], [1.0, 0.0], end=10.0, width=4)
    '██▁▁'
    """
    if not time or end <= 0:
        return ""
    low, high = min(0.0, *value), max(1.0, *value)
    letters = []
    place = 0
    for column in range(width):
        # The middle of what the letter stands for.
        moment = (column + 0.5) * end / width
        while place + 1 < len(time) and time[place + 1] <= moment:
            place += 1
        share = (value[place] - low) / (high - low)
        letters.append(HEIGHTS[min(len(HEIGHTS) - 1, int(share * len(HEIGHTS)))])
    return "".join(letters)

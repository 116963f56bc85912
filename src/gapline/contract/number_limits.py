"""Limits of numbers: integers that a double cannot hold, which no reader may round silently, and solvers' infinity."""

import re

# Solvers write 1e20 or more where there is no bound or no solution yet.
INFINITE = 1e20
INTEGER = r"^[+-]?[0-9]+$"
# Every integer up to here is a double.
EXACT = 2**53
_INTEGER = re.compile(INTEGER)


def is_exact(number: int) -> bool:
    """Return whether a double holds an integer exactly.

    >>> is_exact(2**53), is_exact(2**53 + 1), is_exact(2**60), is_exact(10**400)
    (True, False, True, False)
    """
    try:
        return float(number) == number
    except OverflowError:
        return False


def is_rounded(text: str) -> bool:
    """Return whether a text is an integer that a double rounds to another one.

    An integer beyond the range of doubles is infinite as a double, and is refused for that.

    >>> is_rounded("9007199254740993"), is_rounded("9007199254740992"), is_rounded("9007199254740993.0")
    (True, False, False)
    """
    # Fifteen digits are always exact, and nearly all numbers have fewer.
    return 15 < len(text) < 300 and _INTEGER.fullmatch(text) is not None and not is_exact(int(text))

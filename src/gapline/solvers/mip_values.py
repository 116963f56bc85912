"""How MIP adapters write down a point: names and values of what is not zero, whole numbers as whole numbers."""

from collections.abc import Iterable

from gapline.contract.number_limits import INFINITE
from gapline.solvers.protocol import emit_bound

# The integrality that the checker allows.
NEAR = 1e-6


def named_values(names: Iterable[str], values: Iterable[float], whole: Iterable[bool]) -> dict[str, float]:
    """Return the values that are not zero by name; what is nearly whole and must be is rounded.

    >>> named_values(["x", "y", "z"], [0.9999999999, 0.0, 0.5], [True, True, False])
    {'x': 1, 'z': 0.5}
    """
    point: dict[str, float] = {}
    for name, value, must in zip(names, values, whole, strict=True):
        rounded = round(value) if must and abs(value - round(value)) <= NEAR else value
        if rounded:
            point[name] = rounded
    return point


class BestBound:
    """Remembers the dual bound that was printed last, so that each is printed once."""

    def __init__(self) -> None:
        self._last: float | None = None

    def news(self, bound: float) -> float | None:
        """Return the bound when it is finite and new, or None."""
        if not abs(bound) < INFINITE or bound == self._last:
            return None
        self._last = bound
        return bound

    def print(self, bound: float) -> None:
        """Print the bound alone, when it is news."""
        if (news := self.news(bound)) is not None:
            emit_bound(news)

"""Time weights: which moments of the budget matter, integrated in closed form (the paper's appendix C)."""

import math
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise

import numba
import numpy as np
from numpy.typing import NDArray

from gapline.errors import UsageError, closest

Floats = NDArray[np.float64]
SYNTAX = "uniform, early-log:TMIN, end-log:TCUT, steps:0=1,10=0.5"


class WeightCode(IntEnum):
    """How the compiled pass knows a weight."""

    UNIFORM = 0
    EARLY_LOG = 1
    END_LOG = 2
    STEPS = 3


@dataclass(frozen=True, slots=True, eq=False)
class TimeWeight:
    """A nonnegative weight w(t); a score is the mean gap when the run is interrupted at a time drawn from it.

    `uniform`: every moment alike. `early-log:TMIN`: 1/t on [TMIN, Γ]. `end-log:TCUT`: 1/(Γ - t) on [0, Γ - TCUT].
    `steps:…`: piecewise constant; `edges[i]` is where `values[i]` begins, and it lasts to the next edge.
    """

    name: str
    code: WeightCode
    cutoff: float = 0.0
    edges: tuple[float, ...] = (0.0,)
    values: tuple[float, ...] = (1.0,)

    def arrays(self) -> tuple[Floats, Floats]:
        """Return edges and values for the compiled pass."""
        return np.array(self.edges), np.array(self.values)

    def check_horizons(self, horizons: Floats) -> None:
        """Refuse a weight that leaves nothing of some run's budget."""
        if self.code in (WeightCode.EARLY_LOG, WeightCode.END_LOG) and len(horizons) and horizons.min() <= self.cutoff:
            raise UsageError(
                f"weight {self.name}: expected a cutoff below every horizon, got one of {horizons.min():g} s"
            )
        if self.code is WeightCode.STEPS:
            edges, values = self.arrays()
            shortest = horizons.min() if len(horizons) else math.inf
            if not width(int(self.code), 0.0, edges, values, 0.0, shortest, shortest) > 0:
                raise UsageError(f"weight {self.name}: expected some weight before {shortest:g} s, got none")


def step_weight(name: str, edges: list[float], values: list[float]) -> TimeWeight:
    """Return a piecewise constant weight under a name of yours; `edges` begins at 0.

    >>> step_weight("office hours", [0.0, 10.0], [1.0, 0.5]).name
    'office hours'
    """
    good = len(edges) == len(values) > 0 and edges[0] == 0 and all(a < b for a, b in pairwise(edges))
    if not good or not all(math.isfinite(v) and v >= 0 for v in values) or not all(map(math.isfinite, edges)):
        raise UsageError(
            f"weight {name}: expected increasing edges from 0 and nonnegative values, got {edges} and {values}"
        )
    return TimeWeight(name, WeightCode.STEPS, edges=tuple(map(float, edges)), values=tuple(map(float, values)))


def parse_weight(name: str | TimeWeight, /) -> TimeWeight:
    """Find a weight by its name: `uniform`, `early-log:0.1`, `end-log:0.1`, `steps:0=1,10=0.5`.

    >>> parse_weight("early-log:0.1").cutoff
    0.1
    """
    if isinstance(name, TimeWeight):
        return name
    head, _, argument = name.partition(":")
    if head == "uniform" and not argument:
        return TimeWeight(name, WeightCode.UNIFORM)
    if head in ("early-log", "end-log"):
        try:
            cutoff = float(argument)
        except ValueError:
            cutoff = math.nan
        if not (math.isfinite(cutoff) and cutoff > 0):
            raise UsageError(f"weight {name}: expected its cutoff in seconds, as in {head}:0.1, got {argument!r}")
        return TimeWeight(name, WeightCode.EARLY_LOG if head == "early-log" else WeightCode.END_LOG, cutoff)
    if head == "steps":
        try:
            pairs = [(float(a), float(b)) for a, b in (part.split("=") for part in argument.split(","))]
        except ValueError:
            raise UsageError(f"weight {name}: expected steps:0=1,10=0.5, got {argument!r}") from None
        return step_weight(name, [edge for edge, _ in pairs], [value for _, value in pairs])
    near = closest(head, ["uniform", "early-log", "end-log", "steps"])
    raise UsageError(f"weight: expected {SYNTAX}, got {name!r}", hint=f"did you mean {near!r}?" if near else None)


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _log_growth(low, width):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return ln((low + width) / low)."""
    # log1p of the relative width, not a difference of logarithms: close stamps keep all their digits.
    growth = width / low
    return math.log1p(growth) if growth < np.inf else math.log(width) - math.log(low)


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def width(code, cutoff, edges, values, start, end, horizon):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the integral of the weight over [start, end]."""
    if code == 0:
        return end - start
    if code == 1:
        a, b = max(start, cutoff), max(end, cutoff)
        return _log_growth(a, b - a)
    if code == 2:
        # In remaining time, where the cutoff is exact: horizon - cutoff is not.
        rest, more = max(horizon - end, cutoff), max(horizon - start, cutoff)
        return _log_growth(rest, more - rest if rest == cutoff else end - start)
    total = 0.0
    last = len(edges) - 1
    for k in range(len(edges)):
        upper = edges[k + 1] if k < last else np.inf
        a, b = max(start, edges[k]), min(end, upper)
        if b > a:
            total += values[k] * (b - a)
    return total

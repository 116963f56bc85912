"""Time weights: which moments of the budget matter, integrated in closed form (the paper's appendix C).

A function of the user's own has no closed form: it comes as a table of its integral (`scoring/quadrature.py`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from gapline.model.compiled import compiled
from gapline.model.names import TimeWeight
from gapline.scoring.quadrature import cached_quadrature, integral_upto

Floats = NDArray[np.float64]


def weight_arrays(weight: TimeWeight, horizon: float | None = None) -> tuple[Floats, Floats]:
    """Return edges and values for the compiled pass; of a function, the table of its integral over this horizon."""
    if weight.function is not None:
        assert horizon is not None
        table = cached_quadrature(weight.function, horizon, weight.name)
        return table.edges, table.terms
    return np.array(weight.edges), np.array(weight.values)


@compiled(nogil=True)
def _log_growth(low, width):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return ln((low + width) / low)."""
    # log1p of the relative width, not a difference of logarithms: close stamps keep all their digits.
    growth = width / low
    return math.log1p(growth) if growth < np.inf else math.log(width) - math.log(low)


@compiled(nogil=True)
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
    if code == 4:
        return integral_upto(edges, values, end) - integral_upto(edges, values, start)
    total = 0.0
    last = len(edges) - 1
    for k in range(len(edges)):
        upper = edges[k + 1] if k < last else np.inf
        a, b = max(start, edges[k]), min(end, upper)
        if b > a:
            total += values[k] * (b - a)
    return total

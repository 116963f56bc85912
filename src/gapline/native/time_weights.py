"""Time weights: how much each moment of the budget counts, integrated in closed form (appendix C of the paper).

A user-defined function has no closed form; it is given as a table of its integral (`native/quadrature.py`).
"""

import math

import numpy as np
from numpy.typing import NDArray

from gapline.contract.names import TimeWeight, WeightCode
from gapline.native.compilation import compiled
from gapline.native.quadrature import cached_quadrature, integral_upto, integral_upto_arrays

Floats = NDArray[np.float64]


def weight_arrays(weight: TimeWeight, horizon: float | None = None) -> tuple[Floats, Floats]:
    """Return edges and values for the compiled pass; for a function, the table of its integral over the horizon."""
    if weight.function is not None:
        assert horizon is not None
        table = cached_quadrature(weight.function, horizon, weight.name)
        return table.edges, table.terms
    return np.array(weight.edges), np.array(weight.values)


def width_arrays(
    code: int, cutoff: float, edges: Floats, values: Floats, start: Floats, end: Floats, horizon: Floats
) -> Floats:
    """Return the integrals of the weight over [start, end], bit-identical to `width`."""
    if code == WeightCode.UNIFORM:
        return end - start
    if code == WeightCode.EARLY_LOG:
        a, b = np.maximum(start, cutoff), np.maximum(end, cutoff)
        return _log_growths(a, b - a)
    if code == WeightCode.END_LOG:
        rest, more = np.maximum(horizon - end, cutoff), np.maximum(horizon - start, cutoff)
        return _log_growths(rest, np.where(rest == cutoff, more - rest, end - start))
    if code == WeightCode.FUNCTION:
        return integral_upto_arrays(edges, values, end) - integral_upto_arrays(edges, values, start)
    total = np.zeros(len(start))
    for edge, upper, value in zip(edges, np.append(edges[1:], np.inf), values, strict=True):
        a, b = np.maximum(start, edge), np.minimum(end, upper)
        total = np.where(b > a, total + value * (b - a), total)
    return total


def _log_growths(low: Floats, width: Floats) -> Floats:
    growth = width / low
    # Use `math`, like compiled code: on some processors NumPy's own logarithms differ in the last bit.
    return np.array(
        [
            math.log1p(one) if one < np.inf else math.log(wide) - math.log(from_)
            for one, wide, from_ in zip(growth.tolist(), width.tolist(), low.tolist(), strict=True)
        ],
        np.float64,
    )


@compiled(nogil=True)
def _log_growth(low, width):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return ln((low + width) / low)."""
    # log1p of the relative width keeps all digits for close times; a difference of logarithms would not.
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
        # Compute in remaining time, where the cutoff is exact; horizon - cutoff would be rounded.
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

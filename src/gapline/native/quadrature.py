"""Integrate a function of time with error control, as a table that compiled code can evaluate at any moment.

The horizon is divided into panels. On each, the function is interpolated at 17 Chebyshev points (Clenshaw and Curtis),
and the panel is halved until the interpolant through every second point agrees. `error` is the sum over the panels of
width × largest difference between the two. As far as sampling can tell, it bounds the error of the integral up to any
moment. No method that samples points can detect a spike between all of them.
"""

import heapq
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from gapline.errors import UsageError
from gapline.native.compilation import compiled

Floats = NDArray[np.float64]

_DEGREE = 16
# Number of coefficients of a panel: those of the antiderivative, whose degree is one higher.
TERMS = _DEGREE + 2
TOLERANCE = 1e-12
# Largest accepted relative error; beyond it, not even the printed digits of a score would be correct.
COARSEST = 1e-6
# A jump needs forty halvings to be as narrow as the tolerance: this is enough for a hundred jumps.
_MOST_PANELS = 5000
_NODES = np.cos(np.pi * np.arange(_DEGREE + 1) / _DEGREE)[::-1]


@dataclass(frozen=True, slots=True, eq=False)
class Quadrature:
    """∫ f from 0 to any moment up to the horizon.

    `edges` are those of the panels; `terms` are the Chebyshev coefficients of the integral from 0, TERMS for each
    panel; `whole` is the integral over the horizon, and `error` bounds the error of any of these integrals.
    """

    edges: Floats
    terms: Floats
    whole: float
    error: float

    def upto(self, time: float) -> float:
        """Return the integral from 0 to a moment."""
        return float(integral_upto(self.edges, self.terms, time))


def integrate_function(function: Callable[[float], float], horizon: float, *, name: str = "function") -> Quadrature:
    """Integrate a nonnegative function over the horizon; refuse one that is negative, infinite or not integrable.

    >>> found = integrate_function(lambda t: 2 * t, 10.0)
    >>> round(found.upto(3.0), 12), round(found.whole, 12), found.error < 1e-9
    (9.0, 100.0, True)
    """
    # Equal panels, so that nothing wide is missed, and shorter and shorter ones towards 0, where startup is weighted.
    start = np.unique(np.concatenate([horizon * np.arange(17) / 16, horizon * 0.5 ** np.arange(5.0, 15.0)]))
    panels = [_panel(function, low, high, name) for low, high in pairwise(start.tolist())]
    heap = [(-panel[0], k) for k, panel in enumerate(panels)]
    heapq.heapify(heap)
    error = sum(panel[0] for panel in panels)
    whole = sum(panel[1] for panel in panels)
    while error > TOLERANCE * whole and len(heap) < _MOST_PANELS:
        worst, k = heap[0]
        low, high = panels[k][2], panels[k][3]
        middle = 0.5 * (low + high)
        # A panel between two neighbouring doubles cannot be halved, so the remaining error of a jump is final.
        if not low < middle < high or -worst <= TOLERANCE * whole / _MOST_PANELS:
            break
        parts = [_panel(function, low, middle, name), _panel(function, middle, high, name)]
        error += parts[0][0] + parts[1][0] + worst
        whole += parts[0][1] + parts[1][1] - panels[k][1]
        panels[k] = parts[0]
        panels.append(parts[1])
        heapq.heapreplace(heap, (-parts[0][0], k))
        heapq.heappush(heap, (-parts[1][0], len(panels) - 1))
    return _assemble(panels, horizon, name)


Panel = tuple[float, float, float, float, Floats]


def _panel(function: Callable[[float], float], low: float, high: float, name: str) -> Panel:
    """Return the error, the integral, both ends and the coefficients of the antiderivative from `low` on."""
    half = 0.5 * (high - low)
    times = np.clip(low + half * (_NODES + 1.0), low, high)
    values = np.array([_value(function, float(time), name) for time in times])
    # Compare the coarse interpolant through every second point with the values at the other points.
    coefficients, antiderivative, interpolate_coarse = _matrices()
    coarse = interpolate_coarse @ values[::2]
    error = (high - low) * float(np.max(np.abs(values - coarse)))
    terms = half * (antiderivative @ (coefficients @ values))
    return error, float(terms.sum()), low, high, terms


def _value(function: Callable[[float], float], time: float, name: str) -> float:
    try:
        value = float(function(time))
    except Exception as error:
        raise UsageError(f"weight {name}: {type(error).__name__} at {time:g} s: {error}") from error
    if not (np.isfinite(value) and value >= 0):
        raise UsageError(
            f"weight {name}: expected a finite number of 0 or more, got {value} at {time:g} s",
            hint="begin a weight that grows without bound at a cutoff, as early-log and end-log do",
        )
    return value


def _assemble(panels: list[Panel], horizon: float, name: str) -> Quadrature:
    """Sort the panels, and let each begin at the integral of the previous ones."""
    panels = sorted(panels, key=lambda panel: panel[2])
    integrals = np.array([panel[1] for panel in panels])
    # In extended precision if available; in any case, the rounding of thousands of additions is included in `error`.
    before = np.concatenate([[0.0], np.cumsum(integrals.astype(np.longdouble))]).astype(np.float64)
    whole = float(before[-1])
    if not whole > 0:
        raise UsageError(f"weight {name}: expected some weight before {horizon:g} s, got none")
    error = float(sum(panel[0] for panel in panels)) + (64 + len(panels)) * float(np.finfo(np.float64).eps) * whole
    if error > COARSEST * whole:
        raise UsageError(
            f"weight {name}: expected an integral over {horizon:g} s to within {COARSEST:g} of it, got one that is off "
            f"by {error / whole:.2g} after {len(panels):,} panels",
            hint="a function with so many jumps is a step weight: steps:0=1,10=0.5, gl.step_weight",
        )
    terms = np.array([panel[4] for panel in panels])
    terms[:, 0] += before[:-1]
    edges = np.array([panels[0][2], *(panel[3] for panel in panels)])
    return Quadrature(edges=edges, terms=terms.ravel(), whole=whole, error=error)


@lru_cache(maxsize=512)
def cached_quadrature(function: Callable[[float], float], horizon: float, name: str) -> Quadrature:
    """Return the integral of a function over a horizon, computed once per process."""
    return integrate_function(function, horizon, name=name)


def integral_upto_arrays(edges: Floats, terms: Floats, time: Floats) -> Floats:
    """Return the integrals from 0 to several moments, bit-identical to `integral_upto`."""
    count = len(edges) - 1
    size = len(terms) // count
    k = np.clip(np.searchsorted(edges, time, side="right") - 1, 0, count - 1)
    x = 2.0 * (time - edges[k]) / (edges[k + 1] - edges[k]) - 1.0
    x = np.clip(x, -1.0, 1.0)
    first, second = np.zeros_like(x), np.zeros_like(x)
    for j in range(size - 1, 0, -1):
        first, second = terms[k * size + j] + 2.0 * x * first - second, first
    return np.asarray(terms[k * size] + x * first - second)


@compiled(nogil=True, small=integral_upto_arrays)
def integral_upto(edges, terms, time):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the integral from 0 to a moment (Clenshaw's recurrence on its panel)."""
    count = len(edges) - 1
    size = len(terms) // count
    k = min(max(np.searchsorted(edges, time, side="right") - 1, 0), count - 1)
    x = 2.0 * (time - edges[k]) / (edges[k + 1] - edges[k]) - 1.0
    x = min(max(x, -1.0), 1.0)
    first, second = 0.0, 0.0
    for j in range(size - 1, 0, -1):
        first, second = terms[k * size + j] + 2.0 * x * first - second, first
    return terms[k * size] + x * first - second


@lru_cache(maxsize=1)
def _matrices() -> tuple[Floats, ...]:
    """Return the matrices values → coefficients, coefficients → antiderivative from -1, coarse values → all values."""
    chebyshev = np.polynomial.chebyshev
    coefficients = np.linalg.inv(chebyshev.chebvander(_NODES, _DEGREE))
    antiderivative = np.array([chebyshev.chebint(row, lbnd=-1) for row in np.eye(_DEGREE + 1)]).T
    half = _DEGREE // 2
    coarse = chebyshev.chebvander(_NODES, half) @ np.linalg.inv(chebyshev.chebvander(_NODES[::2], half))
    return tuple(np.asarray(one, np.float64) for one in (coefficients, antiderivative, coarse))

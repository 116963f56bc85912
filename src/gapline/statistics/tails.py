"""Tails and quantiles of Student's t and the studentized range.

They are SciPy's, loaded on first use, with our checks of the arguments. Each tail is computed directly, never as one
minus the rest, so that a p-value of 1e-30 keeps its digits.
"""

import math

import numpy as np
from numpy.typing import ArrayLike

from gapline.errors import UsageError
from gapline.native.arrays import Floats


def t_sf(x: ArrayLike, df: ArrayLike, /) -> Floats:
    """Return P(T > x) of Student's t; the degrees of freedom need not be whole, infinity is the normal.

    >>> round(float(t_sf(1.0, 1)), 15)
    0.25
    """
    from scipy.special import stdtr

    return np.asarray(stdtr(_positive(df), -np.asarray(x, np.float64)))


def t_quantile(p: ArrayLike, df: ArrayLike, /) -> Floats:
    """Return the x with P(T ≤ x) = p.

    >>> round(float(t_quantile(0.975, 4)), 12)
    2.776445105198
    """
    from scipy.special import stdtrit

    p, df = _share(p), _positive(df)
    # The smaller tail keeps all its digits; the size is the same on both sides.
    size = -np.asarray(stdtrit(df, np.minimum(p, 1 - p)))
    return np.asarray(np.where(p == 0.5, 0.0, np.where(p < 0.5, -size, size)))


def noncentral_t_sf(x: float, df: float, shift: float, /) -> float:
    """Return P((Z + shift)/S > x) for a standard normal Z and an independent S² that is chi-square over its df.

    >>> round(noncentral_t_sf(2.0, 7.5, 0.0) - float(t_sf(2.0, 7.5)), 12)
    0.0
    """
    from scipy.special import nctdtr

    below = float(nctdtr(_positive(df), shift, x))
    # SciPy returns NaN if the tail is 0 or 1 to all digits.
    return float(shift > x) if math.isnan(below) else 1 - below


def studentized_range_sf(q: float, groups: int, /) -> float:
    """Return P(range of `groups` standard normals > q): the studentized range with infinite degrees of freedom.

    k ∫ φ(z) (Φ(z)^(k-1) - (Φ(z) - Φ(z-q))^(k-1)) dz by the trapezoidal rule, which converges faster than any power of
    its step for such an integrand.

    >>> round(studentized_range_sf(math.sqrt(2) * 1.959963984540054, 2), 12)
    0.05
    """
    from scipy.special import ndtr

    if groups < 2:
        raise UsageError(f"studentized range: expected at least 2 groups, got {groups}")
    if math.isnan(q):
        return math.nan
    if q <= 0:
        return 1.0
    # Beyond nine standard deviations from the peak of φ(z) Φ(z-q) the integrand vanishes.
    z = np.arange(-9.0, q / 2 + 9.0, 0.03125)
    below, passed = ndtr(z), ndtr(z - q)
    # The difference of the two powers without cancellation.
    lost = -np.expm1((groups - 1) * np.log1p(-np.minimum(passed / below, 1 - 1e-16)))
    terms = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * below ** (groups - 1) * lost
    return min(1.0, float(groups * 0.03125 * np.sum(terms)))


def studentized_range_quantile(p: float, groups: int, /) -> float:
    """Return the q that the range of `groups` standard normals stays below with probability p.

    >>> round(studentized_range_quantile(0.95, 3), 9)
    3.314493155
    """
    _share(p)
    low, high = 0.0, 60.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if studentized_range_sf(middle, groups) > 1 - p else (low, middle)
    return high


def _positive(df: ArrayLike) -> Floats:
    values = np.asarray(df, np.float64)
    if not np.all(values > 0):
        raise UsageError(f"degrees of freedom: expected positive numbers, got {float(np.min(values))}")
    return values


def _share(p: ArrayLike) -> Floats:
    values = np.asarray(p, np.float64)
    if not np.all((values > 0) & (values < 1)):
        wrong = values[~((values > 0) & (values < 1))]
        raise UsageError(f"probability: expected a share between 0 and 1, got {float(wrong.flat[0])}")
    return values

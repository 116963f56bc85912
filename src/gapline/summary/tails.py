"""Tails and quantiles of the distributions that tests need: normal, t, chi-square, F and the studentized range.

Each tail is computed as itself, never as one minus the rest, so that a p-value of 1e-30 keeps its digits.
"""

import math
from collections.abc import Callable
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.errors import UsageError

Floats = NDArray[np.float64]
_NORMAL = NormalDist()
_EPSILON, _TINY = 1e-16, 1e-300
# Continued fractions need about √(largest parameter) terms: this serves degrees of freedom up to some 1e8.
_TERMS = 20_000
_erfc = np.vectorize(math.erfc, otypes=[np.float64])
_lgamma = np.vectorize(math.lgamma, otypes=[np.float64])


def normal_sf(x: ArrayLike, /) -> Floats:
    """Return P(Z > x).

    >>> float(normal_sf(0.0))
    0.5
    """
    return np.asarray(_erfc(np.asarray(x, np.float64) / math.sqrt(2)) / 2)


def normal_quantile(p: float, /) -> float:
    """Return the x below which a standard normal lies with probability p."""
    return _NORMAL.inv_cdf(p)


def t_sf(x: ArrayLike, df: ArrayLike, /) -> Floats:
    """Return P(T > x) of Student's t; the degrees of freedom need not be whole, infinity is the normal.

    >>> round(float(t_sf(1.0, 1)), 15)
    0.25
    """
    x, df = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(df, np.float64))
    _check_positive("degrees of freedom", df)
    whole = np.isfinite(df)
    freedom = np.where(whole, df, 1.0)
    square = x * x
    with np.errstate(invalid="ignore"):
        near = np.where(np.isfinite(square), square / (freedom + square), 1.0)
        tail = _beta_share(freedom / 2, np.full(x.shape, 0.5), freedom / (freedom + square), near) / 2
    tail = np.where(x < 0, 1 - tail, tail)
    return np.asarray(np.where(np.isnan(x), np.nan, np.where(whole, tail, normal_sf(x))))


def t_cdf(x: ArrayLike, df: ArrayLike, /) -> Floats:
    """Return P(T ≤ x) of Student's t."""
    return t_sf(-np.asarray(x, np.float64), df)


def t_quantile(p: ArrayLike, df: ArrayLike, /) -> Floats:
    """Return the x with P(T ≤ x) = p.

    >>> round(float(t_quantile(0.975, 4)), 12)
    2.776445105198
    """
    p, df = np.broadcast_arrays(np.asarray(p, np.float64), np.asarray(df, np.float64))
    _check_positive("degrees of freedom", df)
    if np.any((p <= 0) | (p >= 1)):
        raise UsageError("probability: expected a share between 0 and 1, got one outside")
    tail = np.minimum(p, 1 - p)
    middle = tail >= 0.5
    wanted = np.log(np.where(middle, 0.25, tail))
    normal = np.array([-_NORMAL.inv_cdf(value) for value in np.exp(wanted).ravel()]).reshape(p.shape)
    # Newton for log sf as a function of log x, where it is concave and falling: from the normal quantile, which is
    # never too large, it oversteps at most once and then comes down to the root from above.
    place = np.log(normal)
    for _ in range(100):
        x = np.exp(place)
        there = t_sf(x, df)
        slope = -x * _t_density(x, df) / there
        step = (np.log(there) - wanted) / slope
        place = place - step
        if np.all(np.abs(step) < 1e-15 * np.maximum(1.0, np.abs(place))):
            break
    x = np.where(middle, 0.0, np.where(np.isfinite(df), np.exp(place), normal))
    return np.asarray(np.where(p < 0.5, -x, x))


def chi2_sf(x: ArrayLike, df: ArrayLike, /) -> Floats:
    """Return P(X > x) of the chi-square distribution.

    >>> round(float(chi2_sf(2.0, 2)) * math.e, 15)
    1.0
    """
    x, df = np.broadcast_arrays(np.asarray(x, np.float64), np.asarray(df, np.float64))
    _check_positive("degrees of freedom", df)
    return _gamma_tail(df / 2, x / 2)


def f_sf(x: ArrayLike, df1: ArrayLike, df2: ArrayLike, /) -> Floats:
    """Return P(X > x) of the F distribution.

    >>> round(float(f_sf(1.0, 3, 3)), 15)
    0.5
    """
    x, df1, df2 = np.broadcast_arrays(*(np.asarray(value, np.float64) for value in (x, df1, df2)))
    _check_positive("degrees of freedom", df1)
    _check_positive("degrees of freedom", df2)
    with np.errstate(invalid="ignore"):
        scaled = np.maximum(x, 0.0) * df1
        share = np.where(np.isinf(scaled), 1.0, scaled / (df2 + scaled))
        tail = _beta_share(df2 / 2, df1 / 2, df2 / (df2 + scaled), share)
    return np.asarray(np.where(np.isnan(x), np.nan, tail))


def studentized_range_sf(q: float, groups: int, /) -> float:
    """Return P(range of `groups` standard normals > q): the studentized range with infinite degrees of freedom.

    k ∫ φ(z) (Φ(z)^(k-1) - (Φ(z) - Φ(z-q))^(k-1)) dz by the trapezoidal rule, which converges faster than any power of
    its step for such an integrand.

    >>> round(studentized_range_sf(math.sqrt(2) * 1.959963984540054, 2), 12)
    0.05
    """
    if groups < 2:
        raise UsageError(f"studentized range: expected at least 2 groups, got {groups}")
    if math.isnan(q):
        return math.nan
    if q <= 0:
        return 1.0
    # Beyond nine standard deviations of where φ(z) Φ(z-q) peaks nothing is left.
    z = np.arange(-9.0, q / 2 + 9.0, 0.03125)
    below, passed = normal_sf(-z), normal_sf(q - z)
    # The difference of the two powers, without subtracting near equals.
    lost = -np.expm1((groups - 1) * np.log1p(-np.minimum(passed / below, 1 - 1e-16)))
    terms = np.exp(-z * z / 2) / math.sqrt(2 * math.pi) * below ** (groups - 1) * lost
    return min(1.0, float(groups * 0.03125 * np.sum(terms)))


def studentized_range_quantile(p: float, groups: int, /) -> float:
    """Return the q that the range of `groups` standard normals stays below with probability p.

    >>> round(studentized_range_quantile(0.95, 3), 9)
    3.314493155
    """
    if not 0 < p < 1:
        raise UsageError(f"probability: expected a share between 0 and 1, got {p}")
    low, high = 0.0, 60.0
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if studentized_range_sf(middle, groups) > 1 - p else (low, middle)
    return high


def _t_density(x: Floats, df: Floats) -> Floats:
    freedom = np.where(np.isfinite(df), df, 1.0)
    log = -np.log(freedom) / 2 - _log_beta(freedom / 2, np.full(x.shape, 0.5))
    return np.asarray(np.exp(log - (freedom + 1) / 2 * np.log1p(x * x / freedom)))


def _gamma_tail(a: Floats, x: Floats) -> Floats:
    """Return the regularised upper incomplete gamma function Q(a, x): a series below a + 1, a fraction above."""
    x = np.maximum(x, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        front = np.exp(a * np.log(x) - x - _lgamma(a))
        front = np.where(np.isinf(x) | (x == 0), 0.0, front)
    small = x < a + 1
    near, far = np.where(small, x, 0.0), np.where(small | np.isinf(x), a + 2, x)
    term, total = 1 / a, 1 / a
    for n in range(1, _TERMS):
        term = term * near / (a + n)
        total = total + term
        if np.all(term <= _EPSILON * total):
            break
    fraction = _fraction(lambda n: (-n * (n - a), far + 2 * n + 1 - a), 1 / (far + 1 - a))
    return np.asarray(np.where(np.isnan(x), np.nan, np.where(small, 1 - front * total, front * fraction)))


def _beta_share(a: Floats, b: Floats, x: Floats, y: Floats) -> Floats:
    """Return the regularised incomplete beta function I_x(a, b), with y = 1 - x given to its own last digit."""
    flip = x > (a + 1) / (a + b + 2)
    p, q = np.where(flip, b, a), np.where(flip, a, b)
    u, v = np.where(flip, y, x), np.where(flip, x, y)
    with np.errstate(divide="ignore", invalid="ignore"):
        log_u = np.where(u < 0.5, np.log(u), np.log1p(-v))
        log_v = np.where(v < 0.5, np.log(v), np.log1p(-u))
        front = np.where(u <= 0, 0.0, np.exp(p * log_u + q * log_v - _log_beta(p, q)) / p)

    def terms(n: int) -> tuple[Floats, Floats]:
        m = n // 2
        above = -(p + m) * (p + q + m) if n % 2 else m * (q - m)
        return above * u / ((p + n - 1) * (p + n)), one

    one = np.ones(p.shape)
    share = front * _fraction(terms, one)
    return np.asarray(np.where(flip, 1 - share, share))


def _fraction(terms: Callable[[int], tuple[Floats, Floats]], first: Floats) -> Floats:
    """Continue a fraction by Lentz's rule; `terms(n)` are its n-th numerator and denominator."""
    d = first
    value = first
    c = np.full(first.shape, 1 / _TINY)
    for n in range(1, _TERMS):
        above, below = terms(n)
        d = below + above * d
        d = 1 / np.where(np.abs(d) < _TINY, _TINY, d)
        c = below + above / c
        c = np.where(np.abs(c) < _TINY, _TINY, c)
        value = value * c * d
        if np.all(np.abs(c * d - 1) <= 4 * _EPSILON):
            break
    return np.asarray(value)


def _log_beta(a: Floats, b: Floats) -> Floats:
    """Return log B(a, b) without the difference of two large log-gammas."""
    small, large = np.minimum(a, b), np.maximum(a, b)
    plain = _lgamma(small) + _lgamma(large) - _lgamma(small + large)
    small, large = np.minimum(a, b), np.maximum(large, 10.0)
    correction = _stirling(large) - _stirling(small + large)
    mixed = _lgamma(small) - (large - 0.5) * np.log1p(small / large) - small * (np.log(small + large) - 1) + correction
    both = np.maximum(small, 10.0)
    ratio = both / large
    big = (
        math.log(2 * math.pi) / 2
        - np.log(large) / 2
        + (both - 0.5) * np.log(ratio / (1 + ratio))
        - large * np.log1p(ratio)
        + _stirling(both)
        + _stirling(large)
        - _stirling(both + large)
    )
    return np.asarray(np.where(np.maximum(a, b) < 10, plain, np.where(small < 10, mixed, big)))


def _stirling(a: Floats) -> Floats:
    """Return log Γ(a) - ((a - 1/2) log a - a + log √2π), for a of 10 and more."""
    square = 1 / (a * a)
    series = 1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * (691 / 360360 - square / 156)))
    return np.asarray((1 / 12 - square * (1 / 360 - square * series)) / a)


def _check_positive(what: str, values: Floats) -> None:
    if np.any(~(values > 0)):
        raise UsageError(f"{what}: expected positive numbers, got {float(np.min(values))}")

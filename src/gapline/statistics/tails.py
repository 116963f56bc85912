"""Tails and quantiles of the distributions that tests need: normal, t, chi-square, F and the studentized range.

Beside them, the noncentral t for the power of a test.

Each tail is computed as itself, never as one minus the rest, so that a p-value of 1e-30 keeps its digits.
"""

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.errors import UsageError
from gapline.native.compilation import compiled

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
    tails = np.empty(x.size)
    # Copies: of a view of broadcast arrays NumPy warns where Numba looks at it.
    _fill_t_tails(x.flatten(), df.flatten(), tails)
    return tails.reshape(x.shape)


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
    # Mostly one share for many degrees of freedom.
    shares, place = np.unique(np.minimum(p, 1 - p), return_inverse=True)
    normal = np.array([-_NORMAL.inv_cdf(share) for share in shares])[place.ravel()]
    places = np.empty(p.size)
    _fill_t_places(np.minimum(p, 1 - p).flatten(), df.flatten(), normal, places)
    return np.asarray(np.where(p < 0.5, -places.reshape(p.shape), places.reshape(p.shape)))


def noncentral_t_sf(x: float, df: float, shift: float, /) -> float:
    """Return P((Z + shift)/S > x) for a standard normal Z and an independent S² that is chi-square over its df.

    E Φ(shift - x S) over log S by the trapezoidal rule, whose error falls geometrically for such an integrand.

    >>> round(noncentral_t_sf(2.0, 7.5, 0.0) - float(t_sf(2.0, 7.5)), 12)
    0.0
    """
    _check_positive("degrees of freedom", np.array([df]))
    return float(_noncentral_tail(x, df, shift))


def chi2_quantile(p: float, df: float, /) -> float:
    """Return the x with P(X ≤ x) = p of the chi-square distribution.

    >>> round(chi2_quantile(0.5, 2.0) / math.log(4), 12)
    1.0
    """
    if not 0 < p < 1:
        raise UsageError(f"probability: expected a share between 0 and 1, got {p}")
    # Newton's rule from the quantile of Wilson and Hilferty, which a bracket keeps from leaving.
    part = 2 / (9 * df)
    place = df * max(1 - part + _NORMAL.inv_cdf(p) * math.sqrt(part), 0.01) ** 3
    low, high = 0.0, math.inf
    for _ in range(200):
        missing = float(chi2_sf(place, df)) - (1 - p)
        low, high = (place, high) if missing > 0 else (low, place)
        log_density = (df / 2 - 1) * math.log(place) - place / 2 - math.lgamma(df / 2) - df / 2 * math.log(2)
        step = missing * math.exp(min(-log_density, 700.0))
        following = place + step
        if not low <= following <= high:
            following = (low + high) / 2 if math.isfinite(high) else 2 * place
        if abs(following - place) <= 1e-13 * place:
            return following
        place = following
    return place


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
    tails = np.empty(x.size)
    _fill_f_tails(x.flatten(), df1.flatten(), df2.flatten(), tails)
    return tails.reshape(x.shape)


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


def _gamma_tail(a: Floats, x: Floats) -> Floats:
    """Return the regularised upper incomplete gamma function Q(a, x): a series below a + 1, a fraction above."""
    x = np.maximum(x, 0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        front = np.exp(a * np.log(x) - x - _lgamma(a))
        front = np.where(np.isinf(x) | (x == 0), 0.0, front)
    small = x < a + 1
    near, far = np.where(small, x, 0.0), np.where(small | np.isinf(x), a + 2, x)
    sums, fractions = np.empty(x.size), np.empty(x.size)
    _fill_gamma_series(a.flatten(), near.flatten(), sums)
    _fill_gamma_fraction(a.flatten(), far.flatten(), fractions)
    total, fraction = sums.reshape(x.shape), fractions.reshape(x.shape)
    return np.asarray(np.where(np.isnan(x), np.nan, np.where(small, 1 - front * total, front * fraction)))


@compiled()
def _fill_gamma_series(a, x, total):  # type: ignore[no-untyped-def] # pragma: no cover
    """Add terms until no sum of any place changes."""
    term = 1 / a
    total[:] = term
    for n in range(1, _TERMS):
        going = False
        for k in range(len(a)):
            term[k] = term[k] * x[k] / (a[k] + n)
            total[k] += term[k]
            going = going or not term[k] <= _EPSILON * total[k]
        if not going:
            break


@compiled()
def _fill_gamma_fraction(a, x, value):  # type: ignore[no-untyped-def] # pragma: no cover
    """Continue the fraction by Lentz's rule until no place changes."""
    d = 1 / (x + 1 - a)
    c = np.full(len(a), 1 / _TINY)
    value[:] = d
    for n in range(1, _TERMS):
        going = False
        for k in range(len(a)):
            above, below = -n * (n - a[k]), x[k] + 2 * n + 1 - a[k]
            d[k] = below + above * d[k]
            d[k] = 1 / (d[k] if not abs(d[k]) < _TINY else _TINY)
            c[k] = below + above / c[k]
            c[k] = c[k] if not abs(c[k]) < _TINY else _TINY
            value[k] = value[k] * c[k] * d[k]
            going = going or not abs(c[k] * d[k] - 1) <= 1e-15
        if not going:
            break


@compiled(interpreted=True)
def _fill_t_tails(x, df, tails):  # type: ignore[no-untyped-def] # pragma: no cover
    for place in range(len(x)):
        tails[place] = _t_tail(x[place], df[place])


@compiled(interpreted=True)
def _fill_t_places(tails, df, normal, places):  # type: ignore[no-untyped-def] # pragma: no cover
    """Solve for the t of each tail by Newton's rule for log sf over log t, where it is concave and falling.

    From the normal quantile, which is never too large, it oversteps at most once and comes down to the root from above.
    """
    for k in range(len(tails)):
        if tails[k] >= 0.5 or df[k] == np.inf:
            places[k] = 0.0 if tails[k] >= 0.5 else normal[k]
            continue
        place, freedom, wanted = math.log(normal[k]), df[k], math.log(tails[k])
        front = -math.log(freedom) / 2 - _log_beta(freedom / 2, 0.5)
        for _ in range(60):
            x = math.exp(place)
            there = _t_tail(x, freedom)
            density = math.exp(front - (freedom + 1) / 2 * math.log1p(x * x / freedom))
            step = (math.log(there) - wanted) / (-x * density / there)
            place -= step
            if abs(step) < 4e-16 * max(1.0, abs(place)):
                break
        places[k] = math.exp(place)


@compiled()
def _fill_f_tails(x, df1, df2, tails):  # type: ignore[no-untyped-def] # pragma: no cover
    for k in range(len(x)):
        if np.isnan(x[k]):
            tails[k] = np.nan
            continue
        scaled = max(x[k], 0.0) * df1[k]
        share = 1.0 if scaled == np.inf else scaled / (df2[k] + scaled)
        tails[k] = _beta_share(df2[k] / 2, df1[k] / 2, df2[k] / (df2[k] + scaled), share)


@compiled()
def _t_tail(x, df):  # type: ignore[no-untyped-def] # pragma: no cover
    if np.isnan(x):
        return np.nan
    if df == np.inf:
        return math.erfc(x / math.sqrt(2.0)) / 2
    square = x * x
    near = 1.0 if square == np.inf else square / (df + square)
    tail = _beta_share(df / 2, 0.5, df / (df + square), near) / 2
    return 1 - tail if x < 0 else tail


@compiled()
def _noncentral_tail(x, df, shift):  # type: ignore[no-untyped-def] # pragma: no cover
    """Sum over y = log S, whose density is exp(df y - df/2 e^(2y)) up to a factor, highest at 0."""
    if df > 1e7:
        return math.erfc((x - shift) / math.sqrt(2.0)) / 2
    spread = 1 / math.sqrt(2 * df)
    low, high = -9 * spread - 40 / df, 9 * spread + 0.5
    # So far to one side that the normal tail is 1 or 0 all along: there would be as many steps as the shift is large.
    ends = (x * math.exp(low), x * math.exp(high))
    if max(ends) < shift - 9 or min(ends) > shift + 40:
        return 1.0 if shift > ends[0] else 0.0
    # The normal tail turns from 1 to 0 within a width of 1/shift.
    step = min(spread / 8, 0.1 / max(1.0, abs(shift)))
    mass, total = 0.0, 0.0
    y = low
    while y < high:
        density = math.exp(df * (y - math.expm1(2 * y) / 2))
        mass += density
        total += density * math.erfc((x * math.exp(y) - shift) / math.sqrt(2.0)) / 2
        y += step
    return total / mass


@compiled()
def _beta_share(a, b, x, y):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the regularised incomplete beta function I_x(a, b), with y = 1 - x given to its own last digit."""
    flip = x > (a + 1) / (a + b + 2)
    p, q, u, v = (b, a, y, x) if flip else (a, b, x, y)
    share = 0.0
    if u > 0:
        log_u = math.log(u) if u < 0.5 else math.log1p(-v)
        log_v = (math.log(v) if v > 0 else -np.inf) if v < 0.5 else math.log1p(-u)
        # Lentz's rule for the continued fraction.
        d, c, value = 1.0, 1 / _TINY, 1.0
        for n in range(1, _TERMS):
            m = n // 2
            above = (-(p + m) * (p + q + m) if n % 2 else m * (q - m)) * u / ((p + n - 1) * (p + n))
            d = 1 + above * d
            d = 1 / (d if abs(d) >= _TINY else _TINY)
            c = 1 + above / c
            c = c if abs(c) >= _TINY else _TINY
            value *= c * d
            if abs(c * d - 1) <= 1e-15:
                break
        share = math.exp(p * log_u + q * log_v - _log_beta(p, q)) / p * value
    return 1 - share if flip else share


@compiled()
def _log_beta(a, b):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return log B(a, b) without the difference of two large log-gammas."""
    small, large = min(a, b), max(a, b)
    if large < 10:
        return math.lgamma(small) + math.lgamma(large) - math.lgamma(small + large)
    if small < 10:
        correction = _stirling(large) - _stirling(small + large)
        shrunk = (large - 0.5) * math.log1p(small / large) + small * (math.log(small + large) - 1)
        return math.lgamma(small) - shrunk + correction
    ratio = small / large
    main = (small - 0.5) * math.log(ratio / (1 + ratio)) - large * math.log1p(ratio)
    correction = _stirling(small) + _stirling(large) - _stirling(small + large)
    return math.log(2 * math.pi) / 2 - math.log(large) / 2 + main + correction


@compiled()
def _stirling(a):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return log Γ(a) - ((a - 1/2) log a - a + log √2π), for a of 10 and more."""
    square = 1 / (a * a)
    series = 1 / 1260 - square * (1 / 1680 - square * (1 / 1188 - square * (691 / 360360 - square / 156)))
    return (1 / 12 - square * (1 / 360 - square * series)) / a


def _check_positive(what: str, values: Floats) -> None:
    if np.any(~(values > 0)):
        raise UsageError(f"{what}: expected positive numbers, got {float(np.min(values))}")

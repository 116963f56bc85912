"""Student's t over instances within panels, and its guard against skewed differences.

The standard error of a pooled mean comes from the spread of the instances inside each panel, with Satterthwaite's
degrees of freedom. If the instances are skewed, t is overconfident on one side. Hall's transformation of t removes the
estimated skewness, but with few instances that estimate is poor. So the guarded interval contains both, and the guarded
p is the larger one: of the methods in docs/statistics.md, this keeps its error rate best.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from gapline.native.arrays import Floats, Integers
from gapline.statistics.tails import t_quantile, t_sf

# Below this skewness the cube root of the transformation loses more digits than it corrects.
_SYMMETRIC = 1e-6


class Moments(NamedTuple):
    """Moments of pooled means, one per column: standard error, degrees of freedom, and skewness of the mean itself."""

    error: Floats
    df: Floats
    skewness: Floats


def panel_centred(values: Floats, strata: Integers) -> Floats:
    """Subtract the mean of its stratum from every row of values (units × columns).

    >>> panel_centred(np.array([[1.0], [3.0], [5.0]]), np.array([0, 0, 1])).ravel().tolist()
    [-1.0, 1.0, 0.0]
    """
    row, size = np.unique(strata, return_inverse=True, return_counts=True)[1:]
    centred: Floats = (_panel_sums(values, strata) / size[:, None])[row]
    # In place: with many instances and times each array is large.
    np.subtract(values, centred, out=centred)
    return centred


def _panel_sums(values: Floats, strata: Integers) -> Floats:
    """Return the sums of the rows of each stratum, added in sequence, as the report page does."""
    # The last bits of a matrix product depend on the library.
    order = np.argsort(strata, kind="stable")
    members = np.split(order, np.flatnonzero(np.diff(strata[order])) + 1) if len(order) else []
    return np.array([np.add.accumulate(values[rows], axis=0)[-1] for rows in members]).reshape(-1, values.shape[1])


def stratified_moments(pull: Floats, strata: Integers) -> Moments:
    """Estimate the moments of pooled means from the pull of each instance, one column per mean.

    The pull of an instance is its weight times its distance from the mean of its panel, so that resampled pulls sum to
    the deviation of a resampled mean. Every panel needs two instances. With V_p = n/(n-1) Σ pull² of a panel of n, the
    squared error is V = Σ V_p and the degrees of freedom are V² / Σ V_p²/(n-1); the third moment of a panel is
    n²/((n-1)(n-2)) Σ pull³. Without any spread the error is 0.

    >>> moments = stratified_moments(np.array([[-1.0], [0.0], [1.0]]) / 3, np.zeros(3, np.int64))
    >>> round(float(moments.error[0]), 12), float(moments.df[0]), float(moments.skewness[0])
    (0.57735026919, 2.0, 0.0)
    """
    size = np.unique(strata, return_counts=True)[1].astype(np.float64)[:, None]
    # Products, not powers, whose last bit depends on the machine's library.
    square, cube = _panel_sums(pull * pull, strata), _panel_sums(pull * pull * pull, strata)
    panels = size / (size - 1) * square
    variance = _sum(panels)
    # Two instances of a panel are symmetric about their mean: they show no skewness.
    third = np.divide(size**2, (size - 1) * (size - 2), out=np.zeros_like(size), where=size > 2)
    doubt = _sum(panels * panels / (size - 1))
    flat = variance <= 0
    with np.errstate(divide="ignore", invalid="ignore"):
        df = np.where(flat, 1.0, variance * variance / doubt)
        skewness = np.where(flat, 0.0, _sum(third * cube) / (variance * np.sqrt(variance)))
    # After an underflow of the variance, these may not be finite.
    good = np.isfinite(df) & np.isfinite(skewness)
    return Moments(np.sqrt(variance), np.where(good, df, 1.0), np.where(good, skewness, 0.0))


def _sum(panels: Floats) -> Floats:
    return np.asarray(np.add.accumulate(panels, axis=0)[-1]) if len(panels) else np.zeros(panels.shape[1])


def student_p(value: ArrayLike, moments: Moments, /, *, guarded: bool) -> Floats:
    """Return the two-sided p of "no difference"; without spread, 1 if there is no difference, else 0."""
    value = np.asarray(value, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        t = np.where(moments.error > 0, value / moments.error, np.where(value == 0, 0.0, np.sign(value) * np.inf))
    p = 2 * t_sf(np.abs(t), moments.df)
    if guarded:
        p = np.maximum(p, 2 * t_sf(np.abs(_without_skewness(t, moments.skewness)), moments.df))
    return np.asarray(np.minimum(p, 1.0))


def student_interval(
    value: ArrayLike, moments: Moments, /, *, level: ArrayLike, guarded: bool
) -> tuple[Floats, Floats]:
    """Return the ends of the range that `student_p` does not reject at 1 - level."""
    value = np.asarray(value, np.float64)
    q = t_quantile((1 + np.asarray(level, np.float64)) / 2, moments.df)
    low, high = value - q * moments.error, value + q * moments.error
    if guarded:
        low = np.minimum(low, value - moments.error * _with_skewness(q, moments.skewness))
        high = np.maximum(high, value - moments.error * _with_skewness(-q, moments.skewness))
    return low, high


def _without_skewness(t: Floats, skewness: Floats) -> Floats:
    """Return Hall's transformation ((1 + kt/3)³ - 1)/k + k/6 of t, expanded; it increases with t for every k."""
    with np.errstate(invalid="ignore"):
        moved = t + skewness * t * t / 3 + skewness * skewness * t * t * t / 27 + skewness / 6
    return np.where(np.isinf(t), t, moved)


def _with_skewness(y: Floats, skewness: Floats) -> Floats:
    """Return the t whose `_without_skewness` is y."""
    small = np.abs(skewness) < _SYMMETRIC
    k = np.where(small, 1.0, skewness)
    exact = 3 * (np.cbrt(1 + k * (y - k / 6)) - 1) / k
    return np.where(small, y - skewness / 6 - skewness * y * y / 3, exact)

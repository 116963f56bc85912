"""Bootstrap intervals and p-values from draws that were made elsewhere."""

from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from gapline.errors import UsageError
from gapline.summary.tails import normal_quantile, t_quantile, t_sf

Floats = NDArray[np.float64]
_NORMAL = NormalDist()
# Draws of a mean carry rounding of their own: two that differ by less are the same draw.
_ROUNDING = 1e-12


def check_level(level: float) -> None:
    """Refuse a level that is no share."""
    if not 0 < level < 1:
        raise UsageError(f"level: expected a share between 0 and 1, got {level}")


def percentile_intervals(draws: Floats, *, level: float = 0.95) -> tuple[Floats, Floats]:
    """Return the lower and upper ends for each column of draws (draws × statistics), linearly interpolated.

    >>> low, high = percentile_intervals(np.linspace(0, 1, 101)[:, None], level=0.9)
    >>> round(float(low[0]), 12), round(float(high[0]), 12)
    (0.05, 0.95)
    """
    check_level(level)
    ends = np.quantile(np.ascontiguousarray(draws.T), [(1 - level) / 2, (1 + level) / 2], axis=1)
    return ends[0], ends[1]


def bca_interval(draws: Floats, estimate: float, acceleration: float, *, level: float = 0.95) -> tuple[float, float]:
    """Return the bias-corrected and accelerated interval of one statistic.

    The bias correction is the normal quantile of the share of draws below the estimate (half of those equal to it). All
    draws on one side leave no correction to estimate: the percentile interval is returned then.
    """
    check_level(level)
    share = _share_below(draws, estimate, estimate)
    if not 0 < share < 1:
        low, high = percentile_intervals(draws[:, None], level=level)
        return float(low[0]), float(high[0])
    bias = _NORMAL.inv_cdf(share)
    ends = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        shifted = bias + _NORMAL.inv_cdf(tail)
        ends.append(_NORMAL.cdf(bias + shifted / (1 - acceleration * shifted)))
    low, high = np.quantile(draws, ends)
    return float(low), float(high)


def bca_p(draws: Floats, estimate: float, acceleration: float) -> float:
    """Return the smallest 1 - level at which the interval of `bca_interval` leaves 0 out; never below 2/(draws + 1)."""
    bias = _normal_place(draws, estimate, estimate)
    place = _normal_place(draws, 0.0, estimate) - bias
    return _two_tails(place / (1 + acceleration * place) - bias, len(draws))


def calibrated_interval(draws: Floats, widening: float, df: float, *, level: float = 0.95) -> tuple[float, float]:
    """Return the percentile interval at tails so far out that normal data would give the interval of Student's t.

    `widening` is the standard error over that of the draws, which have n - 1 instead of n in their variance.
    """
    check_level(level)
    tail = _NORMAL.cdf(-widening * float(t_quantile((1 + level) / 2, df)))
    low, high = np.quantile(draws, [tail, 1 - tail])
    return float(low), float(high)


def calibrated_p(draws: Floats, estimate: float, widening: float, df: float) -> float:
    """Return the smallest 1 - level at which the interval of `calibrated_interval` leaves 0 out.

    The interval ends where the draws end: 0 beyond all of them is left out at every level.
    """
    if draws.min() > 0 or draws.max() < 0:
        return 2 / (len(draws) + 1)
    place = _normal_place(draws, 0.0, estimate)
    return min(1.0, 2 * float(t_sf(abs(place) / widening, df)))


def studentized_interval(
    deviations: Floats, errors: Floats, estimate: float, error: float, *, level: float = 0.95
) -> tuple[float, float]:
    """Return the bootstrap-t interval: quantiles of each draw's deviation over its own standard error.

    An end is infinite where draws without any spread reach into the tail.
    """
    check_level(level)
    low, high = np.quantile(_ratios(deviations, errors), [(1 - level) / 2, (1 + level) / 2], method="inverted_cdf")
    return estimate - error * float(high), estimate - error * float(low)


def studentized_p(deviations: Floats, errors: Floats, estimate: float, error: float) -> float:
    """Return twice the smaller share of draws whose t lies beyond the one seen, itself counted."""
    ratios, seen = _ratios(deviations, errors), estimate / error
    below, above = (int(np.count_nonzero(side)) + 1 for side in (ratios <= seen, ratios >= seen))
    return min(1.0, 2 * min(below, above) / (len(ratios) + 1))


def _ratios(deviations: Floats, errors: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = deviations / errors
    # A draw without spread says nothing where it does not deviate, and everything where it does.
    return np.where(np.isnan(ratios), 0.0, ratios)


def _normal_place(draws: Floats, point: float, estimate: float) -> float:
    """Return the normal quantile of the share of draws below a point, half of those at it; never infinite."""
    end = 1 / (len(draws) + 1)
    return normal_quantile(min(max(_share_below(draws, point, estimate), end), 1 - end))


def _share_below(draws: Floats, point: float, estimate: float) -> float:
    """Return the share of draws below a point, and half of those at it up to the rounding of such an estimate."""
    slack = _ROUNDING * max(1.0, abs(estimate))
    return float(np.mean(draws < point - slack) + np.mean(draws <= point + slack)) / 2


def _two_tails(place: float, draws: int) -> float:
    return max(2 / (draws + 1), min(1.0, 2 * _NORMAL.cdf(-abs(place))))


def acceleration(pull: Floats) -> float:
    """Return the acceleration Σ pull³ / (6 (Σ pull²)^1.5) of a stratified mean; in one stratum it is the jackknife's.

    Zero where no unit has any pull.
    """
    spread = float(np.sum(pull**2))
    return float(np.sum(pull**3)) / (6 * spread**1.5) if spread > 0 else 0.0


def two_sided_p(draws: Floats, estimate: float) -> float:
    """Return the two-sided bootstrap p-value of a difference: (count + 1) / (draws + 1).

    Counted are draws whose deviation from the estimate is at least as large as the estimate itself, that is, draws from
    the distribution shifted to no difference that are as extreme as what was seen. It is never 0.

    >>> two_sided_p(np.array([0.5, 1.0, 1.5, 2.5]), 1.0)
    0.4
    """
    # With a difference of exactly 0 every draw is as extreme: p is 1, whatever the rounding.
    extreme = np.abs(draws - estimate) >= abs(estimate) - _ROUNDING
    return (int(np.count_nonzero(extreme)) + 1) / (len(draws) + 1)

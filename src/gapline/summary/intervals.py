"""Bootstrap intervals and p-values from draws that were made elsewhere."""

from enum import StrEnum
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from gapline.errors import UsageError, listing

Floats = NDArray[np.float64]
_NORMAL = NormalDist()
# Draws of a mean carry rounding of their own: two that differ by less are the same draw.
_ROUNDING = 1e-12


class Method(StrEnum):
    """How an interval is read from the draws."""

    PERCENTILE = "percentile"
    BCA = "bca"


def parse_method(name: str | Method, /) -> Method:
    """Find an interval by its name."""
    if name in list(Method):
        return Method(name)
    raise UsageError(f"interval: expected {listing(Method)}, got {name!r}")


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
    scale = _ROUNDING * max(1.0, abs(estimate))
    share = float(np.mean(draws < estimate - scale) + np.mean(draws <= estimate + scale)) / 2
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


def acceleration(influence: Floats, strata: NDArray[np.int64]) -> float:
    """Return the acceleration of a stratified mean from the influence of each unit.

    a = Σ_p n_p⁻³ Σ_i l³ / (6 (Σ_p n_p⁻² Σ_i l²)^1.5), with n_p units in stratum p; in one stratum this is the usual
    jackknife formula. Zero where no unit has any influence.
    """
    if not len(influence):
        return 0.0
    size = np.bincount(strata)[strata]
    scaled = influence / size
    spread = float(np.sum(scaled**2))
    return float(np.sum(scaled**3)) / (6 * spread**1.5) if spread > 0 else 0.0


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

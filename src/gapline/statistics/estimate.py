"""A pooled mean or difference with its interval and p-value, by the chosen method."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.contract.names import removed_interval
from gapline.errors import UsageError, listing
from gapline.native.arrays import Floats, Integers
from gapline.statistics import intervals
from gapline.statistics.cells import TIE, no_variation_reason
from gapline.statistics.intervals import ROUNDING, DrawnSums
from gapline.statistics.student import Moments, panel_centred, stratified_moments, student_interval, student_p

# Up to this many instances all signs are enumerated, which is exact; beyond it, signs are drawn.
EXACT = 14


class Flips(NamedTuple):
    """The pooled difference and the sum of the weights under each assignment of signs; the first flips nothing."""

    difference: Floats
    weight: Floats
    exact: bool


def flip_signs(parts: Floats, weights: Floats, *, draws: int, seed: int) -> Flips:
    """Flip the signs of the instances in a pooled difference in every way, or in `draws` ways if there are many.

    `parts` are the instances' shares of the difference, which is their sum; `weights` their weights in it.
    """
    moving = (parts != 0) | (weights != 0)
    count = int(moving.sum())
    exact = count <= EXACT
    if exact:
        # One sign can be fixed: flipping all of them gives the same absolute sums.
        numbers = np.arange(2 ** max(0, count - 1))[:, None]
        signs = 1.0 - 2.0 * ((numbers >> np.arange(count)) & 1)
    else:
        generator = np.random.Generator(np.random.PCG64(seed))
        signs = 1.0 - 2.0 * generator.integers(0, 2, size=(draws + 1, count))
        signs[0] = 1.0
    return Flips(_signed_sums(signs, parts[moving]), _signed_sums(signs, weights[moving]), exact)


def _signed_sums(signs: NDArray[np.floating[Any]], values: Floats) -> Floats:
    """Add up the values under each row of signs in sequence, as the report page does."""
    total = np.zeros(len(signs))
    for column, value in zip(signs.T, values.tolist(), strict=True):
        total += column * value
    return total


def flip_p(flips: Flips) -> float:
    """Return the share of flips whose difference is as large as the observed one, which is one of them.

    >>> equal = np.full(6, 1 / 6)
    >>> flip_p(flip_signs(equal * 0.1, equal, draws=9, seed=1))
    0.03125
    """
    seen = abs(flips.difference[0])
    return float(np.mean(np.abs(flips.difference) >= seen - ROUNDING * max(1.0, seen)))


def smallest_flip_p(parts: Floats, draws: int) -> float:
    """Return the smallest p that these instances can give; instances without a difference do not count."""
    count = int(np.count_nonzero(parts))
    return 2.0 ** (1 - max(1, count)) if count <= EXACT else 1 / (draws + 1)


def flip_interval(flips: Flips, *, level: float) -> tuple[float, float] | None:
    """Return the range of shifts of the difference that the test does not reject, None if it is unbounded.

    A flip with sum B and weight W keeps a shift δ of the difference A while |B - Wδ| ≥ |A - δ|: between (A - B)/(1 - W)
    and (A + B)/(1 + W). The ends are the quantiles of these ends.

    >>> equal = np.full(5, 0.2)
    >>> flip_interval(flip_signs(equal * np.arange(5), equal, draws=9, seed=1), level=0.95) is None
    True
    """
    seen, whole = flips.difference[0], flips.weight[0]
    with np.errstate(divide="ignore", invalid="ignore"):
        one = (seen - flips.difference) / (whole - flips.weight)
        other = (seen + flips.difference) / (whole + flips.weight)
    # Flips of instances without weight, and the one that flips nothing, never reject a shift.
    free = (np.abs(flips.weight) >= abs(whole) - ROUNDING) | np.isnan(one) | np.isnan(other)
    low = np.sort(np.where(free, -np.inf, np.minimum(one, other)))
    high = np.sort(np.where(free, np.inf, np.maximum(one, other)))
    place = int(np.floor((1 - level) * len(low) + ROUNDING))
    ends = float(low[place]), float(high[len(high) - 1 - place])
    return ends if np.isfinite(ends).all() else None


class Method(StrEnum):
    """The methods of intervals and p-values; docs/statistics.md has the error rates of each."""

    SKEW_T = "skew-t"
    T = "t"
    PERCENTILE = "percentile"
    SIGN_FLIP = "sign-flip"


DEFAULT_METHOD = Method.SKEW_T
_WORDS = {
    Method.SKEW_T: "Student's t over instances within panels, guarded against skewness",
    Method.T: "Student's t over instances within panels",
    Method.PERCENTILE: "the percentile cluster bootstrap of instances within panels",
    Method.SIGN_FLIP: "sign flips of instances",
}


def parse_method(name: str | Method, /) -> Method:
    """Return a method by its name."""
    if name in list(Method):
        return Method(name)
    raise UsageError(f"interval: expected {listing(Method)}, got {name!r}", hint=removed_interval(name))


def method_words(method: str | Method, draws: int, seed: int) -> str:
    """Describe the method of the intervals, with its draws if there are any.

    >>> method_words("percentile", 1000, 1)
    'the percentile cluster bootstrap of instances within panels, 1,000 draws, seed 1 (percentile)'
    """
    found = parse_method(method)
    drawn = "" if found in (Method.SKEW_T, Method.T) else f", {draws:,} draws, seed {seed}"
    return f"{_WORDS[found]}{drawn} ({found.value})"


class Judgement(NamedTuple):
    """Interval and p of an estimate; `smallest` is the smallest p that the method could give, if it has one.

    `reason` says why there is no interval.
    """

    low: float | None
    high: float | None
    p: float | None
    smallest: float | None
    reason: str | None


def panel_equal(values: Floats, strata: Integers, *, draws: int, seed: int = 1) -> "Estimate":
    """Return the estimate of a mean over instances in which every panel counts equally.

    >>> panel_equal(np.array([1.0, 3.0, 4.0, 4.0]), np.array([0, 0, 1, 1]), draws=9).value
    3.0
    """
    size = np.bincount(strata)
    weights = 1 / size[strata] / np.count_nonzero(size)
    return of_shares(weights * values, weights, strata, draws=draws, seed=seed)


def of_shares(shares: Floats, weights: Floats, strata: Integers, *, draws: int, seed: int = 1) -> "Estimate":
    """Return the estimate of a sum of the instances' shares; weights are equal inside a panel."""
    value, pull = float(shares.sum()), panel_centred(shares[:, None], strata)

    def drawn() -> Floats:
        sums = DrawnSums(strata, pull, draws=draws, seed=seed).over()
        return np.asarray(value + sum(part[:, 0] for part in sums))

    return Estimate(value, (value,), shares, weights, pull[:, 0], strata, drawn, draws, seed)


@dataclass(frozen=True, slots=True, eq=False)
class Estimate:
    """A mean, or a difference of the means in `parts`, and the instances behind it.

    `shares` are the instances' parts of the value, which is their sum, `weights` how much each counts, and `pull` how
    far each pulls the value from the mean of its panel. `reason` says why only the value exists. `limits` is the range
    of the value; intervals are clipped to it.
    """

    value: float
    parts: tuple[float, ...]
    shares: Floats
    weights: Floats
    pull: Floats
    strata: Integers
    drawn: Callable[[], Floats] = field(repr=False)
    draw_count: int = 0
    seed: int = 1
    reason: str | None = None
    limits: tuple[float, float] = (-np.inf, np.inf)

    @property
    def tied(self) -> bool:
        """Whether every instance has the value 0; for a difference, whether no instance differs."""
        return self.instances > 0 and bool(np.all(np.abs(self.shares) <= TIE * self.weights))

    @property
    def flat(self) -> bool:
        """Whether the instances of each panel are equal, so that there is no spread to estimate."""
        return self.reason is None and float(self.moments.error[0]) <= ROUNDING * max(1.0, abs(self.value))

    @property
    def instances(self) -> int:
        """The number of instances behind the value."""
        return len(self.strata)

    @property
    def draws(self) -> Floats:
        """The value under each bootstrap draw of instances."""
        return self.drawn()

    @property
    def moments(self) -> Moments:
        """Standard error, degrees of freedom and skewness of the value."""
        return stratified_moments(self.pull[:, None], self.strata)

    def interval(self, *, method: str | Method = DEFAULT_METHOD, level: float = 0.95) -> tuple[float, float] | None:
        """Return the two ends, None if there is no interval."""
        found = self.judge(method=method, level=level)
        return None if found.low is None or found.high is None else (found.low, found.high)

    def judge(self, *, method: str | Method = DEFAULT_METHOD, level: float = 0.95) -> Judgement:
        """Return interval and p-value by one method; without spread there is no interval."""
        intervals.check_level(level)
        found = self._judged(parse_method(method), level)
        if found.low is None or found.high is None:
            return found
        return found._replace(low=max(found.low, self.limits[0]), high=min(found.high, self.limits[1]))

    def _judged(self, chosen: Method, level: float) -> Judgement:
        if self.reason is not None:
            return Judgement(None, None, None, None, self.reason)
        if self.flat:
            return self._without_spread()
        if chosen is Method.SIGN_FLIP:
            return self._flipped(level)
        smallest = None
        if chosen is Method.PERCENTILE:
            draws = self.draws
            p = intervals.two_sided_p(draws, self.value)
            low, high = map(float, np.quantile(draws, [(1 - level) / 2, (1 + level) / 2]))
            smallest = 1 / (self.draw_count + 1)
        else:
            moments, guarded = self.moments, chosen is Method.SKEW_T
            p = float(student_p(self.value, moments, guarded=guarded)[0])
            ends = student_interval(self.value, moments, level=level, guarded=guarded)
            low, high = (float(end[0]) for end in ends)
        if not (np.isfinite(low) and np.isfinite(high)):
            return Judgement(None, None, p, smallest, "the spread of the instances is too large for an interval")
        return Judgement(low, high, p, smallest, None)

    def _flipped(self, level: float) -> Judgement:
        flips = flip_signs(self.shares, self.weights, draws=self.draw_count, seed=self.seed)
        low, high = flip_interval(flips, level=level) or (None, None)
        smallest = smallest_flip_p(self.shares, self.draw_count)
        why = f"{self.instances} instances are too few for a {level:.0%} interval by sign flips"
        return Judgement(low, high, flip_p(flips), smallest, why if low is None else None)

    def _without_spread(self) -> Judgement:
        """Judge instances that are all equal: their number gives a p, but there is no interval."""
        why = no_variation_reason(self.instances)
        if abs(self.value) <= ROUNDING:
            return Judgement(None, None, 1.0, None, why)
        smallest = 2.0 ** (1 - self.instances)
        return Judgement(None, None, smallest, smallest, why)

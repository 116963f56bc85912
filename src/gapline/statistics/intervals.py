"""Bootstrap draws, and the intervals and p-values computed from them."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from gapline.errors import UsageError
from gapline.native.arrays import Bools, Floats, Integers
from gapline.native.compilation import compiled
from gapline.statistics.student import stratified_moments
from gapline.statistics.tails import t_sf

# Draws of a mean have rounding errors: two that differ by less than this are equal.
ROUNDING = 1e-12


def check_level(level: float) -> None:
    """Refuse a level outside of (0, 1)."""
    if not 0 < level < 1:
        raise UsageError(f"level: expected a share between 0 and 1, got {level}")


def two_sided_p(draws: Floats, estimate: float) -> float:
    """Return the two-sided bootstrap p-value of a difference: (count + 1) / (draws + 1).

    It counts draws whose deviation from the estimate is at least as large as the estimate itself, that is, draws from
    the distribution shifted to no difference that are as extreme as the observed one. It is never 0.

    >>> two_sided_p(np.array([0.5, 1.0, 1.5, 2.5]), 1.0)
    0.4
    """
    # With a difference of exactly 0 every draw is as extreme: p is 1, whatever the rounding.
    extreme = np.abs(draws - estimate) >= abs(estimate) - ROUNDING
    return (int(np.count_nonzero(extreme)) + 1) / (len(draws) + 1)


# Enough to know the level of 95 % to about ±0.2 %.
DRAWS = 10_000
_BLOCK = 1000


def joint_level(pull: Floats, strata: Integers, *, level: float, seed: int = 1) -> float:
    """Return the level of each interval at which all hold together with probability `level`.

    `pull` is units × estimates (`Estimate.pull`, 0 for an instance that an estimate does not use). The largest of
    correlated t statistics is simulated: instances get normal weights, which keeps the correlation of the estimates,
    and the result is divided by one χ with the fewest degrees of freedom among them. Strongly correlated estimates cost
    little, independent ones as much as Bonferroni's rule.

    >>> same = np.outer([-1.0, 0.0, 1.0], [1.0, 1.0])
    >>> abs(joint_level(same, np.zeros(3, np.int64), level=0.95) - 0.95) < 0.01
    True
    """
    # No panel has the two instances that an interval needs.
    if not pull.size:
        return level
    moments = stratified_moments(pull, strata)
    moving = moments.error > 0
    if np.count_nonzero(moving) < 2:
        return level
    df = float(moments.df[moving].min())
    # Centring the weights within a panel of n reduces the variance; the factor compensates for it.
    size = np.bincount(strata)[strata].astype(np.float64)
    scaled = pull[:, moving] * np.sqrt(size / (size - 1))[:, None]
    scaled = scaled / np.sqrt(np.sum(scaled**2, axis=0))
    generator = np.random.Generator(np.random.PCG64(seed))
    largest = np.empty(DRAWS)
    for start in range(0, DRAWS, _BLOCK):
        weights = generator.standard_normal((_BLOCK, len(strata)))
        largest[start : start + _BLOCK] = np.abs(weights @ scaled).max(axis=1)
    largest /= np.sqrt(generator.chisquare(df, DRAWS) / df)
    return max(level, 1 - 2 * float(t_sf(np.quantile(largest, level), df)))


# A block of draws has about this many picks, so that memory does not grow with the number of draws.
_PICKS = 4_000_000


def generator_start(seed: int | list[int], /) -> dict[str, str]:
    """Return state and step of the generator of a seed, for making the same draws elsewhere.

    >>> sorted(generator_start(1))
    ['state', 'step']
    """
    state: Any = np.random.PCG64(seed).state["state"]
    # As text, because they are integers of 128 bits.
    return {"state": str(state["state"]), "step": str(state["inc"])}


def draw_counts(strata: Integers, *, draws: int, seed: int) -> NDArray[np.unsignedinteger[Any]]:
    """Draw units with replacement inside each stratum; return draws × units, how often each unit was drawn.

    Only integers of PCG64 are used, so that the draws are the same everywhere. The counts have the smallest possible
    integer type, since there are many.

    >>> draw_counts(np.array([0, 0, 1]), draws=2, seed=1).sum(axis=1).tolist()
    [3, 3]
    """
    generator = np.random.Generator(np.random.PCG64(seed))
    # Strata in the order of their numbers, so that `DrawnSums` draws the same units from the same generator.
    sizes = np.unique(strata, return_counts=True)[1]
    # Stratum by stratum in blocks of columns: scattered columns would be far apart in memory.
    counts = np.empty((draws, len(strata)), np.min_scalar_type(sizes.max(initial=0)))
    for end, size in zip(np.cumsum(sizes).tolist(), sizes.tolist(), strict=True):
        block = max(1, _PICKS // size)
        for start in range(0, draws, block):
            picked = generator.integers(0, size, size=(min(block, draws - start), size))
            picked += np.arange(len(picked))[:, None] * size
            found = np.bincount(picked.ravel(), minlength=picked.size).reshape(picked.shape)
            counts[start : start + block, end - size : end] = found
    order = np.argsort(strata, kind="stable")
    return counts if (order[1:] > order[:-1]).all() else counts[:, np.argsort(order)]


class DrawnSums:
    """Sums of the rows of `values` (units × columns) over drawn units, by stratum: draws × columns each.

    The units are those of `draw_counts`. If some units are left out, the same draws are used as far as possible: a pick
    of a missing unit is replaced by one of the others, and the last picks are dropped. So an arm with missing instances
    costs little more than the draws of all.

    >>> strata, values = np.array([0, 0, 1]), np.array([[1.0], [2.0], [4.0]])
    >>> sums = DrawnSums(strata, values, draws=5, seed=1)
    >>> bool(np.all(sum(sums.over()) == draw_counts(strata, draws=5, seed=1) @ values))
    True
    """

    def __init__(self, strata: Integers, values: Floats, *, draws: int, seed: int) -> None:
        self.strata, self.values = strata, values
        self.draws, self.seed = draws, seed
        self._all: list[Floats] | None = None

    def over(self, present: Bools | None = None) -> list[Floats]:
        """Return the sums of each stratum over drawn units of those present (by default all)."""
        if self._all is None:
            self._all = [np.zeros((self.draws, self.values.shape[1])) for _ in np.unique(self.strata)]
            for number, units, start, picked in self._picks():
                _add_rows(picked, self.values[units], self._all[number][start : start + len(picked)])
        if present is None or bool(present.all()):
            return self._all
        sums = list(self._all)
        # Replacements come from a separate generator, so that the draws of all units stay the same.
        spares = np.random.Generator(np.random.PCG64([self.seed, 1]))
        for number, units, start, picked in self._picks():
            here = present[units]
            if bool(here.all()):
                continue
            if start == 0:
                sums[number] = self._all[number].copy()
            kept = np.flatnonzero(here)
            gone = int(np.count_nonzero(~here[picked[:, : len(kept)]])) if len(kept) else 0
            spare = kept[spares.integers(0, len(kept), size=gone)] if gone else kept[:0]
            _swap_rows(picked, here, len(kept), spare, self.values[units], sums[number][start : start + len(picked)])
        return sums

    def _picks(self) -> Iterator[tuple[int, Integers, int, Integers]]:
        """Yield number and units of each stratum, the first draw of a block, and the picks of that block."""
        generator = np.random.Generator(np.random.PCG64(self.seed))
        for number, stratum in enumerate(np.unique(self.strata)):
            units = np.flatnonzero(self.strata == stratum)
            block = max(1, _PICKS // len(units))
            for start in range(0, self.draws, block):
                size = (min(block, self.draws - start), len(units))
                yield number, units, start, generator.integers(0, len(units), size=size)


@compiled(nogil=True)
def _add_rows(picked, values, sums):  # type: ignore[no-untyped-def] # pragma: no cover
    for draw in range(picked.shape[0]):
        for place in range(picked.shape[1]):
            unit = picked[draw, place]
            for column in range(values.shape[1]):
                sums[draw, column] += values[unit, column]


@compiled(nogil=True)
def _swap_rows(picked, here, size, spare, values, sums):  # type: ignore[no-untyped-def] # pragma: no cover
    """Remove picks of absent units and those beyond `size`, and put spare units in place of the absent ones."""
    used = 0
    for draw in range(picked.shape[0]):
        for place in range(picked.shape[1]):
            unit = picked[draw, place]
            if place < size and here[unit]:
                continue
            for column in range(values.shape[1]):
                sums[draw, column] -= values[unit, column]
            if place < size:
                for column in range(values.shape[1]):
                    sums[draw, column] += values[spare[used], column]
                used += 1

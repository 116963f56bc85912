"""The variance of the paired difference of two arms in a pilot: between instances, between seeds, and the rest.

d(i, s) = mean of the panel + instance i + seed s + rest, panel by panel. The variances are estimated by the method of
moments from the mean squares of a two-way table without replication; estimates below zero are set to zero. A seed
effect exists only if a seed means the same on every instance: both arms ran the same seeds on all instances of every
panel. Otherwise the seeds are part of the rest, and the table is a one-way one.
"""

from dataclasses import dataclass

import numpy as np

from gapline.errors import listing
from gapline.native.arrays import Floats, Integers
from gapline.statistics.cells import CellIndex, why_no_spread


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """Variances of a paired difference, one per panel in each array.

    `counts` are the instances that both arms ran, `seen` is the variance between their mean differences over seeds, and
    `noise` the part of it that the seeds explain: `rest` over their number. `instance` and `rest` are the variances
    between instances and between the seeds of one, `rest_df` the degrees of freedom of the latter. `seeds` is the
    number of runs of an arm on an instance; if it is 1, all variance is in `instance`, and `rest` is 0. `seed` is the
    variance between seeds over all instances, `seed_p` the p of "seeds have no effect of their own"; both are None if
    the seeds are not the same on all instances.
    """

    panels: tuple[str, ...]
    counts: Integers
    seen: Floats
    noise: Floats
    instance: Floats
    rest: Floats
    rest_df: Floats
    seed: Floats | None
    seed_p: float | None
    seeds: float

    @property
    def one_seed(self) -> bool:
        """Whether instances and seeds cannot be distinguished."""
        return self.seeds == 1

    def shares(self) -> tuple[float, float | None, float]:
        """Return the shares of the variance of one paired difference due to instances, seeds and the rest."""
        parts = [self.instance, np.zeros(1) if self.seed is None else self.seed, self.rest]
        means = [float(part.mean()) for part in parts]
        total = sum(means) or 1.0
        return means[0] / total, None if self.seed is None else means[1] / total, means[2] / total

    def variances(self, seeds: float) -> Floats:
        """Return, by panel, the variance of an instance's mean difference over this many seeds."""
        return np.asarray(self.instance + self.rest / seeds)

    def doubt(self, seeds: float) -> tuple[Floats, Floats]:
        """Return the mean squares that `variances` adds up, panels × 2, and their degrees of freedom."""
        first = np.stack([self.seen, self.counts - 1.0])
        if self.one_seed:
            return first[0][:, None], first[1][:, None]
        clipped = self.instance <= 0
        # The observed variance contains the noise of the pilot's seeds; the second term is the change by other seeds.
        mean = np.where(clipped, 0.0, self.seen)
        change = np.where(clipped, self.rest / seeds, self.rest / seeds - self.noise)
        return np.stack([mean, change], axis=1), np.stack([first[1], self.rest_df], axis=1)


def pilot_spread(  # noqa: PLR0911 (one return per way to end)
    cells: CellIndex, seeds: Integers, values: Floats, a: str, b: str
) -> Spread | str:
    """Split the variance of the difference of two arms; a string says why that is impossible.

    `seeds` and `values` belong to the runs that the cells number.
    """
    one, other = cells.arm_number(a), cells.arm_number(b)
    counts, means = cells.counts()[[one, other]], cells.instance_means(values)[[one, other]]
    both = np.all(counts > 0, axis=0)
    if not both.any():
        return "no instance that both arms ran"
    if np.isnan(means[:, both]).any():
        return "some runs have no score under this kernel"
    panels = np.unique(cells.panel[both])
    members = [np.flatnonzero(both & (cells.panel == panel)) for panel in panels]
    if (alone := why_no_spread(cells.panels, cells.panel[both])) is not None:
        return alone
    difference = means[0] - means[1]
    seen = np.array([np.var(difference[units], ddof=1) for units in members])
    sizes = np.array([len(units) for units in members])
    names = tuple(cells.panels[panel] for panel in panels)
    if np.all(counts[:, both] == 1):
        none = np.zeros(len(panels))
        return Spread(names, sizes, seen, none, seen, none, none, None, None, 1.0)
    paired = _pair_seeds(cells, seeds, values, one, other)
    crossed = [_crossed(units, counts, paired) for units in members]
    if all(table is not None for table in crossed):
        return _two_way([table for table in crossed if table is not None], names)
    within, noise, df = _within(cells, values, (one, other), counts, paired)
    lacking = [name for name, units in zip(names, members, strict=True) if not np.isfinite(within[units]).any()]
    if lacking:
        return f"{listing(lacking, most=3)}: an arm has one seed per instance here and more elsewhere"
    rest = np.array([np.nanmean(within[units]) for units in members])
    off = np.array([np.nanmean(noise[units]) for units in members])
    freedom = np.array([np.nansum(df[units]) for units in members])
    between = np.maximum(seen - off, 0.0)
    return Spread(names, sizes, seen, off, between, rest, freedom, None, None, float(counts[:, both].mean()))


def seed_variances(cells: CellIndex, values: Floats, means: Floats) -> Floats:
    """Return, arms × units, the variance between seeds (divided by n - 1); NaN with fewer than two runs."""
    centred = values - means[cells.arm, cells.unit]
    counts = cells.counts()
    # If all seeds of a cell agree, the spread is zero, not the rounding of their mean.
    total = cells.instance_means(centred**2) * counts
    out = np.full(counts.shape, np.nan)
    np.divide(total, counts - 1, out=out, where=counts > 1)
    return out


def _pair_seeds(
    cells: CellIndex, seeds: Integers, values: Floats, one: int, other: int
) -> tuple[Integers, Integers, Floats]:
    """Return unit, seed and difference of the runs that both arms have, in this order; none if a seed ran twice."""
    _, code = np.unique(seeds, return_inverse=True)
    key = cells.unit * (int(code.max()) + 1) + code
    first, second = np.flatnonzero(cells.arm == one), np.flatnonzero(cells.arm == other)
    if len(np.unique(key[first])) < len(first) or len(np.unique(key[second])) < len(second):
        empty = np.empty(0, np.int64)
        return empty, empty, np.empty(0)
    _, left, right = np.intersect1d(key[first], key[second], assume_unique=True, return_indices=True)
    return cells.unit[first][left], code[first][left], values[first][left] - values[second][right]


def _crossed(units: Integers, counts: Floats, paired: tuple[Integers, Integers, Floats]) -> Floats | None:
    """Return instances × seeds of a panel if both arms ran the same two or more seeds on all its instances."""
    unit, seed, difference = paired
    inside = np.isin(unit, units)
    number = len(np.unique(seed[inside]))
    same = number > 1 and bool(np.all(counts[:, units] == number)) and int(inside.sum()) == number * len(units)
    return difference[inside].reshape(len(units), number) if same else None


def _two_way(tables: list[Floats], names: tuple[str, ...]) -> Spread:
    """Split the mean squares of instances × seeds, a table per panel."""
    sizes, seeds = np.array([len(table) for table in tables]), np.array([table.shape[1] for table in tables])
    rows, columns = [table.mean(axis=1) for table in tables], [table.mean(axis=0) for table in tables]
    residual = [
        table - row[:, None] - column + table.mean() for table, row, column in zip(tables, rows, columns, strict=True)
    ]
    df = (sizes - 1.0) * (seeds - 1)
    rest = np.array([np.sum(part**2) for part in residual]) / df
    seen = np.array([np.var(row, ddof=1) for row in rows])
    between_seeds = np.array([np.var(column, ddof=1) for column in columns])
    expected = rest / sizes
    p = None
    if expected.sum() > 0:
        from scipy.special import fdtrc

        # Over several panels both sums are about chi-square, with Satterthwaite's degrees of freedom.
        freedoms = [expected.sum() ** 2 / np.sum(expected**2 / part) for part in (seeds - 1, df)]
        p = float(fdtrc(*freedoms, between_seeds.sum() / expected.sum()))
    return Spread(
        panels=names,
        counts=sizes,
        seen=seen,
        noise=rest / seeds,
        instance=np.maximum(seen - rest / seeds, 0.0),
        rest=rest,
        rest_df=df,
        seed=np.maximum(between_seeds - expected, 0.0),
        seed_p=p,
        seeds=float(np.average(seeds, weights=sizes)),
    )


def _within(
    cells: CellIndex,
    values: Floats,
    arms: tuple[int, int],
    counts: Floats,
    paired: tuple[Integers, Integers, Floats],
) -> tuple[Floats, Floats, Floats]:
    """Return, by instance, the variance of a difference between seeds, of its mean, and their degrees of freedom."""
    variances = seed_variances(cells, values, cells.instance_means(values))[list(arms)]
    within, noise = variances.sum(axis=0), np.sum(variances / np.maximum(counts, 1), axis=0)
    df = np.where(np.isfinite(within), counts.sum(axis=0) - 2, np.nan)
    unit, _, difference = paired
    units = len(within)
    number = np.bincount(unit, minlength=units).astype(np.float64)
    # If both arms ran the same seeds, runs are paired, and the effect of a seed on both arms cancels.
    full = (number > 1) & (number == counts[0]) & (number == counts[1])
    mean = np.bincount(unit, weights=difference, minlength=units) / np.maximum(number, 1)
    square = np.bincount(unit, weights=(difference - mean[unit]) ** 2, minlength=units)
    within[full] = (square / np.maximum(number - 1, 1))[full]
    noise[full] = (within / np.maximum(number, 1))[full]
    df[full] = (number - 1)[full]
    return within, noise, df

"""The number of instances and seeds needed to detect a given difference, estimated from a pilot.

A difference counts as detected if the whole interval of the default method (`student.py`) lies on its side of zero.
Over n instances with s seeds each, the panel-equal difference has the variance Σ_p w_p² (σ_i² + σ_r²/s)/n_p, with the
components of `spread.py` and Satterthwaite's degrees of freedom; its power follows the noncentral t. With few instances
the default method is more conservative than Student's t: how much larger a difference has to be for that is simulated,
once for each division of instances and variance over panels. Differences of instances are assumed to be normal.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.argument_checks import expect
from gapline.contract.result_table import as_document
from gapline.contract.tables import PILOT, POWER
from gapline.errors import UsageError, listing
from gapline.native.arrays import Floats
from gapline.scoring.run_references import ReadTable
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting, parse_weighting
from gapline.statistics.cells import build_cells, check_arms
from gapline.statistics.intervals import ROUNDING
from gapline.statistics.spread import Spread, pilot_spread
from gapline.statistics.student import panel_centred, stratified_moments, student_interval
from gapline.statistics.tails import noncentral_t_sf, t_quantile

DELTAS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
SEEDS = (1, 2, 5, 10, 20)
# Beyond this many instances the default method and Student's t agree.
_MANY = 128
# A difference that needs more instances than this is too small to look for.
MOST_INSTANCES = 10**12
# Simulated campaigns: the share of those that detect a difference is accurate to about ±1 %.
_CAMPAIGNS = 1000
# An effect of the seeds on all instances is reported if its p is below this: it is rare, and there are many pairs.
_SURE = 0.01
ONE_SEED = "one seed per instance: the pilot cannot tell instances from seeds, nor say what more seeds would give"
NO_SPREAD = "all instances differ alike: no spread to judge by"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PowerTable(ReadTable):
    """One row per pair, difference and number of seeds: the instances needed to detect it, or why that is unknown.

    `instances_low` and `instances_high` bound the number needed, by the interval of the pilot's variance. `runs` are
    those of both arms, `hours` the sum of their horizons. `pilot` has a row per pair: the components of the variance,
    the effect of doubling instances or seeds, and the difference that the pilot itself detects with that power.
    """

    power: float
    level: float
    pilot: pl.DataFrame

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return (
            f"instances, divided over the panels as in the pilot, at which a difference `delta` in mean "
            f"{self.reading.kernels[0]} score is shown with power {self.power:g} by the {self.level:.0%} interval of "
            f"Student's t (skew-t); pilot: {self.reading.line()}"
        )

    def words(self) -> list[str]:
        """Return, for each pair, whether instances or seeds help more, and what the pilot itself can detect."""
        return [line for row in self.pilot.iter_rows(named=True) for line in _words(row, self.power)]

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        found = as_document(self)
        return {"plan": found.pop("frame"), **found, "words": self.words()}


def power_table(
    scores: Scores,
    /,
    *,
    pairs: Sequence[tuple[str, str]],
    deltas: Sequence[float] = DELTAS,
    seeds: Sequence[int] = SEEDS,
    kernel: str | None = None,
    power: float = 0.8,
    level: float = 0.95,
    weighting: str | Weighting = Weighting.PANEL,
) -> PowerTable:
    """Return how many instances and seeds would detect each difference, given the spread in these runs.

    Parameters
    ----------
    scores
        Per-run scores of the pilot.
    pairs
        The pairs to compare; arms of tier 2 are descriptive and refused.
    deltas, seeds
        True differences in score units, and numbers of seeds per instance.
    power, level
        How often the difference should be detected, and the level of the interval that detects it.
    weighting
        The units that count equally: `panel` or `instance` (`run` is the same, since planned instances have equal
        seeds).
    """
    expect(scores, Scores, "power_table")
    name = kernel or scores.kernels[0]
    if not 0 < power < 1 or not 0 < level < 1:
        raise UsageError(f"power and level: expected shares between 0 and 1, got {power} and {level}")
    if any(not (math.isfinite(delta) and delta > 0) for delta in deltas) or any(count < 1 for count in seeds):
        raise UsageError(f"power: expected positive differences and seeds, got {list(deltas)} and {list(seeds)}")
    rule = parse_weighting(weighting)
    cells = build_cells(scores.frame)
    values = scores.frame[name].fill_null(np.nan).to_numpy()
    numbers = scores.frame["seed"].to_numpy()
    rows: list[tuple[object, ...]] = []
    pilots: list[tuple[object, ...]] = []
    for a, b in pairs:
        if a == b:
            raise UsageError(f"pair: expected two arms, got {a!r} twice")
        check_arms((a, b), scores.reading.tier_two)
        spread = pilot_spread(cells, numbers, values, a, b)
        # Variances of differences that are equal up to the rounding of their means.
        if isinstance(spread, Spread) and not np.any(spread.seen > ROUNDING**2):
            spread = NO_SPREAD
        if isinstance(spread, str):
            rows += [(a, b, float(delta), int(count), *[None] * 6, spread) for delta in deltas for count in seeds]
            pilots.append((a, b, *[None] * 11, spread))
            continue
        design = Design(spread, power, level, by_panel=rule is Weighting.PANEL)
        pilots.append((a, b, *design.pilot()))
        costs = _panel_hours(scores, spread.panels, (a, b))
        for delta in deltas:
            for count in seeds:
                rows.append((a, b, float(delta), int(count), *design.needed(delta, count, costs)))
    reading = replace(scores.reading, kernels=(name,), weighting=rule.value)
    pilot = pl.DataFrame(pilots, schema=PILOT, orient="row")
    return PowerTable(pl.DataFrame(rows, schema=POWER, orient="row"), reading, power, level, pilot)


@dataclass(frozen=True, slots=True)
class Design:
    """Campaigns of any size whose differences vary as in the pilot."""

    spread: Spread
    power: float
    level: float
    by_panel: bool = True

    def sizes(self, instances: int) -> tuple[int, ...]:
        """Divide instances over the panels as in the pilot, rounded up, at least 2 in each."""
        total = int(self.spread.counts.sum())
        return tuple(max(2, -(-instances * count // total)) for count in self.spread.counts.tolist())

    def shown(self, delta: float, sizes: tuple[int, ...], variances: Floats) -> float:
        """Return how often a true difference is detected."""
        error, df = self._moments(sizes, variances)
        guard = self._guard(sizes, variances)
        return noncentral_t_sf(_critical(self.level, df), df, delta / error / guard)

    def fewest(self, delta: float, variances: Floats) -> tuple[int, ...] | None:
        """Return the panel sizes at which the difference is detected with the power, None beyond the maximum."""
        once, _ = self._moments(tuple(self.spread.counts.tolist()), variances)
        normal = NormalDist().inv_cdf
        scale = (normal((1 + self.level) / 2) + normal(self.power)) / delta * once
        wanted = scale * scale * int(self.spread.counts.sum())
        if wanted > MOST_INSTANCES:
            return None
        guess = math.ceil(wanted) if self.power + self.level > 1 else 1
        low, high = 0, max(1, guess)
        while self.shown(delta, self.sizes(high), variances) < self.power:
            low, high = high, high + high // 8 + 4
        # The normal approximation is slightly too low, so the search ends near it.
        near = int(0.98 * guess) - 4
        if low == 0 and near > 0 and self.shown(delta, self.sizes(near), variances) < self.power:
            low = near
        while high - low > 1:
            middle = (low + high) // 2
            reached = self.shown(delta, self.sizes(middle), variances) >= self.power
            low, high = (low, middle) if reached else (middle, high)
        return self.sizes(high)

    def needed(self, delta: float, seeds: int, costs: Floats | None) -> tuple[object, ...]:
        """Return instances, their interval, the panels as text, runs, hours and a reason, as in the table."""
        spread = self.spread
        if spread.one_seed and seeds != 1:
            return (*[None] * 6, ONE_SEED)
        variances = spread.variances(seeds)
        if not np.any(variances > 0):
            return (*[None] * 6, NO_SPREAD)
        sizes = self.fewest(delta, variances)
        ends = [self.fewest(delta, variances * ratio) for ratio in self._ratios(seeds)]
        if sizes is None or None in ends:
            return (*[None] * 6, f"more than {MOST_INSTANCES:,} instances")
        hours = None if costs is None else float(np.dot(sizes, costs) * seeds)
        reason = "one seed per instance: instances and seeds cannot be told apart" if spread.one_seed else None
        between = [sum(end) for end in ends if end is not None]
        return sum(sizes), *between, _per_panel(spread.panels, sizes), 2 * seeds * sum(sizes), hours, reason

    def pilot(self) -> tuple[object, ...]:
        """Return what the pilot itself detects and what more data would give, as in the table."""
        spread = self.spread
        sizes = tuple(spread.counts.tolist())
        now = spread.instance + spread.noise
        width = self._width(sizes, now)

        def shorter(sizes: tuple[int, ...], variances: Floats) -> float:
            return 1 - self._width(sizes, variances) / width

        instance, seed, rest = spread.shares()
        known: tuple[float | None, ...] = (None, None, None, None, None, None, None)
        if not spread.one_seed:
            more = tuple(round(size * spread.seeds) for size in sizes)
            known = (
                instance, seed, rest, spread.seed_p, shorter(sizes, spread.instance + spread.noise / 2),
                shorter(sizes, spread.instance), shorter(more, spread.variances(1)),
            )  # fmt: skip
        double = shorter(tuple(2 * size for size in sizes), now)
        return sum(sizes), spread.seeds, self.detectable(), double, *known, None

    def detectable(self) -> float:
        """Return the true difference that the pilot detects with the power."""
        sizes = tuple(self.spread.counts.tolist())
        error, df = self._moments(sizes, self.spread.seen)
        guard = self._guard(sizes, self.spread.seen)
        return _shift(_critical(self.level, df), df, self.power) * guard * error

    def _guard(self, sizes: tuple[int, ...], variances: Floats) -> float:
        coarse = _coarse(sizes)
        if sum(coarse) > _MANY:
            return 1.0
        return _guard(coarse, _fourfold(variances), self.by_panel, self.power, self.level)

    def _weights(self, sizes: tuple[int, ...]) -> Floats:
        return np.full(len(sizes), 1 / len(sizes)) if self.by_panel else np.array(sizes) / sum(sizes)

    def _moments(self, sizes: tuple[int, ...], variances: Floats) -> tuple[float, float]:
        """Return standard error and Satterthwaite's degrees of freedom of the pooled difference."""
        parts = self._weights(sizes) ** 2 * variances / np.array(sizes)
        total = float(parts.sum())
        return math.sqrt(total), total**2 / float(np.sum(parts**2 / (np.array(sizes) - 1)))

    def _width(self, sizes: tuple[int, ...], variances: Floats) -> float:
        """Return the expected half-width of the interval, 0 if nothing varies."""
        if not np.any(variances > 0):
            return 0.0
        error, df = self._moments(sizes, variances)
        return error * _critical(self.level, df)

    def _ratios(self, seeds: int) -> tuple[float, float]:
        """Return the range of the true variance relative to that of the pilot, by its chi-square interval."""
        squares, freedom = self.spread.doubt(seeds)
        sizes = tuple(self.spread.counts.tolist())
        weights = (self._weights(sizes) ** 2 / np.array(sizes))[:, None]
        total = float(np.sum(weights[:, 0] * self.spread.variances(seeds)))
        df = round(total**2 / float(np.sum((weights * squares) ** 2 / freedom)), 6)
        return _variance_ends(max(df, 0.5), self.level)


@lru_cache(maxsize=4096)
def _variance_ends(df: float, level: float) -> tuple[float, float]:
    from scipy.special import chdtri

    return df / float(chdtri(df, 1 - (1 + level) / 2)), df / float(chdtri(df, 1 - (1 - level) / 2))


def _coarse(sizes: tuple[int, ...]) -> tuple[int, ...]:
    """Round sizes to a quarter of the power of two below their sum: the guard changes slowly, and needs a simulation.

    >>> _coarse((5,)), _coarse((33, 34))
    ((5,), (32, 32))
    """
    total = sum(sizes)
    step = 2 ** max(0, total.bit_length() - 3)
    return tuple(max(2, round(size * (total // step * step) / total)) for size in sizes)


def _fourfold(variances: Floats) -> tuple[int, ...]:
    """Return how often each variance has to be multiplied by four to reach about the largest, at most three times.

    >>> _fourfold(np.array([4.0, 3.0, 1.0, 0.0]))
    (0, 0, 1, 3)
    """
    with np.errstate(divide="ignore"):
        times = np.minimum(np.log(np.max(variances) / variances) / math.log(4), 3.0)
    return tuple(np.rint(times).astype(int).tolist())


@lru_cache(maxsize=4096)
def _guard(sizes: tuple[int, ...], fourfold: tuple[int, ...], by_panel: bool, power: float, level: float) -> float:
    """Return how much larger than for Student's t a difference must be for the default method to detect it as often.

    Simulated with normal differences, whose variance in each panel is 4 to the power of minus `fourfold`.
    """
    strata = np.repeat(np.arange(len(sizes)), sizes)
    size = np.array(sizes)[strata]
    weights = 1 / size / len(sizes) if by_panel else np.full(len(size), 1 / len(size))
    spread = weights * 0.5 ** np.array(fourfold)[strata]
    generator = np.random.Generator(np.random.PCG64(1))
    pull = spread[:, None] * generator.standard_normal((len(strata), _CAMPAIGNS))
    moments = stratified_moments(panel_centred(pull, strata), strata)
    low, high = student_interval(pull.sum(axis=0), moments, level=level, guarded=True)
    # Both ends of a symmetric distribution give twice as many campaigns.
    reach = float(np.quantile(np.concatenate([-low, high]), power))
    parts = np.bincount(strata, weights=spread**2)
    df = float(parts.sum() ** 2 / np.sum(parts**2 / (np.array(sizes) - 1)))
    return max(1.0, reach / math.sqrt(float(parts.sum())) / _shift(_critical(level, df), df, power))


@lru_cache(maxsize=65536)
def _critical(level: float, df: float) -> float:
    return float(t_quantile((1 + level) / 2, df))


def _shift(critical: float, df: float, power: float) -> float:
    """Return the shift at which a noncentral t exceeds the critical value with the power."""
    low, high = 0.0, 2 * critical + 10.0
    while noncentral_t_sf(critical, df, high) < power:
        high *= 2
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (low, middle) if noncentral_t_sf(critical, df, middle) >= power else (middle, high)
    return high


def _panel_hours(scores: Scores, panels: Sequence[str], pair: tuple[str, str]) -> Floats | None:
    """Return the hours of one seed of both arms on an instance of each panel; None if horizons are not in seconds."""
    if scores.reading.time_unit != "s":
        return None
    runs = scores.frame.filter(pl.col("arm").is_in(pair)).group_by("panel").agg(pl.col("horizon").mean())
    mean = dict(runs.iter_rows())
    return np.array([2 * mean[panel] / 3600 for panel in panels])


def _per_panel(panels: Sequence[str], sizes: Sequence[int]) -> str:
    """Describe how the instances divide over the panels.

    >>> _per_panel(("p", "q"), (4, 4)), _per_panel(("p", "q"), (4, 8))
    ('4 each', '4 p, 8 q')
    """
    if len(sizes) > 1 and len(set(sizes)) == 1:
        return f"{sizes[0]} each"
    return listing([f"{size} {panel}" for panel, size in zip(panels, sizes, strict=True)], most=6)


def _words(row: dict[str, Any], power: float) -> list[str]:
    pair = f"{row['a']} - {row['b']}"
    if row["reason"] is not None:
        return [f"{pair}: nothing can be said: {row['reason']}"]
    seeds = f"{row['seeds']:.3g} seed{'' if row['seeds'] == 1 else 's'}"
    own = (
        f"{pair}: with what you have ({row['instances']:,} instances, {seeds}) a true difference of "
        f"{row['detectable']:.2g} is shown in {power:.0%} of campaigns"
    )
    double = f"doubling the instances by {row['double_instances']:.0%}"
    if row["instance"] is None:
        return [own, f"{pair}: {ONE_SEED}; {double.replace(' by', ' shortens the interval by')}"]
    parts = f"seeds {row['seed']:.0%}, the rest" if row["seed"] is not None else "seeds and the rest"
    most = f" (no number of seeds by more than {row['endless_seeds']:.0%})" if row["endless_seeds"] < 0.995 else ""
    better = "seeds" if row["double_seeds"] > row["double_instances"] else "instances"
    found = [
        own,
        f"{pair}: instances carry {row['instance']:.0%} of the variance, {parts} {row['rest']:.0%}: doubling the seeds "
        f"shortens the interval by {row['double_seeds']:.0%}{most}, {double}: more {better} help more",
        f"{pair}: for the same number of runs, one seed on {row['seeds']:.3g} times the instances is best: it shortens "
        f"the interval by {row['one_seed']:.0%}; more seeds are for when there are no more instances",
    ]
    if row["seed_p"] is not None and row["seed_p"] < _SURE:
        found.append(
            f"{pair}: the seeds seem to have an effect common to all instances (p = {row['seed_p']:.2g}): no number of "
            "instances averages it out, and no interval over instances shows it; take more seeds, or other seeds on "
            "each instance"
        )
    return found

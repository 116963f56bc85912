"""Error rate, coverage and power of every method, through the code that the commands use."""

from typing import NamedTuple

import numpy as np

from gapline.statistics.estimate import Method, panel_equal
from gapline.statistics.student import Moments, panel_centred, stratified_moments, student_interval, student_p
from simulations.nulls import Design, Floats, draw_null

LEVEL = 0.95
DRAWS = 999
# Student's t needs no draws, so that its rates can be known better.
FAST = (Method.SKEW_T, Method.T)


class Rate(NamedTuple):
    """Shares of campaigns: p ≤ 0.05, the interval holds the truth, and the interval could be given."""

    error: float
    covered: float
    given: float
    campaigns: int


def null_rates(law: str, design: Design, seeds: int, *, campaigns: int, fast: int, seed: int) -> dict[str, Rate]:
    """Return the rates of every method on campaigns without a difference."""
    generator = np.random.Generator(np.random.PCG64(seed))
    many = draw_null(law, design, seeds=seeds, campaigns=fast, generator=generator)
    rows = draw_null(law, design, seeds=seeds, campaigns=campaigns, generator=generator)
    return {method.value: _fast_rate(many, design, method) for method in FAST} | _slow_rates(rows, design)


def power(design: Design, *, campaigns: int, fast: int, seed: int) -> dict[str, float]:
    """Return how often each method shows a difference that Student's t shows in 80 %, on normal differences."""
    generator = np.random.Generator(np.random.PCG64([seed, 1]))
    many = draw_null("normal", design, seeds=1, campaigns=fast, generator=generator)
    value, moments = _moments(many, design)
    low, _ = student_interval(value, moments, level=LEVEL, guarded=False)
    shift = float(np.quantile(-low, 0.8))
    rows = draw_null("normal", design, seeds=1, campaigns=campaigns, generator=generator) + shift
    found = {method.value: _fast_rate(many + shift, design, method) for method in FAST} | _slow_rates(rows, design)
    return {method: rate.error for method, rate in found.items()}


def _moments(rows: Floats, design: Design) -> tuple[Floats, Moments]:
    shares = rows.T / rows.shape[1]
    return shares.sum(axis=0), stratified_moments(panel_centred(shares, design.strata), design.strata)


def _fast_rate(rows: Floats, design: Design, method: Method) -> Rate:
    """Judge all campaigns at once; a test asserts that one at a time gives the same."""
    value, moments = _moments(rows, design)
    guarded = method is Method.SKEW_T
    p = student_p(value, moments, guarded=guarded)
    low, high = student_interval(value, moments, level=LEVEL, guarded=guarded)
    return Rate(float(np.mean(p <= 1 - LEVEL)), float(np.mean((low <= 0) & (high >= 0))), 1.0, len(rows))


def _slow_rates(rows: Floats, design: Design) -> dict[str, Rate]:
    methods = [method for method in Method if method not in FAST]
    errors, held, given = (dict.fromkeys(methods, 0) for _ in range(3))
    for number, row in enumerate(rows):
        estimate = panel_equal(row, design.strata, draws=DRAWS, seed=number)
        for method in methods:
            found = estimate.judge(method=method, level=LEVEL)
            errors[method] += found.p is not None and found.p <= 1 - LEVEL
            if found.low is not None and found.high is not None:
                given[method] += 1
                held[method] += found.low <= 0 <= found.high
    size = len(rows)
    return {
        method.value: Rate(
            errors[method] / size,
            held[method] / given[method] if given[method] else float("nan"),
            given[method] / size,
            size,
        )
        for method in methods
    }

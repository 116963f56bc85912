"""Compensated sums of many runs at once: those of the compiled loop, and closer to the truth than plain ones."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gapline.native.compensated_sums import LANES, compensated_sums
from gapline.scoring.integral import _sum

terms_of_runs = st.lists(st.lists(st.floats(-1e6, 1e6) | st.sampled_from([1e300, -1e300, 5e-324, -0.0]), max_size=40))


@given(terms_of_runs, st.floats(-1e9, 1e9))
def test_every_sum_is_that_of_the_compiled_loop(runs, begin):
    count = np.array([len(run) for run in runs], np.int64)
    terms = np.array([term for run in runs for term in run])
    sums = compensated_sums(terms, np.cumsum(count) - count, count, np.full(len(runs), begin))
    for run, found in zip(runs, sums.tolist(), strict=True):
        assert found.hex() == _sum.machine()(np.array(run, np.float64), len(run), begin).hex()


def test_what_rounding_takes_is_given_back_in_every_lane():
    """Four lanes of 2**53 and nine ones each, then three more: a plain sum loses every odd one."""
    terms = np.array([2.0**53] * LANES + [1.0] * 39)
    (found,) = compensated_sums(terms, np.array([0]), np.array([len(terms)]), np.array([1.0])).tolist()
    assert found == math.fsum([1.0, *terms])


def test_terms_of_many_sizes_and_runs_of_many_lengths_are_summed_alike():
    generator = np.random.Generator(np.random.PCG64(3))
    count = generator.integers(0, 60, 300)
    starts = np.cumsum(count) - count
    terms = generator.normal(size=int(count.sum())) * 10.0 ** generator.integers(-20, 20, int(count.sum()))
    sums = compensated_sums(terms, starts, count, np.full(len(count), 0.1))
    loop = _sum.machine()
    for start, size, found in zip(starts.tolist(), count.tolist(), sums.tolist(), strict=True):
        assert found.hex() == loop(terms[start : start + size], size, 0.1).hex()

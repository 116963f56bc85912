"""What Python runs in the place of compiled code gives the same bits, at the edges of every formula too."""

import math

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from both_paths import assert_same_bits
from gapline.native.compilation import compiled
from gapline.statistics.tails import _fill_t_places, _fill_t_tails, normal_quantile

freedoms = st.floats(0.5, 1e4) | st.integers(1, 60).map(float) | st.sampled_from([math.inf, 19.0, 20.0, 1e8])


@given(st.lists(st.tuples(st.floats(allow_nan=True), freedoms), max_size=5))
def test_tails_of_t_are_those_of_compiled_code(cases):
    x, df = (np.array([case[k] for case in cases], np.float64) for k in (0, 1))
    assert_same_bits(_fill_t_tails, x, df, np.zeros(len(cases)))


@given(st.lists(st.tuples(st.floats(1e-12, 0.5), freedoms), max_size=5))
def test_quantiles_of_t_are_those_of_compiled_code(cases):
    tails, df = (np.array([case[k] for case in cases], np.float64) for k in (0, 1))
    normal = np.array([-normal_quantile(tail) for tail in tails.tolist()], np.float64)
    assert_same_bits(_fill_t_places, tails, df, normal, np.zeros(len(cases)))


@compiled(interpreted=True)
def _fill_logs(values, out):
    for k in range(len(values)):
        out[k] = math.log(values[k]) + math.exp(values[k]) + math.lgamma(values[k])


def test_where_python_would_raise_it_says_what_c_says():
    """log 0, exp 1000 and the log-gamma of a pole: infinite, as in compiled code."""
    assert_same_bits(_fill_logs, np.array([0.0, 1000.0, -1.0, 0.3]), np.zeros(4))

"""P-values from draws."""

import numpy as np

from gapline.statistics.intervals import two_sided_p


def test_p_values_count_draws_as_far_from_the_estimate_as_zero_is():
    assert two_sided_p(np.array([2.0, 2.0, 2.0]), 2.0) == 1 / 4
    assert two_sided_p(np.array([0.0, 2.0, 4.0]), 2.0) == 3 / 4
    assert two_sided_p(np.array([-1.0, -1.5, -5.0]), -2.0) == 2 / 4

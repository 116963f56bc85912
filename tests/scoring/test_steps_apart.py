"""The difference of two step curves is that of their values at every breakpoint of either."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gapline.scoring.curve import evaluate_steps
from gapline.scoring.events import steps_apart

TIMES = st.sets(st.integers(1, 12), max_size=8)


def curve(times, seed):
    points = np.array([0.0, *sorted(times)])
    return points, np.random.default_rng(seed).uniform(-1, 1, len(points))


@given(first=TIMES, second=TIMES)
def test_it_equals_looking_up_both_curves_at_the_union_of_their_times(first, second):
    one, other = curve(first, 1), curve(second, 2)
    times, apart = steps_apart(one, other)
    union = np.union1d(one[0], other[0])
    assert times.tolist() == union.tolist()
    assert (
        apart.tolist() == (evaluate_steps(one[0], one[1], union) - evaluate_steps(other[0], other[1], union)).tolist()
    )

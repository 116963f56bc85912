"""Curves of many groups at once are those of each group by itself, to the last bit."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.files.memory import limited_memory
from gapline.scoring.curve import CurveSum, evaluate_steps
from gapline.statistics.bands import curves_of_groups

GRID = np.linspace(0.0, 4.0, 9)
STEPS = st.lists(st.tuples(st.sampled_from([0.0, 0.3, 1.0, 2.5, 4.0]), st.floats(-1, 1)), max_size=6)
# Of each group the steps of its runs.
GROUPS = st.lists(st.lists(STEPS, min_size=1, max_size=3), min_size=1, max_size=5)


def made(groups):
    """The sum over all runs, and behind which run and which step each group ends."""
    steps = [step for group in groups for run in group for step in run]
    weights = 1.0 + np.arange(sum(map(len, groups)))
    run_ends = np.cumsum([len(group) for group in groups])
    step_ends = np.cumsum([sum(map(len, group)) for group in groups])
    time, delta = (np.array([step[k] for step in steps], np.float64) for k in (0, 1))
    return CurveSum(1.0, weights, time, delta, 4.0), run_ends, step_ends


@pytest.mark.parametrize("budget", [128, 3 * 128, None])
@given(GROUPS)
def test_every_group_has_the_curve_that_it_has_alone(budget, groups):
    total, run_ends, step_ends = made(groups)
    with limited_memory(budget):
        found = curves_of_groups(total, run_ends, step_ends, GRID)
    for row, runs, steps in zip(found, pairwise([0, *run_ends]), pairwise([0, *step_ends]), strict=True):
        own = slice(*steps)
        alone = replace(total, weights=total.weights[slice(*runs)], time=total.time[own], delta=total.delta[own])
        time, value = alone.curve()
        assert row.tobytes() == evaluate_steps(time, value, GRID).tobytes()

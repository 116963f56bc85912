"""Where the steps of some runs lie."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.native import slices
from gapline.native.slices import step_groups, step_places


@given(st.lists(st.integers(0, 4), max_size=8), st.data())
def test_the_places_are_those_of_the_runs_in_their_order(counts, data):
    starts = np.cumsum([0, *counts])[:-1]
    chosen = data.draw(st.lists(st.integers(0, len(counts) - 1), unique=True)) if counts else []
    first, count = starts[chosen].astype(np.int64), np.array(counts, np.int64)[chosen]
    own, begins = step_places(first, count)
    column = np.arange(sum(counts))
    wanted = [column[f : f + c] for f, c in zip(first, count, strict=True)]
    assert column[own].tolist() == [k for piece in wanted for k in piece]
    for begin, piece in zip(begins, wanted, strict=True):
        assert column[own][begin : begin + len(piece)].tolist() == piece.tolist()


def test_runs_side_by_side_are_a_slice_that_costs_no_copy():
    assert step_places(np.array([2, 9, 4]), np.array([2, 0, 3]))[0] == slice(2, 7)
    assert step_places(np.array([0, 3]), np.array([0, 0]))[0] == slice(0, 0)


@given(st.lists(st.integers(0, 9), max_size=30), st.integers(1, 20))
def test_groups_hold_every_run_with_a_step_once_and_in_order(counts, size):
    sizes = np.array(counts, np.int64)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(slices, "AT_ONCE", size)
        groups = list(step_groups(sizes))
    held = [run for low, high in groups for run in range(low, high)]
    assert held == sorted(set(held))
    assert {run for run, count in enumerate(counts) if count} <= set(held)
    assert all(0 < sum(counts[low:high]) <= size + max(counts) for low, high in groups)

"""Moments of curves: where a logarithmic axis begins, and that both axes are served."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.scoring.moments import axis_moments, log_start, moments_of_both


def envelopes_of(*traces, horizons=None):
    runs = [
        {"arm": "a", "instance": f"i{k}", "seed": 1, "horizon": (horizons or [100.0] * len(traces))[k], "trace": trace}
        for k, trace in enumerate(traces)
    ]
    return gl.build_envelopes(gl.Campaign.from_runs(runs))


@pytest.mark.parametrize(
    ("traces", "start"),
    [
        ([[(0.5, 3.0)], [(2, 3.0)]], 0.5),
        ([[(0, 9.0), (3, 3.0)], [(4, 3.0)]], 3.0),
        ([[(0, 9.0)], [(3, 3.0)]], 3.0),
        ([[(0, 9.0)], []], 0.01),
        ([[(1e-9, 9.0)]], 0.01),
        ([[(60, 9.0)]], 10.0),
        ([[], []], 0.01),
    ],
    ids=[
        "first step",
        "a step at 0 does not count",
        "a run with no other",
        "only at 0",
        "four decades at most",
        "one at least",
        "empty runs",
    ],
)
def test_it_begins_at_the_first_step_after_zero(traces, start):
    assert log_start(envelopes_of(*traces)) == pytest.approx(start)


def test_relative_time_is_a_share_of_each_runs_own_horizon():
    """2 of 10 and 5 of 100 seconds: the second is earlier."""
    assert log_start(envelopes_of([(2, 3.0)], [(5, 3.0)], horizons=[10.0, 100.0]), relative=True) == 0.05


def test_runs_that_were_filtered_out_do_not_move_it():
    both = envelopes_of([(0.5, 3.0)], [(2, 3.0)])
    assert log_start(both.select(pl.col("instance") == "i1")) == 2.0


def test_moments_lie_at_equal_distances_on_the_axis():
    assert np.diff(axis_moments(None, 10.0, 5)).tolist() == [2.0] * 4
    assert np.diff(np.log(axis_moments(0.1, 10.0, 5))) == pytest.approx([np.log(100) / 5] * 4)


def test_moments_of_both_axes_leave_no_large_hole_on_either():
    moments = moments_of_both(0.01, 100.0, 201)
    assert (moments[0], moments[-1]) == (0.0, 100.0)
    assert len(moments) <= 201
    assert np.diff(moments).max() <= 1.0 + 1e-12
    later = moments[moments >= 0.01]
    assert np.diff(np.log(later)).max() <= np.log(1e4) / 100 + 1e-12
    assert set(axis_moments(None, 100.0, 100)) <= set(moments)


def test_a_short_horizon_has_moments_before_a_late_first_step():
    """The first step of all runs lies behind the end of these: the axis begins a decade before it."""
    moments = moments_of_both(40.0, 10.0, 21)
    assert moments[1] == 1.0
    assert moments[-1] == 10.0
    assert (np.diff(moments) > 0).all()

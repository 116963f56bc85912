"""The time axis: where a logarithmic one begins, and what it shows of the time before."""

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.report.curve_figure import MOST_PLACES, on_axis
from gapline.report.time_axis import axis_moments, drawn_from, log_start, log_words


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


def test_what_holds_at_its_beginning_is_drawn_from_there():
    """A run without an incumbent holds the kernel's value before one; what changed earlier is the last change."""
    steps = pl.DataFrame({"series": ["late", "early", "early", "early"], "time": [0.0, 0.0, 0.2, 5.0],
                          "value": [1.0, 1.0, 0.5, 0.1]})  # fmt: skip
    assert drawn_from(steps, 1.0, "series").rows() == [("late", 1.0, 1.0), ("early", 1.0, 0.5), ("early", 5.0, 0.1)]
    assert drawn_from(steps, None, "series") is steps


def test_many_steps_at_the_end_do_not_push_out_the_first_ones():
    """Of 50,000 steps nearly all lie in the last decade: a stride over rows would keep hardly one of the first."""
    time = np.concatenate([np.geomspace(1.0, 100.0, 20), np.linspace(102.0, 1000.0, 50_000)])
    data = pl.DataFrame({"series": ["a"] * len(time), "time": time, "value": np.linspace(1.0, 0.0, len(time))})
    shown = on_axis(data, 1.0)
    assert shown.height <= MOST_PLACES + 1
    assert set(np.geomspace(1.0, 100.0, 20)) <= set(shown["time"])
    assert shown["time"].max() == 1000.0


def test_moments_lie_at_equal_distances_on_the_axis():
    assert np.diff(axis_moments(None, 10.0, 5)).tolist() == [2.0] * 4
    assert np.diff(np.log(axis_moments(0.1, 10.0, 5))) == pytest.approx([np.log(100) / 5] * 4)


def test_captions_say_where_it_begins():
    assert log_words(None, "s") == ""
    assert log_words(0.0123, "s") == "; logarithmic time from 0.0123 s on, what holds there is drawn from there"

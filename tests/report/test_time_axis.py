"""The time axis: what a logarithmic one shows of the time before its beginning."""

import numpy as np
import polars as pl

from gapline.report.canvas import log_words, start_at
from gapline.report.curve_figure import MOST_PLACES, thin_curves


def test_what_holds_at_its_beginning_is_drawn_from_there():
    """A run without an incumbent holds the kernel's value before one; what changed earlier is the last change."""
    steps = pl.DataFrame({"series": ["late", "early", "early", "early"], "time": [0.0, 0.0, 0.2, 5.0],
                          "value": [1.0, 1.0, 0.5, 0.1]})  # fmt: skip
    assert start_at(steps, 1.0, "series").rows() == [("late", 1.0, 1.0), ("early", 1.0, 0.5), ("early", 5.0, 0.1)]
    assert start_at(steps, None, "series") is steps


def test_many_steps_at_the_end_do_not_push_out_the_first_ones():
    """Of 50,000 steps nearly all lie in the last decade: a stride over rows would keep hardly one of the first."""
    time = np.concatenate([np.geomspace(1.0, 100.0, 20), np.linspace(102.0, 1000.0, 50_000)])
    data = pl.DataFrame({"series": ["a"] * len(time), "time": time, "value": np.linspace(1.0, 0.0, len(time))})
    shown = thin_curves(data, 1.0)
    assert shown.height <= MOST_PLACES + 1
    assert set(np.geomspace(1.0, 100.0, 20)) <= set(shown["time"])
    assert shown["time"].max() == 1000.0


def test_captions_say_where_it_begins():
    assert log_words(None, "s") == ""
    assert log_words(0.0123, "s") == "; logarithmic time from 0.0123 s on, what holds there is drawn from there"

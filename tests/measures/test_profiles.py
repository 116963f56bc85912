"""Performance and data profiles, by hand."""

import polars as pl

from gapline.measures.running_times import data_profile, performance_profile
from measures.timed_runs import SNAPSHOT, envelopes_of


def test_profiles_by_hand():
    envelopes = envelopes_of(
        {("a", "i"): [1], ("a", "j"): [4], ("a", "k"): [None], ("b", "i"): [2], ("b", "j"): [2], ("b", "k"): [None]}
    )
    performance = performance_profile(envelopes, SNAPSHOT).frame
    assert performance.filter(pl.col("arm") == "a").select("x", "value").rows() == [(1.0, 1 / 3), (2.0, 2 / 3)]
    assert performance.filter(pl.col("arm") == "b").select("x", "value").rows() == [(1.0, 1 / 3), (2.0, 2 / 3)]
    data = data_profile(envelopes, SNAPSHOT, unit=2.0).frame
    assert data.filter(pl.col("arm") == "a").select("x", "value").rows() == [(0.0, 0.0), (0.5, 1 / 3), (2.0, 2 / 3)]


def test_a_best_time_of_zero_leaves_no_finite_ratio_to_others():
    envelopes = envelopes_of({("a", "i"): [0], ("b", "i"): [3]})
    frame = performance_profile(envelopes, SNAPSHOT).frame
    assert frame.rows() == [("a", 1.0, 1.0), ("b", 1.0, 0.0)]


def test_the_time_of_an_instance_counts_its_failed_seeds():
    envelopes = envelopes_of({("a", "i"): [2, None]})
    assert data_profile(envelopes, SNAPSHOT).frame.rows() == [("a", 0.0, 0.0), ("a", 12.0, 1.0)]

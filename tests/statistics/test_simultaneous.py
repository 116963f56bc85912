"""Levels at which intervals hold together: nothing is lost where they move as one, else it is Bonferroni's."""

import numpy as np
import pytest

from gapline.statistics.intervals import joint_level
from gapline.statistics.student import panel_centred, stratified_moments, student_interval


def test_estimates_that_move_as_one_keep_their_level():
    pull = np.outer(np.arange(8.0) - 3.5, [1.0, 2.0, -3.0])
    assert joint_level(pull, np.zeros(8, np.int64), level=0.95) == pytest.approx(0.95, abs=0.006)


def test_independent_ones_are_read_as_bonferroni_would():
    """Many instances, unrelated columns: each of five has to be read at about 1 - 0.05 / 5, a little less by Sidak."""
    pull = panel_centred(np.random.default_rng(1).normal(size=(4000, 5)), np.zeros(4000, np.int64))
    found = joint_level(pull, np.zeros(4000, np.int64), level=0.95)
    assert found == pytest.approx(0.95 ** (1 / 5), abs=0.0015)


def test_one_estimate_and_estimates_without_spread_change_nothing():
    strata = np.zeros(4, np.int64)
    assert joint_level(np.array([[1.0], [-1.0], [2.0], [-2.0]]), strata, level=0.9) == 0.9
    assert joint_level(np.zeros((4, 3)), strata, level=0.9) == 0.9


def test_all_intervals_hold_together_in_as_many_campaigns_as_they_say():
    rng = np.random.default_rng(3)
    strata = np.repeat([0, 1], 6)
    held, campaigns = 0, 300
    mixing = np.array([[1.0, 0.6, 0.0, 0.2], [0.0, 0.8, 0.0, 0.2], [0.0, 0.0, 1.0, 0.9]])
    for campaign in range(campaigns):
        data = rng.normal(size=(12, 3)) @ mixing
        pull = panel_centred(data / 12, strata)
        moments = stratified_moments(pull, strata)
        each = joint_level(pull, strata, level=0.9, seed=campaign)
        low, high = student_interval(data.mean(axis=0), moments, level=each, guarded=False)
        held += bool(np.all((low <= 0) & (high >= 0)))
    assert 0.85 <= held / campaigns <= 0.96


def test_without_an_interval_there_is_nothing_to_widen():
    """One instance, or one in each panel: `--simultaneous` says as little as it does without."""
    assert joint_level(np.empty((0, 0)), np.empty(0, np.int64), level=0.9) == 0.9

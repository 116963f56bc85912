"""Means over seeds, instances and panels, by hand."""

import numpy as np
import polars as pl
import pytest

from gapline.errors import UsageError
from gapline.statistics.cells import TIE, build_cells, finite_or_none, sign

# Arm a: three runs in panel p (two of them on i), one in q. Arm b lacks j and k.
RUNS = pl.DataFrame(
    {"arm": ["a", "a", "a", "a", "b"], "panel": ["p", "p", "p", "q", "p"], "instance": ["i", "i", "j", "k", "i"]}
)
VALUES = np.array([1.0, 3.0, 4.0, 9.0, 5.0])


def test_seeds_first_then_instances_then_panels():
    cells = build_cells(RUNS)
    means = cells.instance_means(VALUES)
    assert np.array_equal(means, [[2.0, 4.0, 9.0], [5.0, np.nan, np.nan]], equal_nan=True)
    assert np.array_equal(cells.panel_means(means), [[3.0, 9.0], [5.0, np.nan]], equal_nan=True)


@pytest.mark.parametrize(("weighting", "pooled"), [("panel", 6.0), ("instance", 5.0), ("run", 4.25)])
def test_each_weighting_pools_what_an_arm_has(weighting, pooled):
    cells = build_cells(RUNS)
    assert cells.pooled(cells.instance_means(VALUES), weighting).tolist() == pytest.approx([pooled, 5.0])
    assert cells.unit_weights(weighting, cells.counts()).sum(axis=1).tolist() == pytest.approx([1.0, 1.0])


def test_runs_that_are_not_marked_are_left_out_and_an_arm_without_any_has_no_mean():
    cells = build_cells(RUNS)
    means = cells.instance_means(VALUES, where=np.array([True, False, False, False, False]))
    assert means[0, 0] == 1.0
    assert np.array_equal(cells.pooled(means), [1.0, np.nan], equal_nan=True)


def test_an_unknown_arm_proposes_the_nearest():
    cells = build_cells(RUNS.with_columns(arm=pl.col("arm") + "lpha"))
    with pytest.raises(UsageError, match=r"did you mean 'alpha'\?"):
        cells.arm_number("alpa")


def test_what_does_not_exist_is_null_in_a_table():
    assert [finite_or_none(x) for x in (0.5, np.nan, np.inf)] == [0.5, None, None]


def test_a_difference_within_the_tie_has_no_sign_in_either_direction():
    assert sign(np.array([TIE, -TIE, TIE / 2, -TIE / 2, 0.0, np.nan])).tolist() == [0] * 6
    assert sign(np.array([2 * TIE, -2 * TIE])).tolist() == [1, -1]

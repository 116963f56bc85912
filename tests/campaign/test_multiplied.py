"""Copies of a column with the candidates of some runs multiplied."""

import numpy as np
import polars as pl

from gapline.campaign.columns import PartedColumn, multiplied
from gapline.files.memory import limited_memory


def test_the_runs_of_a_column_in_parts_are_multiplied_each_by_its_factor():
    runs = pl.DataFrame({"first": [3, 0, 2], "count": [2, 2, 1]})
    factors = pl.Series([-1.0, 1.0, 0.5])
    column = PartedColumn([np.array([1.0, 2.0, 4.0]), np.array([8.0, 16.0])])
    for budget in (128, None):
        with limited_memory(budget):
            found = multiplied(column, runs, factors)
        assert found.tolist() == [1.0, 2.0, 2.0, -8.0, -16.0]
        assert not found.flags.writeable
    assert list(column) == [1.0, 2.0, 4.0, 8.0, 16.0]

"""A campaign from arrays, for tests of the model."""

import numpy as np
import polars as pl

import gapline as gl


def table(**more):
    return pl.DataFrame(
        {"arm": ["a", "b"], "instance": ["i", "i"], "seed": [1, 1], "first": [0, 2], "count": [2, 1]} | more
    )


def arrays(runs=None, **more):
    columns = {
        "time": np.array([1.0, 2.0, 1.5]),
        "objective": np.array([9.0, 8.0, 7.0]),
        "verdict": np.array([1, 0, 2], np.uint8),
    }
    return gl.Campaign.from_arrays(runs=table() if runs is None else runs, **(columns | more))

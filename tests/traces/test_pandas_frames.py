"""Frames of pandas: the same table with pyarrow and without, which the documented install does not bring."""

import subprocess
import sys
from datetime import UTC, datetime, timedelta

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.errors import TraceError
from gapline.traces.read import frame_of_pandas, is_pandas

pd = pytest.importorskip("pandas")


def test_every_plain_column_keeps_its_values_and_gaps():
    frame = pd.DataFrame(
        {
            "text": ["a", None, "b"],
            "number": [1.5, None, 2],
            "small": np.array([1, 2, 3], np.float32),
            "whole": [1, 2, 3],
            "flag": [True, False, True],
            "some_flags": [True, None, None],
            "category": pd.Categorical(["x", "y", "x"]),
            "nullable": pd.array([1, None, 3], dtype="Int64"),
            "date": pd.to_datetime(["2026-01-01", None, "2026-01-03"]),
            "seconds": np.array(["2026-01-01"] * 3, "M8[s]"),
            "zoned": pd.to_datetime(["2026-01-01T01:00+01:00"] * 3),
            "duration": pd.to_timedelta([1, 2, None], unit="s"),
        },
        index=[7, 8, 9],
    )
    expected = {
        "text": ["a", None, "b"],
        "number": [1.5, None, 2.0],
        "small": [1.0, 2.0, 3.0],
        "whole": [1, 2, 3],
        "flag": [True, False, True],
        "some_flags": [True, None, None],
        "category": ["x", "y", "x"],
        "nullable": [1, None, 3],
        "date": [datetime(2026, 1, 1), None, datetime(2026, 1, 3)],
        "seconds": [datetime(2026, 1, 1)] * 3,
        "zoned": [datetime(2026, 1, 1, tzinfo=UTC)] * 3,
        "duration": [timedelta(seconds=1), timedelta(seconds=2), None],
    }
    assert frame_of_pandas(frame).to_dict(as_series=False) == expected


def test_cells_of_several_types_are_text_and_columns_stand_once():
    mixed = pd.DataFrame({"o": [1, "x", None]}, dtype=object)
    assert frame_of_pandas(mixed)["o"].to_list() == ["1", "x", None]
    with pytest.raises(TraceError, match="expected each column once, got time more than once"):
        gl.read(pd.DataFrame([[1, 2]], columns=["time", "time"]))
    assert (is_pandas(mixed), is_pandas(mixed["o"]), is_pandas(found := pl.DataFrame())) == (True, False, False)
    assert found.is_empty()


HIDDEN = """
import sys

class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(name)

sys.meta_path.insert(0, Hide())
import pandas as pd
import gapline as gl

rows = {"arm": ["a", "a", "b"], "instance": ["i"] * 3, "seed": [1] * 3, "time": [1, 2.5, None]}
rows |= {"objective": [5, 4, None], "valid": [True, None, None], "panel": pd.Categorical(["p"] * 3)}
campaign = gl.read(pd.DataFrame(rows))
print(campaign.time.tolist(), campaign.verdict.tolist(), campaign.runs["count"].to_list())
"""


@pytest.mark.slow
def test_a_frame_of_pandas_is_read_without_pyarrow():
    done = subprocess.run([sys.executable, "-c", HIDDEN], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "[1.0, 2.5] [1, 2] [2, 0]\n"), done.stderr

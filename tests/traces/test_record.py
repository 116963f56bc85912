"""What is said of a recorded run: checked before anything is written, a column each when it is read."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.contract.tables import RUN_KEY, RUN_RECORD, RUNS, TRACE_OPTIONAL, TRACE_REQUIRED
from gapline.errors import UsageError
from gapline.traces.recording import KINDS, RESERVED


def runs_of(path, *columns):
    return gl.read(path).runs.select(*columns).rows()


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"horizon": 0}, "horizon: expected seconds above 0, got 0"),
        ({"horizon": float("inf")}, "horizon"),
        ({"seed": 1.5}, "seed: expected a whole number of 64 bits, got 1.5"),
        ({"arm": ""}, "arm: expected a name, got ''"),
        ({"sense": "down"}, "sense: expected min or max, got 'down'"),
        ({"options": [1]}, "options: expected a text, a number or a truth value, got list"),
        ({"horizon": True}, "horizon: expected seconds above 0, got True"),
        ({"horizon": "60"}, "horizon: expected seconds above 0, got '60'"),
        ({"seed": True}, "seed: expected a whole number of 64 bits, got True"),
        ({"seed": 2**63}, "seed: expected a whole number of 64 bits, got 9223372036854775808"),
        ({"instance": "\udcff"}, r"instance: expected a name, got '\\udcff'"),
        ({"instance": Path("a.vrp")}, "instance: expected a name, got PosixPath"),
        ({"status": "good"}, "status: expected a fact under a name of its own, got one that `read` fills in"),
        ({"threads": "four"}, "threads: expected a whole number of 64 bits, got 'four'"),
        ({"size": float("nan")}, "size: expected a finite number, got nan"),
        ({"note": "\ud800"}, r"note: expected a text or a finite number of 64 bits, got '\\ud800'"),
        ({"seeds": 10**30}, "seeds: expected a text or a finite number of 64 bits"),
    ],
)
def test_slips_are_told_before_anything_is_written(tmp_path, given, message):
    with pytest.raises(UsageError, match=message):
        gl.record(tmp_path / "t.jsonl", **{"arm": "a", "instance": "i", "horizon": 60} | given)
    assert not (tmp_path / "t.jsonl").exists()


def test_what_is_maximised_says_so(tmp_path):
    path = tmp_path / "t.jsonl"
    with gl.record(path, arm="a", instance="i", horizon=60, sense="max") as trace:
        trace.add(2.0)
    assert runs_of(path, "sense") == [("max",)]


def test_numbers_of_numpy_are_made_plain(tmp_path):
    path = tmp_path / "t.jsonl"
    given = {"threads": np.int64(4), "size": np.float32(20), "share": np.float64(0.5), "warm": np.True_, "tier": None}
    with gl.record(path, arm="a", instance="i", seed=np.int64(7), horizon=np.int32(60), **given):
        pass
    assert runs_of(path, "seed", "horizon", "threads", "size", "share", "warm") == [(7, 60.0, 4, 20.0, 0.5, True)]


def test_every_column_that_reading_fills_in_is_reserved():
    """A fact under such a name would be overwritten in silence, one of another type would not fit its column."""
    own = {*RUN_KEY, "panel", "horizon", "sense"}
    assert {*RESERVED.split(), *KINDS} == {*RUNS, *RUN_RECORD, *TRACE_REQUIRED, *TRACE_OPTIONAL} - own
    types = {int: pl.Int64(), float: pl.Float64(), str: pl.String()}
    assert {name: types[kind] for name, kind in KINDS.items()} == {name: RUN_RECORD[name] for name in KINDS}


def test_recording_loads_nothing_that_a_script_would_wait_for(tmp_path):
    heavy = ("polars", "numpy", "numba", "pydantic", "rich")
    code = "import gapline as gl, sys; gl.record(sys.argv[1], arm='a', instance='i', horizon=1).close(); "
    code += f"print([m for m in {heavy} if m in sys.modules])"
    command = [sys.executable, "-c", code, str(tmp_path / "t.jsonl")]
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == "[]\n"

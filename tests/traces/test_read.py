"""`read` takes whatever holds a campaign, and says what it takes where it cannot."""

import polars as pl
import pytest

import gapline as gl
from gapline.errors import TraceError, UsageError
from gapline.traces.neutral import read_neutral
from traces.neutral_traces import table


def test_lazy_frames_and_lists_of_sources_are_read(tmp_path):
    assert gl.read(table().lazy()).digest() == gl.read(table()).digest()
    parts = [table().filter(pl.col("arm") == arm) for arm in ("a", "b")]
    parts[1].write_parquet(tmp_path / "b.parquet")
    assert gl.read([parts[0], str(tmp_path / "b.parquet")]).digest() == gl.read(table()).digest()


@pytest.mark.slow
def test_duckdb_relations_speak_arrow_too():
    duckdb = pytest.importorskip("duckdb")
    connection = duckdb.connect()
    relation = connection.sql(
        "select 'a' as arm, 'i' as instance, 1 as seed, 0.5::double as time, 9.0::double as objective"
    )
    assert gl.read(relation).objective.tolist() == [9.0]


def test_what_cannot_be_read_says_what_can(tmp_path):
    with pytest.raises(UsageError, match="expected a name ending in"):
        read_neutral(tmp_path / "solver.log")
    with pytest.raises(TraceError, match="no such file"):
        gl.read(tmp_path / "none.csv")
    with pytest.raises(UsageError, match="expected at least one source"):
        gl.read([])
    with pytest.raises(UsageError, match="got int"):
        gl.read(7)
    with pytest.raises(TraceError, match="expected a campaign directory"):
        gl.read(tmp_path)
    with pytest.raises(TraceError, match=r"expected \(time, objective\)"):
        gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "trace": [(1,)]}])
    with pytest.raises(TraceError, match="expected a list under 'trace'"):
        gl.Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1}])

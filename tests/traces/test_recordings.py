"""Recorded files among others: told by their first lines, scored like any trace."""

import pytest

import gapline as gl
from gapline.errors import TraceError, UsageError
from gapline.journal.campaign import solution_digest
from gapline.traces.recordings import is_recorded, read_recorded


@pytest.fixture
def recorded(tmp_path):
    path = tmp_path / "traces.jsonl"
    with gl.record(path, arm="a", instance="i", seed=1, horizon=60) as trace:
        trace.add(20.0)
    return path


def test_it_is_told_from_a_neutral_trace_of_the_same_name(recorded, tmp_path):
    neutral = tmp_path / "n.jsonl"
    neutral.write_text('{"arm":"a","instance":"i","seed":1,"time":1,"objective":2}\n')
    assert (is_recorded(recorded), is_recorded(neutral), is_recorded(tmp_path / "none")) == (True, False, False)
    assert gl.read(neutral).objective.tolist() == [2.0]


def test_it_is_scored_like_any_trace(recorded):
    study = gl.open_study(recorded, snapshots=[gl.Snapshot.from_values({"i": 10.0}, name="mine")])
    assert 0.33 < study.scores[0].frame["squeezed"][0] < 0.34
    assert study.campaign.facts.get("checker") is None


def test_the_best_solution_is_that_of_its_sense(tmp_path):
    for sense in ("min", "max"):
        with gl.record(tmp_path / "t.jsonl", arm=sense, instance=sense, horizon=60, sense=sense) as trace:
            trace.add(20.0, solution=[1])
            trace.add(30.0, solution=[2])
    found = gl.read(tmp_path / "t.jsonl").runs.select("arm", "best_solution_digest").rows()
    assert dict(found) == {"min": solution_digest(b"[1]"), "max": solution_digest(b"[2]")}


def test_a_file_without_a_readable_run_is_refused(recorded):
    recorded.write_bytes(recorded.read_bytes().replace(b'"arm":"a"', b'"arm":"b"'))
    with pytest.raises(TraceError, match="expected runs, got none that can be read"):
        read_recorded(recorded)


def test_it_has_no_columns_to_be_named(recorded):
    with pytest.raises(UsageError, match="whose columns are known"):
        gl.read(recorded, columns="time=elapsed")

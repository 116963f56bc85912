"""A trace file that somebody else is writing is followed line by line."""

import json

import pytest

from gapline.cli.app import run as gapline
from gapline.serve.foreign import LiveTraces
from live_server import Listener, serving

HEAD = "arm,instance,seed,time,objective,valid,horizon,status\n"


@pytest.fixture
def references(tmp_path):
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    return str(tmp_path / "refs.csv")


def scored(path, references, capsys):
    capsys.readouterr()
    assert gapline(["score", str(path), "--references", references, "--json"]) == 0
    return json.loads(capsys.readouterr().out)["arms"]


def test_a_csv_that_grows_line_by_line(tmp_path, references, capsys):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD)
    live = LiveTraces(path, references=references)
    state = live.look()
    assert state["phase"] == "not begun"
    with path.open("a") as stream:
        for line in ("a,i,1,1.0,30,true,10,", "b,i,1,2.0,20,true,10,", "a,i,1,4.0,15,true,10,"):
            stream.write(line + "\n")
            stream.flush()
            state = live.look()
            assert state["arms"] == scored(path, references, capsys)
        stream.write("a,i,1,5.0,1")
        stream.flush()
        torn = live.look()
        assert torn["arms"] == state["arms"]
        stream.write("2,true,10,\n")
    state = live.look()
    run = state["running"]["a/i/1"]
    assert (run["incumbent"], run["known"]) == (12.0, 5.0)
    assert run["bounds"]["squeezed"]["high"] == pytest.approx(state["arms"][0]["scores"]["squeezed"])
    assert state["phase"] == "running"
    assert state["events"][0]["kind"] == "incumbent"
    live.close()


def test_a_run_with_a_status_has_ended(tmp_path, references):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,finished\nb,i,1,1.0,40,true,10,finished\n")
    live = LiveTraces(path, references=references)
    state = live.look()
    assert (state["phase"], state["running"]) == ("finished", {})
    arms = {one["arm"]: one for one in state["bounds"]["squeezed"]["arms"]}
    assert arms["a"]["low"] == arms["a"]["high"] == state["arms"][0]["scores"]["squeezed"]
    assert state["bounds"]["squeezed"]["pairs"] == [{"a": "a", "b": "b", "decided": True, "better": "a"}]
    live.close()


def test_jsonl_and_a_file_that_is_begun_anew(tmp_path, references):
    path = tmp_path / "traces.jsonl"
    row = {"arm": "a", "instance": "i", "seed": 1, "time": 1.0, "objective": 30.0, "horizon": 10.0}
    path.write_text(json.dumps(row) + "\n" + json.dumps(row | {"time": 2.0, "objective": 20.0}) + "\n")
    live = LiveTraces(path, references=references)
    assert live.look()["running"]["a/i/1"]["incumbent"] == 20.0
    path.write_text(json.dumps(row | {"objective": 25.0}) + "\n")
    assert live.look()["running"]["a/i/1"]["incumbent"] == 25.0
    live.close()


def test_without_references_it_says_what_score_says(tmp_path):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\n")
    live = LiveTraces(path)
    assert "expected a reference" in live.look()["refused"]["message"]
    live.close()


def test_it_is_served(tmp_path, references):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\n")
    with serving(path, "--references", references) as served:
        listener = Listener(served)
        listener.until(lambda one: one.kinds[:1] == ["state"])
        with path.open("a") as stream:
            stream.write("a,i,1,3.0,11,true,10,\n")
        listener.until(lambda one: one.document["running"]["a/i/1"]["incumbent"] == 11.0)
        listener.close()

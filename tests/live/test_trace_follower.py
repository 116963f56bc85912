"""A trace file that somebody else is writing is followed line by line."""

import json

import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.live.trace_follower import LiveTraces
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


def test_a_run_that_waits_for_its_verdict_is_counted_as_score_counts_it(tmp_path, references, capsys):
    path = tmp_path / "traces.csv"
    rows = [f"{arm},i,1,1.0,30,{valid},10,finished,checker" for arm, valid in (("a", ""), ("b", "true"))]
    path.write_text("\n".join([HEAD.replace("\n", ",validation"), *rows, ""]))
    live = LiveTraces(path, references=references)
    state = live.look()
    assert [row["arm"] for row in state["arms"]] == ["b"]
    assert state["arms"] == scored(path, references, capsys)
    names = ("planned", "done", "unchecked", "left")
    assert [state["progress"][name] for name in names] == [2, 1, 1, 0]
    assert (state["coverage"]["runs"], state["coverage"]["unchecked"]) == (1, 1)
    assert gapline(["watch", str(path), "--references", references, "--once"]) == 0
    assert "1 done, 1 waiting for a verdict, 0 left of 2" in capsys.readouterr().out
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


def test_open_runs_have_gap_and_score_of_the_reading_of_score(tmp_path, references, capsys):
    """The score so far is that of the file re-scored at the time up to which the run is known."""
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\na,i,1,4.0,20,true,10,\na,i,1,6.0,25,false,10,\nb,i,1,,,,10,\n")
    live = LiveTraces(path, references=references)
    state = live.look()
    capsys.readouterr()
    assert gapline(["score", str(path), "--references", references, "--horizon", "6", "--per-run", "--json"]) == 0
    cut = {run["arm"]: run["scores"] for run in json.loads(capsys.readouterr().out)["runs"]}
    run = state["running"]["a/i/1"]
    assert (run["known"], run["reference"]) == (6.0, 10.0)
    assert run["gap"]["squeezed"] == pytest.approx((20 - 10) / (20 + 10))
    assert run["scores"]["squeezed"] == cut["a"]["squeezed"]
    # By hand: nothing for a second, then (30-10)/(30+10) for three, then 1/3; at best it jumps to the lower end of -1.
    assert run["scores"]["squeezed"] == pytest.approx((1 + 3 * 0.5 + 2 / 3) / 6)
    assert run["bounds"]["squeezed"]["high"] == pytest.approx((1 + 3 * 0.5 + 6 / 3) / 10)
    assert run["bounds"]["squeezed"]["low"] == pytest.approx((1 + 3 * 0.5 + 2 / 3 - 4) / 10)
    assert run["bounds"]["squeezed"]["to_reference"] == pytest.approx((1 + 3 * 0.5 + 2 / 3) / 10)
    silent = state["running"]["b/i/1"]
    assert (silent["incumbent"], silent["gap"]) == (None, None)
    live.close()


def test_a_snapshot_is_read_as_score_reads_it(tmp_path):
    path, snapshot = tmp_path / "traces.csv", tmp_path / "known.json"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\n")
    gl.Snapshot.from_values({"i": 10.0}, name="known", certified=["i"]).save(snapshot)
    found = LiveTraces(path, snapshots=[str(snapshot)])
    state = found.look()
    assert state["reference"]["name"] == "known"
    run = state["running"]["a/i/1"]
    assert run["gap"]["squeezed"] == pytest.approx(0.5)
    # A certified value bounds it from below.
    assert run["best_possible"] == pytest.approx(10.0)
    assert run["bounds"]["squeezed"]["low"] == pytest.approx(0.1, abs=1e-8)
    found.close()


def test_without_references_it_shows_the_runs_and_says_what_it_lacks(tmp_path):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\nb,i,1,1.0,30,true,10,finished\n")
    live = LiveTraces(path)
    state = live.look()
    assert "expected a reference" in state["refused"]["message"]
    assert "--references FILE" in state["refused"]["hint"]
    assert (state["phase"], state["arms"], state["bounds"]) == ("running", [], {})
    assert (state["progress"]["planned"], state["progress"]["done"]) == (2, 1)
    run = state["running"]["a/i/1"]
    assert (run["incumbent"], run["trace"]["objective"]) == (30.0, [30.0])
    assert [run[name] for name in ("reference", "gap", "scores", "bounds")] == [None] * 4
    with path.open("a") as stream:
        stream.write("a,i,1,2.0,20,true,10,\n")
    assert live.look()["running"]["a/i/1"]["incumbent"] == 20.0
    assert "20" in live.look()["events"][0]["text"]
    live.close()


def test_references_that_lack_an_instance_are_refused_in_the_words_of_score(tmp_path, references, capsys):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\na,other,1,1.0,30,true,10,\n")
    live = LiveTraces(path, references=references)
    state = live.look()
    assert gapline(["score", str(path), "--references", references]) != 0
    assert state["refused"]["message"] in " ".join(capsys.readouterr().err.split())
    assert "other" in state["refused"]["message"]
    assert set(state["running"]) == {"a/i/1", "a/other/1"}
    live.close()


def test_a_file_that_cannot_be_read_any_more_keeps_its_runs_and_one_begun_anew_has_none(tmp_path, references):
    path = tmp_path / "traces.csv"
    path.write_text(HEAD + "a,i,1,1.0,30,true,10,\n")
    live = LiveTraces(path, references=references)
    live.look()
    with path.open("a") as stream:
        # Another horizon of the same run is no trace.
        stream.write("a,i,1,2.0,20,true,12,\n")
    state = live.look()
    assert (state["refused"] is None, list(state["running"])) == (False, ["a/i/1"])
    path.write_text(HEAD)
    state = live.look()
    assert (state["phase"], state["running"]) == ("not begun", {})
    live.close()


@pytest.mark.slow
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


def test_what_only_score_can_do_is_said_of_score(tmp_path, references):
    for cells, ways in (("-3,true", ("--kernel berthold",)), ("3,", ("--validation solver", "--allow-unchecked"))):
        path = tmp_path / "traces.csv"
        path.write_text(f"{HEAD}a,i,1,1,{cells},10,\n")
        live = LiveTraces(path, references=references)
        hint = live.look()["refused"]["hint"]
        assert "`gapline score" in hint
        assert all(way in hint.partition("`gapline score")[2] for way in ways)
        live.close()


def test_nothing_is_decided_while_the_direction_is_in_doubt(tmp_path, references):
    path = tmp_path / "traces.csv"
    rows = [
        f"{arm},i,1,{time},{9 * time * scale},true,10," for arm, scale in (("a", 1), ("b", 9)) for time in (1, 2, 9)
    ]
    path.write_text("\n".join([HEAD.strip(), *rows, ""]))
    told = {}
    for sense in (None, "min", "max"):
        live = LiveTraces(path, references=references, **({} if sense is None else {"sense": sense}))
        state = live.look()
        told[sense] = (len(state["bounds"]["squeezed"]["pairs"]), "seems to be maximised" in state["ranking"]["words"])
        assert str(tmp_path / "traces.csv") in state["ranking"]["words"] or sense
        live.close()
    assert told == {None: (0, True), "min": (1, False), "max": (1, False)}

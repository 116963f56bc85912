"""Real campaigns of `gapline run`, watched: killed, resumed, and unmoved by who looks at them."""

import json
import os
import random
import shutil
import signal

import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.serve.live import LiveStudy
from live_server import Listener, serving

ARMS = {"a": ["scripted", "1", "12", "0.05"], "b": ["scripted", "3", "8", "0.08"]}


def with_references(study):
    """Give a scripted study references that stood before its first run."""
    (study.path / "references").mkdir()
    snapshot = gl.Snapshot.from_values({"one": 70.0, "two": 90.0}, name="known", as_of="2020-01-01")
    snapshot.save(study.path / "references" / "known.json")
    contract = study.path / "study.toml"
    reference = '\n[reference]\npolicy = "frozen"\nsnapshot = "references/known.json"\n'
    contract.write_text(contract.read_text().replace("[time]", reference + "\n[time]", 1))
    return study


def scored(path, capsys):
    capsys.readouterr()
    code = gapline(["score", str(path), "--json"])
    out = capsys.readouterr()
    return json.loads(out.out) if code in (0, 1) and out.out else None


def test_a_real_campaign_at_random_moments_and_at_its_end(make_study, tmp_path, capsys):
    """Partial numbers are those of the journals as they were at that moment; the last ones are those of `score`."""
    study = with_references(make_study(ARMS, seeds=(1, 2, 3), horizon=5.0))
    chance, compared, copies = random.Random(17), 0, 0
    with serving(study.path) as served:
        process = study.start("-j", "2")
        listener = Listener(served)
        while process.poll() is None:
            listener.until(lambda one, n=listener.number: one.number != n or process.poll() is not None)
            if compared >= 40 or chance.random() < 0.2:
                continue
            # Copied, then asked, then copied: where nothing ended in between, the copy is of that moment.
            before, state = done_attempts(study), served.state()
            if not state["current"] or done_attempts(study) != before or state["progress"]["done"] != len(before):
                continue
            copies += 1
            copy = tmp_path / f"copy{copies}"
            # Not what the runner is writing or replacing in this moment: journals are enough.
            shutil.copytree(study.path, copy, ignore=shutil.ignore_patterns(".*", "campaign", "results"))
            if done_attempts(study) != before:
                continue
            expected = scored(copy, capsys)
            assert state["arms"] == ([] if expected is None else expected["arms"])
            compared += 1
        process.communicate()
        document = listener.until(lambda one: one.document["phase"] == "finished")
        expected = scored(study.path, capsys)
        assert document["arms"] == expected["arms"]
        assert document["coverage"] == expected["coverage"]
        for one in document["bounds"]["squeezed"]["arms"]:
            (row,) = [row for row in document["arms"] if row["arm"] == one["arm"]]
            assert one["low"] == one["high"] == row["scores"]["squeezed"]
        listener.close()
    assert compared >= 3


def done_attempts(study):
    """The attempts that say how they ended."""
    return sorted(
        attempt
        for attempt in study.path.glob("journal/*/attempt-*")
        if (attempt / "events.jsonl").is_file() and b'"end":{' in (attempt / "events.jsonl").read_bytes()
    )


def test_a_runner_that_is_killed_is_said_to_be_dead_and_goes_on(make_study, capsys):
    study = with_references(make_study({"a": ["scripted", "1", "30", "0.1"]}, seeds=(1, 2), horizon=20.0))
    with serving(study.path) as served:
        listener = Listener(served)
        process = study.start("-j", "1")
        listener.until(lambda one: any(run["incumbent"] for run in one.document.get("running", {}).values()))
        os.kill(process.pid, signal.SIGKILL)
        process.communicate()
        document = listener.until(lambda one: one.document["phase"] == "stopped", patience=5.0)
        assert document["runner"]["alive"] is False
        assert document["runner"]["resume"].startswith(f"gapline run {study.path}")
        listener.until(lambda one: one.document["progress"]["interrupted"] == 1)
        again = study.start("-j", "1")
        listener.until(lambda one: one.document["phase"] == "running")
        os.kill(again.pid, signal.SIGINT)
        again.communicate()
        document = listener.until(lambda one: one.document["phase"] == "stopped")
        assert document["progress"]["done"] >= 1
        assert document["arms"] == scored(study.path, capsys)["arms"]
        listener.close()


def test_a_server_that_is_killed_is_not_noticed_by_the_runs(make_study):
    study = with_references(make_study({"a": ["scripted", "1", "20", "0.05"]}, seeds=(1, 2), horizon=10.0))
    with serving(study.path) as served:
        process = study.start("-j", "1")
        listener = Listener(served)
        listener.until(lambda one: one.document.get("running"))
        served.kill()
        listener.close()
        _, err = process.communicate()
    assert process.returncode == 0, err
    assert gl.open(study.path / "campaign").runs["status"].to_list() == ["finished"] * 4


@pytest.mark.parametrize("watched", [False, True])
def test_deterministic_arms_give_the_same_candidates_with_and_without_a_server(make_study, watched, tmp_path_factory):
    study = with_references(make_study({"a": ["scripted", "1", "10", "0.01"], "b": ["scripted", "2", "5", "0.02"]}))
    if watched:
        with serving(study.path) as served:
            listener = Listener(served)
            done = study.run()
            listener.close()
    else:
        done = study.run()
    assert done.returncode == 0
    found = json.dumps(candidates(study.path), sort_keys=True)
    kept = tmp_path_factory.getbasetemp() / "candidates.json"
    if kept.exists():
        assert kept.read_text() == found
    kept.write_text(found)


def candidates(path):
    """What the solvers of a study said, times aside."""
    campaign = gl.open(path / "campaign")
    rows = campaign.runs.select("arm", "instance", "seed", "first", "count").iter_rows()
    return {f"{a}/{i}/{s}": campaign.objective[f : f + n].tolist() for a, i, s, f, n in rows}


def test_nothing_of_a_run_is_touched_by_who_watches(make_study):
    """No lock is tried: a second runner never finds a cell taken by the one who looks."""
    study = with_references(make_study(ARMS, seeds=(1,), horizon=5.0))
    process = study.start("-j", "2")
    live = LiveStudy(study.path)
    while process.poll() is None:
        live.look()
    _, err = process.communicate()
    live.close()
    assert process.returncode == 0, err
    assert "busy" not in err
    assert "held by" not in err

"""A recording that never closed counts in every command, so that an arm that crashes does not win by it."""

import datetime
import gzip
import json
import os
import signal
import subprocess
import sys
from dataclasses import replace
from itertools import permutations

import msgspec
import polars as pl
import pytest

import gapline as gl
from gapline.cli.app import run as gapline
from gapline.journal.line import seal
from gapline.journal.unclosed_recordings import Here
from gapline.traces import recordings as module
from gapline.traces.recordings import read_recorded

GONE = "recording never closed and its process gone: counts as killed, its last incumbent held to the horizon"
ALIVE = "recording still open after its horizon, its process alive: counts as it was at the horizon"
ENOUGH = datetime.timedelta(seconds=60)


def write(path, arm, seed, values, *, closed=True, horizon=60):
    """Record a run in this process; one that is not closed is as a kill leaves it."""
    trace = gl.record(path, arm=arm, instance="i", seed=seed, horizon=horizon)
    for value in values:
        trace.add(value)
    if closed:
        trace.close()
    else:
        trace._let_go()


@pytest.fixture
def here(monkeypatch):
    """Let processes be alive or dead, and the clocks be later, as somebody says."""
    now = Here.now

    def pretend(*, alive, later=0.0):
        def found():
            at = now()
            wall = at.wall + datetime.timedelta(seconds=later)
            return replace(at, wall=wall, clock=at.clock + int(later * 1e9), is_running=lambda *_: alive)

        monkeypatch.setattr(Here, "now", found)

    return pretend


@pytest.fixture
def recording(tmp_path):
    """Two arms of two runs; the bad one of b was killed."""
    path = tmp_path / "traces.jsonl"
    write(path, "a", 1, [20.0, 19.0])
    write(path, "a", 2, [13.0, 12.0])
    write(path, "b", 1, [40.0, 39.0], closed=False)
    write(path, "b", 2, [12.0, 11.0])
    (tmp_path / "refs.csv").write_text("instance,value\ni,10\n")
    return path


def printed(capsys, *command, code=0):
    capsys.readouterr()
    assert gapline([str(word) for word in command]) == code
    return capsys.readouterr().out


def scores(capsys, path, refs):
    found = json.loads(printed(capsys, "score", path, "--references", refs, "--json"))
    return {row["arm"]: (row["runs"], round(row["scores"]["squeezed"], 5)) for row in found["arms"]}, found


def test_a_killed_run_counts_in_every_command(recording, tmp_path, capsys, here):
    here(alive=False)
    refs = tmp_path / "refs.csv"
    known, found = scores(capsys, recording, refs)
    assert known == {"a": (2, 0.20063), "b": (2, 0.31973)}
    assert (found["coverage"]["runs"], found["coverage"]["failed"], found["coverage"]["running"]) == (4, 1, 0)
    assert f"{GONE} (1 of 4 runs)" in found["notes"]
    campaign = gl.read(recording)
    rows = campaign.runs.filter(pl.col("status") == "killed").select("arm", "seed", "unclosed", "count").rows()
    assert (rows, campaign.interrupted, campaign.running) == ([("b", 1, "gone", 2)], (), ())
    # What is written of it says the same.
    printed(capsys, "export", recording, "-o", tmp_path / "e.csv")
    printed(capsys, "import", recording, "-o", tmp_path / "imported")
    printed(capsys, "merge", recording, "-o", tmp_path / "merged")
    for name in ("e.csv", "imported", "merged"):
        again, document = scores(capsys, tmp_path / name, refs)
        assert again == known, name
        assert (document["coverage"]["failed"], f"{GONE} (1 of 4 runs)" in document["notes"]) == (1, True), name
    report = json.loads(printed(capsys, "analyse", recording, "--references", refs, "--json"))
    assert [(row["arm"], row["runs"], row["crashed"]) for row in report["health"]] == [("a", 2, 0), ("b", 2, 1)]
    sides = (f"{recording}:a", f"{recording}:b")
    assert "0.3197" in printed(capsys, "compare", *sides, "--references", refs, "--json")
    printed(capsys, "report", recording, "--references", refs, "-o", tmp_path / "report")
    results = json.loads((tmp_path / "report" / "results.json").read_text())
    assert '"failed": 1' in json.dumps(results)


def test_a_run_in_progress_is_counted_and_not_scored(recording, tmp_path, capsys, here):
    here(alive=True)
    campaign = gl.read(recording)
    assert [str(key) for key in campaign.running] == ["b/i/1"]
    known, found = scores(capsys, recording, tmp_path / "refs.csv")
    assert known["b"][0] == 1
    assert (found["coverage"]["runs"], found["coverage"]["running"]) == (3, 1)
    assert "1 cell under way when the journals were read: b/i/1" in found["notes"]


def test_a_run_in_progress_is_a_cell_that_is_not_done(recording, tmp_path, capsys, here):
    """Also where no other arm has the cell, or the arm has nothing else: what `--missing` asks is asked of it too."""
    write(recording, "c", 1, [11.0], closed=False)
    here(alive=True)
    command = ("score", recording, "--references", tmp_path / "refs.csv", "--missing")
    capsys.readouterr()
    assert gapline([*map(str, command), "refuse"]) == 1
    assert "b/i/1 (running), c/i/1 (running), c/i/2 (missing)" in " ".join(capsys.readouterr().err.split())
    found = json.loads(printed(capsys, *command, "empty", "--json"))
    assert {row["arm"]: (row["runs"], row["empty"]) for row in found["arms"]} == {"a": (2, 0), "b": (2, 1), "c": (2, 2)}
    assert (found["coverage"]["running"], found["coverage"]["missing"], found["coverage"]["filled"]) == (2, 1, 3)


def test_a_run_whose_process_outlives_its_horizon_counts_as_it_was(recording, tmp_path, capsys, here):
    here(alive=True, later=60.0)
    known, found = scores(capsys, recording, tmp_path / "refs.csv")
    assert known == {"a": (2, 0.20063), "b": (2, 0.31973)}
    assert (found["coverage"]["failed"], found["coverage"]["unknown"]) == (0, 1)
    assert f"{ALIVE} (1 of 4 runs)" in found["notes"]
    assert gl.read(recording).runs.filter(pl.col("unclosed") == "alive")["status"].to_list() == ["unknown"]


def test_a_killed_run_without_a_candidate_is_an_empty_run(tmp_path, here):
    write(tmp_path / "t.jsonl", "a", 1, [], closed=False)
    here(alive=False)
    assert gl.read(tmp_path / "t.jsonl").runs.select("status", "count").rows() == [("killed", 0)]


@pytest.mark.parametrize("order", list(permutations(["unclosed", "closed", "unclosed again"])))
def test_a_closed_recording_of_the_same_run_supersedes_it_with_a_note(tmp_path, order, here):
    here(alive=False)
    path = tmp_path / "t.jsonl"
    for number, kind in enumerate(order):
        write(path, "a", 1, [30.0 + number], closed=kind == "closed")
    campaign = gl.read(path)
    assert campaign.objective.tolist() == [30.0 + order.index("closed")]
    assert campaign.runs["status"].to_list() == ["finished"]
    assert campaign.diagnostics.superseded == {"cut short": 2}
    assert "2 attempts superseded by the one that counts: 2 cut short" in campaign.notes()


def test_of_two_that_never_closed_the_first_counts(tmp_path, here):
    here(alive=False)
    path = tmp_path / "t.jsonl"
    for value in (30.0, 20.0):
        write(path, "a", 1, [value], closed=False)
    campaign = gl.read(path)
    assert (campaign.objective.tolist(), campaign.diagnostics.superseded) == ([30.0], {"cut short": 1})


def test_a_killed_run_counts_while_it_is_made_again(tmp_path, monkeypatch):
    path = tmp_path / "t.jsonl"
    for value in (30.0, 20.0):
        write(path, "a", 1, [value], closed=False)
    states = iter(["killed", "in progress"] * 4)
    monkeypatch.setattr(module, "unclosed_state", lambda *_: module.Unclosed(next(states)))
    campaign = gl.read(path)
    assert (campaign.objective.tolist(), campaign.running, campaign.diagnostics.superseded) == ([30.0], (), {})


@pytest.mark.parametrize("reverse", [False, True])
def test_in_several_files_a_closed_one_or_the_first_begun_counts(tmp_path, capsys, reverse, here):
    here(alive=False)
    write(tmp_path / "1.jsonl", "a", 1, [30.0], closed=False)
    write(tmp_path / "2.jsonl", "a", 1, [20.0])
    write(tmp_path / "2.jsonl", "b", 1, [25.0], closed=False)
    write(tmp_path / "3.jsonl", "b", 1, [15.0], closed=False)
    files = sorted(tmp_path.glob("*.jsonl"), reverse=reverse)
    campaign = gl.read(files)
    envelopes = gl.build_envelopes(campaign)
    assert envelopes.runs.select("arm", "status", "best_raw").rows() == [("a", "finished", 20.0), ("b", "killed", 25.0)]
    assert campaign.diagnostics.superseded == {"cut short": 2}
    assert "2 recordings that never closed superseded by another one of the same run" in campaign.notes()
    printed(capsys, "merge", *files, "-o", tmp_path / "merged")
    merged = gl.build_envelopes(gl.open(tmp_path / "merged")).runs
    assert merged.select("arm", "status", "best_raw").rows() == [("a", "finished", 20.0), ("b", "killed", 25.0)]
    for file in files:
        printed(capsys, "merge", file, "-o", tmp_path / file.stem)
    folders = [tmp_path / file.stem for file in files]
    printed(capsys, "merge", *folders, "-o", tmp_path / "parts")
    merged = gl.build_envelopes(gl.open(tmp_path / "parts")).runs
    assert merged.select("arm", "status", "best_raw").rows() == [("a", "finished", 20.0), ("b", "killed", 25.0)]


def test_an_end_that_is_written_while_the_file_is_read_is_seen(tmp_path, monkeypatch):
    """The process wrote the end after the file was read, and was gone before it was looked for."""
    path = tmp_path / "t.jsonl"
    trace = gl.record(path, arm="a", instance="i", horizon=60)
    trace.add(9.0)
    read = module.read_journals

    def ends_behind(path):
        found = read(path)
        trace.close()
        return found

    monkeypatch.setattr(module, "read_journals", ends_behind)
    at = replace(Here.now(), is_running=lambda *_: False)
    assert read_recorded(path, here=at).runs["status"].to_list() == ["finished"]


def strip(path, *names):
    """Write a recording as before the process was recorded: without these facts of its beginning."""
    checksum, lines = {}, []
    for line in path.read_bytes().splitlines():
        record = msgspec.json.decode(line)
        record.pop("crc")
        for name in names:
            record.get("start", {}).pop(name, None)
        sealed, checksum[record["run"]] = seal(msgspec.json.encode(record)[:-1], checksum.get(record["run"], 0))
        lines.append(sealed)
    path.write_bytes(b"".join(lines))


def test_recordings_of_before_are_read_by_the_time_alone(tmp_path):
    path = tmp_path / "t.jsonl"
    write(path, "a", 1, [20.0], closed=False)
    write(path, "a", 2, [20.0])
    strip(path, "recorder")
    now = replace(Here.now(), is_running=lambda *_: True)
    campaign = read_recorded(path, here=now)
    assert ([key.seed for key in campaign.running], campaign.runs["status"].to_list()) == ([1], ["finished"])
    later = read_recorded(path, here=replace(now, wall=now.wall + ENOUGH))
    assert later.runs["status"].to_list() == ["killed", "finished"]
    strip(path, "started")
    assert read_recorded(path, here=now).runs["status"].to_list() == ["killed", "finished"]


def test_a_recording_in_an_archive_is_not_imported(recording, tmp_path, capsys):
    packed = tmp_path / "t.jsonl.gz"
    packed.write_bytes(gzip.compress(recording.read_bytes()))
    assert gapline(["import", str(packed), "-o", str(tmp_path / "c")]) == 1
    assert "unpack it first" in capsys.readouterr().err


SEARCH = """
import gapline as gl, sys
with gl.record(sys.argv[1], arm="b", instance="i", horizon=3600) as trace:
    trace.add(40.0)
    print(flush=True)
    sys.stdin.read()
"""


@pytest.mark.slow
def test_kill_9_within_a_recording(tmp_path):
    path = tmp_path / "t.jsonl"
    write(path, "a", 1, [20.0])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", SEARCH, path], **pipes) as script:
        script.stdout.readline()
        assert [str(key) for key in gl.read(path).running] == ["b/i/1"]
        script.kill()
        # Its parent has not asked for it yet.
        os.waitid(os.P_PID, script.pid, os.WEXITED | os.WNOWAIT)
        campaign = gl.read(path)
    assert script.returncode == -signal.SIGKILL
    assert campaign.runs.select("arm", "status", "unclosed", "count").rows() == [
        ("a", "finished", None, 1), ("b", "killed", "gone", 1)
    ]  # fmt: skip
    assert gl.read(path).runs["status"].to_list() == ["finished", "killed"]

"""`gapline run`: interrupted twice, on a full disk, and a mixed study from start to report."""

import json
import os
import shutil
import signal
import subprocess
import sys

import numpy as np
import pytest

import gapline
import gapline as gl
from gapline.cli.app import run
from gapline.generate.study import Panel, write_study
from gapline.journal.read import read_journal
from gapline.run.campaign import resume_command, run_study
from gapline.run.resume import study_status
from run.campaign_content import content, is_alive

pytestmark = pytest.mark.slow


def test_ctrl_c_lets_the_runs_under_way_finish_and_launches_no_more(make_study, eventually):
    study = make_study({"waiting": ["waits"]})
    runner = study.start("-j", "1", "--order-seed=5", "--no-pin")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    runner.send_signal(signal.SIGINT)
    for line in runner.stderr:
        if "press Ctrl-C again" in line:
            break
    (study.path / "go").touch()
    out, _ = runner.communicate()
    assert runner.returncode == 130
    assert "1 of 4 runs done, 3 left" in out
    go_on = f"gapline run {study.path} --jobs 1 --order-seed 5 --no-pin"
    assert f"go on with: {go_on}\n" in out
    assert resume_command(study.path) == go_on
    assert len(study.attempts()) == 1
    assert run_study(study.path).left == 0
    assert len(gapline.open(study.path / "campaign")) == 4


@pytest.mark.parametrize(("signals", "code"), [(["SIGINT", "SIGINT"], 130), (["SIGTERM"], 143)])
def test_ctrl_c_twice_or_sigterm_ends_the_runs_and_keeps_what_they_found(make_study, eventually, signals, code):
    study = make_study({"waiting": ["waits"]})
    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    for name in signals:
        runner.send_signal(signal.Signals[name])
        for line in runner.stderr:
            if "press Ctrl-C again" in line or "ending the runs" in line:
                break
    out, _ = runner.communicate()
    assert runner.returncode == code
    assert f"go on with: gapline run {study.path}" in out
    journal = read_journal(study.attempts()[0])
    assert journal.ending.cause == "interrupted"
    assert [event.objective for event in journal.events] == [10.0]
    assert not any(is_alive(int(path.name.partition("-")[2])) for path in study.path.glob("alive-*"))
    # Its prefix is evidence, not a run: nothing of it is scored, and the cell is named.
    campaign = gapline.open(study.path / "campaign")
    assert len(campaign) == 0
    (cell,) = campaign.interrupted
    assert cell in {("waiting", "one", 1), ("waiting", "two", 1)}
    status = study_status(study.path)
    assert (status.cells["interrupted"], status.cells["missing"], status.left) == (1, 3, 4)
    (study.path / "go").touch()
    assert run_study(study.path).left == 0
    assert gapline.open(study.path / "campaign").interrupted == ()
    status = study_status(study.path)
    assert (status.superseded, status.superseded_because) == (1, {"cut short": 1})


def test_a_full_disk_stops_the_campaign_and_is_not_the_solvers_fault(make_study, tmp_path):
    """On a file system of 400 kB: the campaign stops, says how much was missing, and goes on when there is room."""
    study = make_study({"steady": ["scripted", "{seed}", "2000", "0"]}, seeds=(1,))
    small = tmp_path / "small"
    small.mkdir()
    if (
        os.geteuid() != 0
        or subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "none", str(small)], capture_output=True, check=False
        ).returncode
    ):
        pytest.skip("a small file system cannot be mounted here")
    try:
        shutil.copytree(study.path, small / "study")
        (small / "filler").write_bytes(bytes(200_000))
        code = "from gapline.cli import main; main()"
        command = [sys.executable, "-c", code, "run", str(small / "study"), "--json", "-j", "1"]
        full = subprocess.run(command, capture_output=True, text=True, check=False)
        assert full.returncode == 3, full.stderr
        assert "No space left on device" in full.stdout + full.stderr
        for path in small.glob("study/journal/*/attempt-*"):
            assert read_journal(path).torn == 0
        (small / "filler").unlink()
        subprocess.run(["mount", "-o", "remount,size=10m", str(small)], check=True)
        again = subprocess.run(command, capture_output=True, text=True, check=False)
        assert again.returncode == 0, again.stderr
        assert json.loads(again.stdout)["left"] == 0
        assert [len(values) for _, values, _ in content(small / "study").values()] == [2000, 2000]
    finally:
        subprocess.run(["umount", str(small)], check=True)


def test_a_mixed_mip_study_from_start_to_report(tmp_path, capsys):
    write_study(tmp_path, "mip", horizon=120.0, seeds=[1], panels=[Panel(16, 1)])
    assert run(["doctor", str(tmp_path)]) == 0
    assert run(["run", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["score", str(tmp_path), "--policy", "analysis", "--per-run", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["validation"] == "checker"
    assert {arm["arm"] for arm in result["arms"]} == {"highs", "scip", "cpsat"}
    for arm in result["arms"]:
        assert (arm["runs"], arm["empty"], arm["rejected"], arm["late"]) == (2, 0, 0, 0)
        # Each ended by itself, with the optimum: the gap to the best of the campaign is nothing.
        assert arm["final_gap"] == 0
    assert {one["panel"] for one in result["runs"]} == {"mip-setcover-n16", "mip-knapsack-n16"}
    assert {one["status"] for one in result["runs"]} == {"finished"}

    campaign = gl.open(tmp_path / "campaign")
    first, count = campaign.runs["first"], campaign.runs["count"]
    for start, length in zip(first, count, strict=True):
        bounds = np.asarray(campaign.bound[start : start + length])
        objectives = np.asarray(campaign.objective[start : start + length])
        # A bound alone has no objective.
        objectives = objectives[~np.isnan(objectives)]
        # Recomputed from the rounded solution: whole numbers in, whole numbers out.
        assert (objectives == np.rint(objectives)).all()
        known = bounds[~np.isnan(bounds)]
        assert (known <= objectives.min() * (1 + 1e-9)).all()
        # Each solver proved what it found: the three agree on the optimum, and so do their bounds.
        assert known[-1] == pytest.approx(objectives.min())

    assert run(["report", str(tmp_path), "--policy", "analysis"]) == 0
    page = (tmp_path / "results" / "report.html").read_text(encoding="utf-8")
    assert all(arm in page for arm in ("highs", "scip", "cpsat"))

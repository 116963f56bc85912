"""`gapline check` judges every candidate of real solvers."""

import json

import pytest

import gapline
from gapline.cli.app import run
from gapline.generate import write_instances
from gapline.run.campaign import run_study

pytestmark = pytest.mark.slow

CONTRACT = """
seeds = [1]
[study]
name = "small"
[objective]
checker = "tdvrptw"
[time]
horizon = 120
[[instances]]
path = "adapter-n20-1.vrp.json"
[[arms]]
name = "ils"
solver = "kayros"
options = { iterations = 20 }
[[arms]]
name = "fast roads"
solver = "pyvrp"
options = { slice = "min", iterations = 50 }
tier = 2
[[arms]]
name = "slow roads"
solver = "ortools"
options = { slice = "max", iterations = 5 }
tier = 2
"""


def test_real_solvers_run_and_every_candidate_is_judged(tmp_path, capsys, monkeypatch):
    write_instances("tdvrptw", tmp_path, name="adapter", customers=20)
    (tmp_path / "study.toml").write_text(CONTRACT)
    report = run_study(tmp_path)
    assert (report.done, report.left, report.problems) == (3, 0, [])
    campaign = report.campaign
    assert campaign is not None
    assert campaign.diagnostics.unchecked == 0

    assert run(["check", str(tmp_path), "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["runs"], document["fresh"], document["problems"]) == (3, 0, [])
    arms = document["arms"]
    assert all(arm["candidates"] == arm["valid"] + arm["invalid"] for arm in arms.values())
    assert arms["ils"]["valid"] == arms["ils"]["candidates"] > 0
    assert arms["fast roads"]["invalid"] > 0
    assert arms["slow roads"]["invalid"] == 0

    assert run(["check", str(tmp_path), "--again"]) == 0
    assert "3 of 3 runs judged now" in capsys.readouterr().out

    # The same in processes of this machine, and in the same words.
    assert run(["check", str(tmp_path), "--again", "--on", "local:2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == document | {"fresh": 3}
    assert "runs judged: 3 of 3" in err
    assert run(["check", str(tmp_path), "--on", "nowhere"]) == 2
    assert "expected local:N" in capsys.readouterr().err

    # Another checker that fails on everything leaves all unchecked, and the first verdicts where they were.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("def check(path, solution):\n    raise RuntimeError('out of order')\n")
    assert run(["check", str(tmp_path), "--checker", "python:broken:check"]) == 1
    shown = capsys.readouterr()
    assert "candidates are unchecked" in shown.out
    assert "out of order" in shown.err
    assert "the contract's checker counts; to count these verdicts: --checker python:broken:check" in shown.out
    assert gapline.open(tmp_path / "campaign").digest() == campaign.digest()

    # What is scored says whose verdicts they are, and the failing one only when it is asked for.
    assert run(["score", str(tmp_path), "--policy", "analysis", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["checker"] == campaign.facts["checker"]
    assert run(["score", str(tmp_path), "--policy", "analysis"]) == 0
    assert f"validated by checker {campaign.facts['checker']}" in " ".join(capsys.readouterr().out.split())
    assert run(["score", str(tmp_path), "--policy", "analysis", "--checker", "python:broken:check"]) == 1
    assert "unchecked in 3 runs" in capsys.readouterr().err
    assert run(["score", str(tmp_path / "campaign"), "--policy", "analysis", "--checker", "tdvrptw"]) == 2
    assert "--checker: expected a study directory with journals" in capsys.readouterr().err

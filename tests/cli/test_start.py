"""`gapline init`, `generate` and `check`, as a newcomer calls them."""

import json

import pytest

from gapline.cli.app import run
from gapline.generate import write_instances
from gapline.model.contract import load_contract
from gapline.model.plan import Plan
from gapline.model.store import file_digest
from gapline.run.campaign import run_study
from gapline.solvers import check_setup


@pytest.mark.parametrize("problem", ["tdvrptw", "vrptw", "cvrp"])
def test_init_writes_a_contract_that_is_ready_to_run(tmp_path, capsys, problem):
    assert run(["init", str(tmp_path / "s"), "--problem", problem]) == 0
    contract = load_contract(tmp_path / "s", files=True)
    assert contract.objective.checker == problem
    assert {instance.panel for instance in contract.instances} == {f"{problem}-n25", f"{problem}-n50"}
    assert [check_setup(arm) for arm in contract.arms] == [None] * len(contract.arms)
    out = capsys.readouterr().out
    assert f"{len(Plan.of(contract).cells)} runs of 2 s each" in out
    assert f"next: gapline run {tmp_path / 's'}" in out


def test_init_of_a_mip_study_has_a_panel_of_each_family_and_size(tmp_path):
    assert run(["init", str(tmp_path), "--problem", "mip", "--name", "p"]) == 0
    contract = load_contract(tmp_path, files=True)
    assert contract.objective.checker == "mip"
    panels = {f"p-{family}-n{size}" for family in ("setcover", "knapsack") for size in (100, 400)}
    assert {instance.panel for instance in contract.instances} == panels
    assert [check_setup(arm) for arm in contract.arms] == [None] * 3


def test_init_twice_is_refused(tmp_path, capsys):
    assert run(["init", str(tmp_path), "--problem", "cvrp", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["runs"] == 24
    before = (tmp_path / "study.toml").read_bytes()
    assert run(["init", str(tmp_path), "--problem", "vrptw"]) == 2
    assert "expected a directory without study.toml" in capsys.readouterr().err
    assert (tmp_path / "study.toml").read_bytes() == before


def test_generate_prints_each_path_with_its_digest(tmp_path, capsys):
    arguments = ["generate", "cvrp", "--name", "x", "--n", "7", "--count", "2", "-o", str(tmp_path)]
    assert run(arguments) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [f"{tmp_path / name}  {file_digest(tmp_path / name)}" for name in ("x-n7-1.vrp", "x-n7-2.vrp")]
    assert run([*arguments, "--json"]) == 0
    assert [entry["digest"] for entry in json.loads(capsys.readouterr().out)] == [line.split()[1] for line in lines]


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

    # Another checker that fails on everything leaves all unchecked, and the first verdicts where they were.
    monkeypatch.chdir(tmp_path)
    (tmp_path / "broken.py").write_text("def check(path, solution):\n    raise RuntimeError('out of order')\n")
    assert run(["check", str(tmp_path), "--checker", "python:broken:check"]) == 1
    shown = capsys.readouterr()
    assert "candidates are unchecked" in shown.out
    assert "out of order" in shown.err

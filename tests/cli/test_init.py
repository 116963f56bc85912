"""`gapline init` writes a study that is ready to run."""

import json

import pytest

from gapline.cli.app import run
from gapline.model.contract import load_contract
from gapline.model.plan import Plan
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

"""`gapline init` writes a study that is ready to run."""

import json

import pytest

from gapline.cli.app import run
from gapline.contract.plan import Plan
from gapline.contract.study_file import load_contract
from gapline.solvers import check_setup


@pytest.mark.slow
@pytest.mark.parametrize("problem", ["tdvrptw", "vrptw", "cvrp"])
def test_init_writes_a_contract_that_is_ready_to_run(tmp_path, capsys, problem):
    assert run(["init", str(tmp_path / "s"), "--problem", problem]) == 0
    contract = load_contract(tmp_path / "s", files=True)
    assert contract.objective.checker == problem
    assert {instance.panel for instance in contract.instances} == {f"{problem}-n25", f"{problem}-n50"}
    assert [check_setup(arm) for arm in contract.arms] == [None] * len(contract.arms)
    out = capsys.readouterr().out
    assert f"{len(Plan.of(contract).cells)} runs of 2 s each" in out
    place = tmp_path / "s"
    assert out.endswith(f"next: gapline status {place} --plan\n      gapline run {place}\n")


def test_init_of_a_mip_study_has_a_panel_of_each_family_and_size(tmp_path):
    assert run(["init", str(tmp_path), "--problem", "mip", "--name", "p"]) == 0
    contract = load_contract(tmp_path, files=True)
    assert contract.objective.checker == "mip"
    panels = {f"p-{family}-n{size}" for family in ("setcover", "knapsack") for size in (100, 400)}
    assert {instance.panel for instance in contract.instances} == panels
    assert [check_setup(arm) for arm in contract.arms] == [None] * 3


def test_init_twice_is_refused(tmp_path, capsys):
    assert run(["init", str(tmp_path), "--problem", "cvrp", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert (told["runs"], told["instances"], told["panels"]) == (24, 6, {"cvrp-n25": 3, "cvrp-n50": 3})
    assert (told["arms"], told["lacking"], told["next"][-1]) == (["pyvrp", "ortools"], [], f"gapline run {tmp_path}")
    before = (tmp_path / "study.toml").read_bytes()
    for arguments in (["--problem", "vrptw"], ["--problem", "command"], ["--instances", str(tmp_path / "instances")]):
        assert run(["init", str(tmp_path), *arguments]) == 2
        assert "expected a directory without study.toml" in capsys.readouterr().err
    assert (tmp_path / "study.toml").read_bytes() == before


def test_horizon_seeds_and_steps_stand_in_the_contract(tmp_path):
    choices = ["--horizon", "7", "--seeds", "4", "--iterations", "9", "--name", "other"]
    assert run(["init", str(tmp_path / "s"), "--problem", "cvrp", *choices]) == 0
    contract = load_contract(tmp_path / "s")
    assert (contract.study.name, contract.time.horizon, contract.seeds) == ("other", 7.0, [1, 2, 3, 4])
    assert {arm.options["iterations"] for arm in contract.arms} == {9}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--most", "2"], "--most needs instances to choose from"),
        (["--references", "refs.csv"], "--references needs instances to choose from"),
        (["--problem", "command", "--instances", "x"], "--problem command brings its own instances"),
        (["--problem", "command", "--iterations", "2"], "solver.py is yours to stop"),
        (["--horizon", "0"], "0.0 is not in the range"),
    ],
)
def test_options_that_do_not_fit_are_refused_before_anything_is_written(tmp_path, capsys, arguments, words):
    assert run(["init", str(tmp_path / "s"), *arguments]) == 2
    assert words in " ".join(capsys.readouterr().err.split())
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_a_solver_of_ones_own_runs_as_it_is_from_start_to_scores(tmp_path, capsys):
    study = str(tmp_path / "mine")
    # A horizon that no machine is too slow for: the solver ends by itself.
    assert run(["init", study, "--problem", "command", "--horizon", "120", "--seeds", "1"]) == 0
    assert run(["doctor", study]) == 0
    capsys.readouterr()
    assert run(["run", study, "--json"]) == 0
    done = json.loads(capsys.readouterr().out)
    assert (done["done"], done["left"], done["unchecked"]) == (8, 0, 0)
    assert done["next"] == [f"gapline score {study}", f"gapline report {study}"]
    assert run(["score", study, "--json"]) == 0
    scored = json.loads(capsys.readouterr().out)
    assert (scored["validation"], scored["reference"]["policy"]) == ("checker", "analysis")
    for arm in scored["arms"]:
        assert (arm["runs"], arm["empty"], arm["rejected"], arm["late"]) == (4, 0, 0, 0)
    assert run(["run", study]) == 0
    assert capsys.readouterr().out.endswith(f"next: gapline score {study}\n      gapline report {study}\n")
    # A contract that asks for references which it does not have: what can be done is said by each command.
    contract = tmp_path / "mine/study.toml"
    contract.write_text(contract.read_text().replace('policy = "analysis"', 'policy = "frozen"'))
    assert run(["run", study]) == 0
    out = capsys.readouterr().out
    assert "the contract says frozen, and there are no references" in out
    assert f"next: gapline score {study} --policy analysis\n" in out
    for command in ("score", "curve", "analyse", "report"):
        assert run([command, study]) == 2
        assert "Hint: --policy analysis takes the best of these runs" in capsys.readouterr().err

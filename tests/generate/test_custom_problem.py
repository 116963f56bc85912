"""A solver and a checker of one's own: they run as they are, and the checker finds out what is wrong."""

import json
import subprocess
import sys

import pytest

from gapline.checkers import load_checker
from gapline.contract.study_file import load_contract
from gapline.generate.custom_problem import CHECKER, SOLVER, write_own_study


@pytest.fixture
def study(tmp_path):
    write_own_study(tmp_path / "s", name="demo", horizon=60, seeds=[7])
    return tmp_path / "s"


def solve(study, instance, move, seed="1"):
    """Run the solver without a package of anyone's."""
    command = [sys.executable, "-I", "-S", "solver.py", instance, seed, "60", move]
    done = subprocess.run(command, cwd=study, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_both_are_of_about_thirty_lines():
    assert max(len(text.splitlines()) for text in (SOLVER, CHECKER)) < 40
    assert all(len(line) <= 120 for text in (SOLVER, CHECKER) for line in text.splitlines())


def test_the_contract_names_both_and_its_instances(study):
    contract = load_contract(study, files=True)
    assert (contract.study.name, contract.seeds, contract.time.horizon) == ("demo", [7], 60.0)
    assert contract.objective.checker == "command:python3 checker.py"
    assert [(one.panel, one.size) for one in contract.instances] == [("n=10", 10)] * 2 + [("n=20", 20)] * 2
    assert all("solver.py" in arm.command for arm in contract.arms)


@pytest.mark.parametrize("move", ["reverse", "swap"])
def test_the_solver_improves_and_ends_by_itself(study, move):
    hello, *candidates = solve(study, "instances/points-n20-1.json", move)
    assert hello == {"solver": "mine", "version": "1.0"}
    values = [one["objective"] for one in candidates]
    assert len(values) > 1
    assert values == sorted(set(values), reverse=True)
    assert solve(study, "instances/points-n20-1.json", move)[1:] == candidates


def test_the_checker_prices_what_the_solver_says_and_rejects_what_is_no_round_trip(study):
    checker = load_checker(f"command:{sys.executable} -I -S {study / 'checker.py'}")
    instance = study / "instances/points-n10-1.json"
    for candidate in solve(study, str(instance), "reverse")[1:]:
        verdict = checker.check(instance, candidate["solution"])
        assert (verdict.valid, verdict.objective) == (True, candidate["objective"])
    for wrong, reason in (
        ([0, 1, 2], "not a round trip: expected each of 10 points once"),
        ([0, 0, *range(2, 10)], "not a round trip: expected each of 10 points once"),
        ({"a": 1}, "malformed solution: expected a list of whole numbers"),
        (["0", *range(1, 10)], "malformed solution: expected a list of whole numbers"),
    ):
        verdict = checker.check(instance, wrong)
        assert (verdict.valid, verdict.reason) == (False, reason)
    checker.close()

"""The suite for adapters catches what it is there to catch: solvers that are wrong in one way each."""

import sys

import pytest

from gapline.contract.contract import Arm
from gapline.generate import write_instances
from gapline.testing import AdapterSuite

# One customer per route, in an order that the seed draws.
SOLVER = """
import json, random, sys
routes = [[customer] for customer in range(1, 5)]
random.Random(int(sys.argv[2])).shuffle(routes)
print(json.dumps({"solver": "toy", "version": "1"}))
print(json.dumps({"bound": 1.0}))
print(json.dumps({"objective": OBJECTIVE, "solution": routes}))
"""


def write_solver(folder, objective):
    path = folder / "toy.py"
    path.write_text(SOLVER.replace("OBJECTIVE", objective))
    return Arm(name="toy", solver="command", command=[sys.executable, str(path), "{instance}", "{seed}"])


@pytest.fixture
def instance(tmp_path):
    return write_instances("cvrp", tmp_path, name="toy", customers=4)[0]


def there_and_back(path):
    from gapline.checkers.routing_files import read_cvrp

    return str(2 * int(read_cvrp(path).distances[0].sum()))


def suite_for(arm):
    class Suite(AdapterSuite):
        checker = "cvrp"

    suite = Suite()
    Suite.arm = arm
    return suite


def test_a_good_adapter_passes_every_test(instance, tmp_path):
    suite = suite_for(write_solver(tmp_path, there_and_back(instance)))
    lines = suite.run_once(instance)
    assert lines[0] == {"solver": "toy", "version": "1"}
    suite.test_setup_is_complete()
    suite.test_first_line_says_who_solves(lines)
    suite.test_every_candidate_has_an_objective_and_a_solution(lines)
    suite.test_every_other_line_is_a_dual_bound_or_a_claim(lines)
    suite.test_every_candidate_gets_a_verdict(instance, lines)
    suite.test_the_same_seed_gives_the_same_candidates(instance, lines)
    suite.test_another_seed_gives_other_candidates(instance, lines)
    suite.test_a_path_with_spaces_is_one_argument(instance, tmp_path)


def test_a_claim_that_is_not_the_checked_objective_is_caught(instance, tmp_path):
    suite = suite_for(write_solver(tmp_path, "1.0"))
    with pytest.raises(AssertionError):
        suite.test_every_candidate_gets_a_verdict(instance, suite.run_once(instance))


def test_a_solver_that_ignores_its_seed_is_caught(instance, tmp_path):
    arm = write_solver(tmp_path, "1.0")
    suite = suite_for(arm.model_copy(update={"command": [*arm.command[:-1], "1"]}))
    with pytest.raises(AssertionError):
        suite.test_another_seed_gives_other_candidates(instance, suite.run_once(instance))


def test_a_solver_that_fails_says_why(instance, tmp_path):
    suite = suite_for(write_solver(tmp_path, "1/0"))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        suite.run_once(instance)

"""vrp-cli, hygese and pyvroom for real: one candidate each, printed at the end, and said so on the first line."""

import os
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.check import load_checker
from gapline.generate import write_instances
from gapline.model.contract import Arm
from gapline.solvers import check_setup, command_line
from gapline.solvers.day_slices import mean_travel
from gapline.testing import AdapterSuite


class TerminalArm(AdapterSuite):
    def test_its_last_solution_is_all_and_it_says_so(self, lines):
        assert lines[0]["version"].endswith(", terminal solution only")
        assert len(lines) == 2


class TestVrpCli(TerminalArm):
    arm = Arm(name="vrp-cli-5", solver="vrp-cli", options={"slices": 5, "iterations": 20}, tier=2)
    checker = "tdvrptw"
    exact = False
    repeats = False
    seeded = False

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("tdvrptw", tmp_path, name="adapter", customers=12)[0]


class TestVrpCliVrptw(TerminalArm):
    arm = Arm(name="vrp-cli", solver="vrp-cli", options={"iterations": 20})
    checker = "vrptw"
    repeats = False
    seeded = False

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("vrptw", tmp_path, name="adapter", customers=12)[0]


class TestPyvroomVrptw(TerminalArm):
    arm = Arm(name="vroom", solver="pyvroom", options={"exploration": 2})
    checker = "vrptw"
    # Among plans of equal cost it prints one or another.
    repeats = False
    seeded = False

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("vrptw", tmp_path, name="adapter", customers=12)[0]

    def test_the_objective_repeats_itself(self, instance, lines):
        assert self.run_once(instance)[1]["objective"] == lines[1]["objective"]


class TestPyvroomCvrp(TestPyvroomVrptw):
    checker = "cvrp"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("cvrp", tmp_path, name="adapter", customers=12)[0]


class TestHygese(TerminalArm):
    arm = Arm(name="hgs", solver="hygese", options={"iterations": 1})
    checker = "cvrp"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("cvrp", tmp_path, name="adapter", customers=40)[0]


@pytest.mark.parametrize("slices", [1, 24, 96])
def test_the_ladder_of_slices_ends_near_the_true_roads(tmp_path, slices):
    """Ninety-six slices of the day price a plan almost as the checker does; one slice need not."""
    (path,) = write_instances("tdvrptw", tmp_path, name="ladder", customers=10)
    suite = TestVrpCli()
    suite.arm = Arm(name="ladder", solver="vrp-cli", options={"slices": slices, "iterations": 20}, tier=2)
    (_, candidate) = suite.run_once(path)
    verdict = load_checker("tdvrptw").check(path, candidate["solution"])
    assert verdict.kind in ("", "time window violated")
    if slices == 96 and verdict.valid:
        assert verdict.objective == pytest.approx(candidate["objective"], rel=0.05)


@settings(deadline=None, max_examples=50)
@given(st.lists(st.integers(1, 50), min_size=2, max_size=8), st.integers(1, 12), st.data())
def test_slices_of_equal_length_have_the_mean_of_the_day_as_their_mean(steps, count, data):
    leave = np.concatenate([[0.0], np.cumsum(steps)])
    travel = np.array(data.draw(st.lists(st.integers(1, 40), min_size=len(leave), max_size=len(leave))), dtype=float)
    means = mean_travel(leave, leave + travel, np.linspace(0, leave[-1], count + 1))
    (whole,) = mean_travel(leave, leave + travel, np.array([0.0, leave[-1]]))
    assert means.mean() == pytest.approx(whole)
    assert travel.min() - 1e-9 <= means.min()
    assert means.max() <= travel.max() + 1e-9


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (Arm(name="a", solver="vrp-cli", options={"slices": 7}), "options.slices: expected one of 1, 5, 24, 96, got 7"),
        (Arm(name="a", solver="pyvroom", options={"exploration": 6}), "expected one of 0, 1, 2, 3, 4, 5, got 6"),
        (Arm(name="a", solver="hygese", options={"slices": 1}), "expected the options iterations, got 'slices'"),
    ],
)
def test_setup_names_what_is_wrong_in_one_line(arm, message):
    assert message in check_setup(arm)


@pytest.mark.parametrize("solver", ["hygese", "pyvroom"])
def test_a_problem_that_the_solver_does_not_solve_is_one_line(tmp_path, solver):
    (path,) = write_instances("tdvrptw", tmp_path, name="adapter", customers=3)
    command = command_line(Arm(name="a", solver=solver), path, seed=1, horizon=1.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{path}: {solver} solves ")
    assert done.stderr.endswith(", got tdvrptw\n")


@pytest.mark.parametrize(
    ("solver", "module", "package"),
    [("vrp-cli", "vrp_cli", "vrp-cli"), ("hygese", "hygese", "hygese"), ("pyvroom", "vroom", "pyvroom")],
)
def test_a_missing_package_is_one_line_and_exit_code_3(tmp_path, solver, module, package):
    (path,) = write_instances("cvrp", tmp_path, name="adapter", customers=3)
    (tmp_path / f"{module}.py").write_text("raise ImportError('blocked')")
    command = command_line(Arm(name="a", solver=solver), path, seed=1, horizon=1.0, threads=1)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == 3
    assert done.stderr == f"{package} is not installed; Hint: pip install 'gapline[solvers]'\n"

"""What a solver of static problems is given: slices by hand, and problems that it does not solve."""

import subprocess

import numpy as np
import pytest

from gapline.contract.contract import Arm
from gapline.errors import UsageError
from gapline.generate import write_instances
from gapline.solvers import command_line
from gapline.solvers.protocol import Task
from gapline.solvers.simplified_models import guess_problem
from gapline.solvers.static_model import SLICES, read_model, read_slice, slice_travel


def test_slices_of_a_travel_time_by_hand():
    """Travel takes 2 at 0, 6 at 4 and 2 at 10: mean (4 * 4 + 6 * 4) / 10 = 4, at midday 6 - 4/6."""
    leave, arrive = np.array([0.0, 4.0, 10.0]), np.array([2.0, 10.0, 12.0])
    assert {which: slice_travel(leave, arrive, which) for which in SLICES} == {
        "min": 20,
        "mean": 40,
        "mid": 53,
        "max": 60,
    }


def test_slices_lie_between_the_least_and_the_most(tmp_path):
    (instance,) = write_instances("tdvrptw", tmp_path, name="slice", customers=6)
    times = {which: read_slice(instance, which).distances for which in SLICES}
    assert (times["min"] <= times["mean"]).all()
    assert (times["mean"] <= times["max"]).all()
    assert (times["min"] <= times["mid"]).all()
    assert (times["mid"] <= times["max"]).all()
    assert (times["min"] < times["max"]).any()
    assert read_model(Task(instance, 1, 1.0)).minimise_duration


def test_an_unknown_suffix_asks_for_the_problem(tmp_path):
    with pytest.raises(UsageError, match=r"options\.problem"):
        guess_problem(tmp_path / "instance.dat")


def test_the_option_says_which_problem_a_file_of_an_unknown_suffix_holds(tmp_path):
    (named,) = write_instances("cvrp", tmp_path, name="plain", customers=5)
    unnamed = named.rename(tmp_path / "plain.dat")
    assert len(read_model(Task(unnamed, 1, 1.0, options={"problem": "cvrp"})).instance.demands) == 6


@pytest.mark.slow
@pytest.mark.parametrize("solver", ["hygese", "pyvroom"])
def test_a_problem_that_the_solver_does_not_solve_is_one_line(tmp_path, solver):
    (path,) = write_instances("tdvrptw", tmp_path, name="adapter", customers=3)
    command = command_line(Arm(name="a", solver=solver), path, seed=1, horizon=1.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith(f"{path}: {solver} solves ")
    assert done.stderr.endswith(", got tdvrptw\n")

"""HiGHS, SCIP and CP-SAT for real on tiny generated programs, under limits on nodes or conflicts."""

import json
import os
import subprocess
import sys

import pytest

from gapline.check import load_checker
from gapline.generate import write_instances
from gapline.model.contract import Arm
from gapline.solvers import command_line
from gapline.testing import AdapterSuite

# Maximise x + y with 2x + 2y <= 7: 3, where the relaxation has 3.5.
LARGEST = """NAME largest
OBJSENSE
    MAX
ROWS
 N value
 L cap
COLUMNS
 MARKER 'MARKER' 'INTORG'
 x value 1 cap 2
 y value 1 cap 2
 MARKER 'MARKER' 'INTEND'
RHS
 RHS cap 7
BOUNDS
 UP BND x 5
 UP BND y 5
ENDATA
"""


def run_lines(solver, path, **options):
    command = command_line(Arm(name=solver, solver=solver, options=options), path, seed=1, horizon=300.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


class MipArm(AdapterSuite):
    checker = "mip"

    @pytest.fixture
    def instance(self, tmp_path):
        # The knapsack: on a cover this small the seed has nothing to decide.
        return write_instances("mip", tmp_path, name="adapter", customers=40)[1]

    def test_bounds_are_journalled_and_below_every_candidate(self, lines):
        bounds = [line["bound"] for line in lines if "bound" in line]
        assert bounds
        best = min(line["objective"] for line in lines[1:] if "objective" in line)
        assert max(bounds) <= best * (1 + 1e-9)

    def test_maximising_keeps_the_signs_of_the_file(self, tmp_path):
        """Objective 3, and a bound that says so from above."""
        path = tmp_path / "largest.mps"
        path.write_text(LARGEST)
        lines = run_lines(self.arm.solver, path)
        candidates = [line for line in lines[1:] if "objective" in line]
        assert candidates[-1]["objective"] == pytest.approx(3)
        assert load_checker("mip").check(path, candidates[-1]["solution"]).objective == 3
        bounds = [line["bound"] for line in lines if "bound" in line]
        assert bounds[-1] == pytest.approx(3)

    def test_a_file_that_is_no_program_is_one_line(self, tmp_path):
        path = tmp_path / "broken.mps"
        path.write_text("ROWS\n what is this\n")
        command = command_line(self.arm, path, seed=1, horizon=1.0, threads=1)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith(f"{path}: expected an MPS or LP file, got what")


class TestHighs(MipArm):
    arm = Arm(name="highs", solver="highs", options={"iterations": 20})


class TestScip(MipArm):
    arm = Arm(name="scip", solver="scip", options={"iterations": 20})


class TestCpsat(MipArm):
    arm = Arm(name="cpsat", solver="cpsat", options={"iterations": 200})


def test_cpsat_scales_decimals_and_refuses_what_it_cannot_state(tmp_path):
    path = tmp_path / "decimals.mps"
    path.write_text(LARGEST.replace("x value 1 cap 2", "x value 1.25 cap 0.5").replace("cap 7", "cap 7.3"))
    last = [line for line in run_lines("cpsat", path)[1:] if "objective" in line][-1]
    # Five x take 2.5 of 7.3; two y take 4.
    assert (last["objective"], last["solution"]) == (8.25, {"x": 5, "y": 2})
    for change, message in [
        ((" UP BND y 5", " PL BND y"), "CP-SAT needs bounded integers, got an unbounded variable y"),
        ((" MARKER 'MARKER' 'INTEND'\n", " MARKER 'MARKER' 'INTEND'\n z value 1\n"), "got a continuous variable z"),
        (("x value 1 ", "x value 0.0123456789 "), "the objective: CP-SAT needs decimals of up to 9 digits, got 10"),
    ]:
        path.write_text(LARGEST.replace(*change))
        command = command_line(Arm(name="a", solver="cpsat"), path, seed=1, horizon=9.0, threads=1)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert message in done.stderr
        assert done.stderr.count("\n") == 1


@pytest.mark.parametrize("suffix", ["pb", "pbtxt"])
def test_cpsat_solves_its_own_models(tmp_path, suffix):
    """Written by CP-SAT in another process: the checker of this one may have loaded highspy."""
    path = tmp_path / f"own.{suffix}"
    code = f"""
from ortools.sat.python import cp_model
model = cp_model.CpModel()
x, y = model.new_int_var(0, 9, "x"), model.new_int_var(0, 9, "")
model.add_all_different([x, y])
model.add(x + y >= 7)
model.minimize(2 * x + 3 * y)
assert model.export_to_file({str(path)!r})
"""
    subprocess.run([sys.executable, "-c", code], check=True)
    lines = run_lines("cpsat", path)
    last = [line for line in lines if "objective" in line][-1]
    assert (last["objective"], last["solution"]) == (14, {"x": 7})
    assert [line["bound"] for line in lines if "bound" in line][-1] == 14


@pytest.mark.parametrize(("solver", "package"), [("highs", "highspy"), ("scip", "pyscipopt"), ("cpsat", "ortools")])
def test_a_missing_package_is_one_line_and_exit_code_3(tmp_path, solver, package):
    path = tmp_path / "largest.mps"
    path.write_text(LARGEST)
    (tmp_path / f"{package}.py").write_text("raise ImportError('blocked')")
    command = command_line(Arm(name="a", solver=solver), path, seed=1, horizon=1.0, threads=1)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == 3
    assert done.stderr == f"{package} is not installed; Hint: pip install 'gapline[mip]'\n"

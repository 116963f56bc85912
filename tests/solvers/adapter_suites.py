"""Suites that several adapters inherit: the same instances, and what is true of all solvers of a kind."""

import json
import subprocess

import pytest

from gapline.checkers import load_checker
from gapline.contract.contract import Arm
from gapline.generate import write_instances
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


class TdvrptwArm(AdapterSuite):
    checker = "tdvrptw"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("tdvrptw", tmp_path, name="adapter", customers=20)[0]


class CvrpArm(AdapterSuite):
    checker = "cvrp"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("cvrp", tmp_path, name="adapter", customers=20)[0]


class VrptwArm(AdapterSuite):
    checker = "vrptw"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("vrptw", tmp_path, name="adapter", customers=20)[0]


class TerminalArm(AdapterSuite):
    def test_its_last_solution_is_all_and_it_says_so(self, lines):
        assert lines[0]["version"].endswith(", terminal solution only")
        assert len(lines) == 2


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
        assert lines[-1] == {"claim": "optimal"}

    def test_a_program_without_a_solution_is_called_infeasible(self, tmp_path):
        path = tmp_path / "none.mps"
        path.write_text(LARGEST.replace(" L cap", " G cap").replace("RHS cap 7", "RHS cap 70"))
        lines = run_lines(self.arm.solver, path)
        assert lines[-1] == {"claim": "infeasible"}
        assert not any("objective" in line for line in lines)

    def test_a_file_that_is_no_program_is_one_line(self, tmp_path):
        path = tmp_path / "broken.mps"
        path.write_text("ROWS\n what is this\n")
        command = command_line(self.arm, path, seed=1, horizon=1.0, threads=1)
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.splitlines()[-1].startswith(f"{path}: expected an MPS or LP file, got what")

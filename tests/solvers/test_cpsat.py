"""CP-SAT for real: programs of bounded integers, scaled decimals, and its own models."""

import subprocess
import sys

import pytest

from gapline.contract.contract import Arm
from gapline.solvers import command_line
from solvers.adapter_suites import LARGEST, MipArm, run_lines

pytestmark = pytest.mark.slow


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

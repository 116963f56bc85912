"""The Hexaly adapter against a stand-in with the same names and callbacks; the real one stops at its licence."""

import inspect
import os
import subprocess
import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from gapline.checkers import load_checker
from gapline.contract.contract import Arm
from gapline.generate import write_instances
from gapline.solvers import check_setup, command_line
from gapline.solvers.hexaly import licence_lack
from gapline.testing import AdapterSuite

pytestmark = pytest.mark.slow

STAND_INS = Path(__file__).parent / "stand_ins"


@pytest.fixture
def stand_in(monkeypatch):
    """Let child processes find the stand-in before anything that is installed."""
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(STAND_INS), *sys.path]))
    monkeypatch.syspath_prepend(str(STAND_INS))


@pytest.mark.usefixtures("stand_in")
class TestHexaly(AdapterSuite):
    """Candidates are valid; the claim is the duration of a good departure, never less than the best one's."""

    arm = Arm(name="hexaly", solver="hexaly", options={"iterations": 400})
    checker = "tdvrptw"
    tolerance = 0.02

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("tdvrptw", tmp_path, name="adapter", customers=8)[0]

    def test_claims_are_never_below_the_checkers_objective(self, instance, lines):
        assert len(lines) > 2
        for line in lines[1:]:
            checked = load_checker("tdvrptw").check(instance, line["solution"]).objective
            assert checked <= line["objective"] * (1 + 1e-12)


@pytest.mark.usefixtures("stand_in")
class TestHexalySlices(TestHexaly):
    """Tier 2: candidates get a verdict, whichever."""

    arm = Arm(name="hexaly-5", solver="hexaly", options={"slices": 5, "iterations": 400}, tier=2)
    exact = False

    def test_claims_are_never_below_the_checkers_objective(self):
        """Not of an approximation."""


@pytest.mark.usefixtures("stand_in")
def test_a_missing_licence_is_one_line_before_and_in_the_run(tmp_path, monkeypatch):
    monkeypatch.setenv("NO_LICENCE", "1")
    arm = Arm(name="h", solver="hexaly")
    said = "ERROR [function hx_create_optimizer]: Cannot open file [license.dat]."
    assert check_setup(arm).startswith("arm h: expected a licence of Hexaly, got ")
    assert check_setup(arm).endswith(said)
    (path,) = write_instances("tdvrptw", tmp_path, name="adapter", customers=3)
    command = command_line(arm, path, seed=1, horizon=1.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, f"hexaly does not start: {said}; Hint: install a licence of Hexaly\n")


def test_the_stand_in_has_nothing_that_hexaly_has_not():
    """Where Hexaly is installed: each class and method of the stand-in is there, under the same parameter names."""
    real = pytest.importorskip("hexaly.optimizer")
    spec = spec_from_file_location("stand_in", STAND_INS / "hexaly" / "optimizer.py")
    ours = module_from_spec(spec)
    spec.loader.exec_module(ours)
    for name, kind in inspect.getmembers(ours, inspect.isclass):
        if kind.__module__ != "stand_in":
            continue
        if issubclass(kind, ours.Enum):
            assert {one.name: one.value for one in kind} == {one.name: one.value for one in getattr(real, name)}
            continue
        for method, function in inspect.getmembers(kind, inspect.isfunction):
            if method.startswith("_") or (name, method) == ("HxSolution", "cost"):
                continue
            stated = inspect.signature(getattr(getattr(real, name), method)).parameters
            assert list(inspect.signature(function).parameters) == list(stated), f"{name}.{method}"


def test_hexaly_itself_is_asked_for_its_licence():
    """Where it is installed it starts, or says why not in one line."""
    pytest.importorskip("hexaly.optimizer")
    found = licence_lack()
    assert found is None or (found.startswith("expected a licence of Hexaly, got ") and "\n" not in found)

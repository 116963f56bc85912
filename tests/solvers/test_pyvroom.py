"""VROOM for real: one candidate, printed at the end, and said so on the first line."""

import pytest

from gapline.contract.contract import Arm
from gapline.generate import write_instances
from solvers.adapter_suites import TerminalArm

pytestmark = pytest.mark.slow


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

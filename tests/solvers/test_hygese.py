"""hygese for real: one candidate, printed at the end, and said so on the first line."""

import pytest

from gapline.contract.contract import Arm
from gapline.generate import write_instances
from solvers.adapter_suites import TerminalArm

pytestmark = pytest.mark.slow


class TestHygese(TerminalArm):
    arm = Arm(name="hgs", solver="hygese", options={"iterations": 1})
    checker = "cvrp"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("cvrp", tmp_path, name="adapter", customers=40)[0]

"""The exact arm of kayros for real: its bound proves what it found."""

import pytest

from gapline.contract.contract import Arm
from gapline.generate import write_instances
from gapline.testing import AdapterSuite


class TestKayrosLera(AdapterSuite):
    arm = Arm(name="exact", solver="kayros.lera", options={"iterations": 5})
    checker = "tdvrptw"
    seeded = False

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("tdvrptw", tmp_path, name="adapter", customers=8)[0]

    def test_the_bound_proves_the_last_candidate(self, lines):
        candidates = [line["objective"] for line in lines[1:] if "objective" in line]
        assert lines[-1]["bound"] == pytest.approx(min(candidates), rel=1e-9)

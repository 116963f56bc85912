"""vrp-cli for real: one candidate, printed at the end, and said so on the first line."""

import pytest

from gapline.checkers import load_checker
from gapline.contract.contract import Arm
from gapline.generate import write_instances
from solvers.adapter_suites import TerminalArm

pytestmark = pytest.mark.slow


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

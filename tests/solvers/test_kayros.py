"""kayros for real, under limits on iterations."""

from gapline.contract.contract import Arm
from solvers.adapter_suites import TdvrptwArm


class TestKayrosIls(TdvrptwArm):
    arm = Arm(name="ils", solver="kayros", options={"iterations": 30})


class TestKayrosAco(TdvrptwArm):
    arm = Arm(name="aco", solver="kayros", options={"strategy": "aco", "iterations": 2})

"""HiGHS for real on a tiny generated program, under a limit on nodes."""

from gapline.contract.contract import Arm
from solvers.adapter_suites import MipArm


class TestHighs(MipArm):
    arm = Arm(name="highs", solver="highs", options={"iterations": 20})

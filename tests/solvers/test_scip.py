"""SCIP for real on a tiny generated program, under a limit on nodes."""

from gapline.contract.contract import Arm
from solvers.adapter_suites import MipArm


class TestScip(MipArm):
    arm = Arm(name="scip", solver="scip", options={"iterations": 20})

"""OR-Tools routing for real, on its own problems and on a slice of the day."""

from gapline.contract.contract import Arm
from solvers.adapter_suites import CvrpArm, TdvrptwArm, VrptwArm


class TestOrtoolsSlice(TdvrptwArm):
    arm = Arm(name="ortools mid", solver="ortools", options={"slice": "mid", "iterations": 10}, tier=2)
    exact = False


class TestOrtoolsCvrp(CvrpArm):
    arm = Arm(name="ortools", solver="ortools", options={"iterations": 10})


class TestOrtoolsVrptw(VrptwArm):
    arm = Arm(name="ortools", solver="ortools", options={"metaheuristic": "tabu_search", "iterations": 10})

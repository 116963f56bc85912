"""PyVRP for real, on its own problems and on a slice of the day."""

from gapline.contract.contract import Arm
from gapline.generate import write_instances
from solvers.adapter_suites import CvrpArm, TdvrptwArm, VrptwArm


class TestPyvrpSlice(TdvrptwArm):
    arm = Arm(name="pyvrp mean", solver="pyvrp", options={"slice": "mean", "iterations": 50}, tier=2)
    exact = False


class TestPyvrpCvrp(CvrpArm):
    arm = Arm(name="pyvrp", solver="pyvrp", options={"iterations": 50})


class TestPyvrpVrptw(VrptwArm):
    arm = Arm(name="pyvrp", solver="pyvrp", options={"iterations": 50})


def test_a_slice_of_the_fastest_hour_fails_on_the_true_roads(tmp_path):
    """Nothing is staged: a plan for roads as fast as they ever get is late on the real ones."""
    from gapline.checkers import load_checker

    (path,) = write_instances("tdvrptw", tmp_path, name="adapter", customers=20)
    suite = TestPyvrpSlice()
    suite.arm = Arm(name="pyvrp min", solver="pyvrp", options={"slice": "min", "iterations": 50}, tier=2)
    verdicts = [load_checker("tdvrptw").check(path, line["solution"]) for line in suite.run_once(path)[1:]]
    assert verdicts
    assert {verdict.kind for verdict in verdicts} == {"time window violated"}

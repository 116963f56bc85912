"""Each adapter for real: child processes on tiny generated instances, under limits on iterations."""

import os
import subprocess
import sys

import pytest

from gapline.generate import write_instances
from gapline.model.contract import Arm
from gapline.solvers import catalogue, check_setup, command_line
from gapline.testing import AdapterSuite


class TdvrptwArm(AdapterSuite):
    checker = "tdvrptw"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("tdvrptw", tmp_path, name="adapter", customers=20)[0]


class TestKayrosIls(TdvrptwArm):
    arm = Arm(name="ils", solver="kayros", options={"iterations": 30})


class TestKayrosAco(TdvrptwArm):
    arm = Arm(name="aco", solver="kayros", options={"strategy": "aco", "iterations": 2})


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


class TestPyvrpSlice(TdvrptwArm):
    arm = Arm(name="pyvrp mean", solver="pyvrp", options={"slice": "mean", "iterations": 50}, tier=2)
    exact = False


class TestOrtoolsSlice(TdvrptwArm):
    arm = Arm(name="ortools mid", solver="ortools", options={"slice": "mid", "iterations": 10}, tier=2)
    exact = False


class TestPyvrpCvrp(AdapterSuite):
    arm = Arm(name="pyvrp", solver="pyvrp", options={"iterations": 50})
    checker = "cvrp"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("cvrp", tmp_path, name="adapter", customers=20)[0]


class TestOrtoolsCvrp(TestPyvrpCvrp):
    arm = Arm(name="ortools", solver="ortools", options={"iterations": 10})


class TestPyvrpVrptw(AdapterSuite):
    arm = Arm(name="pyvrp", solver="pyvrp", options={"iterations": 50})
    checker = "vrptw"

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("vrptw", tmp_path, name="adapter", customers=20)[0]


class TestOrtoolsVrptw(TestPyvrpVrptw):
    arm = Arm(name="ortools", solver="ortools", options={"metaheuristic": "tabu_search", "iterations": 10})


class TestCommand(AdapterSuite):
    """A stranger's solver, from the protocol's docstring alone: singleton routes, then pairs in a seeded order."""

    SOURCE = """
import json, os, random, sys
size = int(open(sys.argv[1]).read().split("DIMENSION : ")[1].split()[0]) - 1
assert os.environ["GAPLINE_SEED"] == sys.argv[2]
order = list(range(1, size + 1))
random.Random(int(sys.argv[2])).shuffle(order)
print(json.dumps({"solver": "singles", "version": "0.1"}), flush=True)
print(json.dumps({"objective": 1.0, "solution": [[c] for c in order]}), flush=True)
"""
    checker = "cvrp"
    exact = False

    @pytest.fixture
    def instance(self, tmp_path):
        return write_instances("cvrp", tmp_path, name="adapter", customers=5)[0]

    @pytest.fixture(autouse=True)
    def _program(self, tmp_path):
        path = tmp_path / "singles.py"
        path.write_text(self.SOURCE)
        TestCommand.arm = Arm(
            name="singles", solver="command", command=[sys.executable, str(path), "{instance}", "{seed}"]
        )


def test_a_slice_of_the_fastest_hour_fails_on_the_true_roads(tmp_path):
    """Nothing is staged: a plan for roads as fast as they ever get is late on the real ones."""
    from gapline.check import load_checker

    (path,) = write_instances("tdvrptw", tmp_path, name="adapter", customers=20)
    suite = TestPyvrpSlice()
    suite.arm = Arm(name="pyvrp min", solver="pyvrp", options={"slice": "min", "iterations": 50}, tier=2)
    verdicts = [load_checker("tdvrptw").check(path, line["solution"]) for line in suite.run_once(path)[1:]]
    assert verdicts
    assert {verdict.kind for verdict in verdicts} == {"time window violated"}


def test_command_lines_are_lists_with_the_run_filled_in():
    arm = Arm(name="mine", solver="command", command=["mine", "--in={instance}", "{seed}", "{horizon}", "{threads}"])
    assert command_line(arm, "a {seed} b.vrp", seed=7, horizon=2.5, threads=4) == [
        "mine",
        "--in=a {seed} b.vrp",
        "7",
        "2.5",
        "4",
    ]


@pytest.mark.parametrize(
    ("arm", "message"),
    [
        (Arm(name="a", solver="command", command=["no-such-program"]), "expected a program, got 'no-such-program'"),
        (Arm(name="a", solver="kayros", options={"stategy": "ils"}), "did you mean 'strategy'"),
        (Arm(name="a", solver="pyvrp", options={"iterations": "many"}), "options.iterations: expected int, got 'many'"),
        (Arm(name="a", solver="pyvrp", options={"iterations": True}), "options.iterations: expected int, got True"),
        (Arm(name="a", solver="pyvrp", options={"slice": "noon"}), "expected one of min, mean, mid, max, got 'noon'"),
        (Arm(name="a", solver="kayros", options={"strategy": "acco"}), "did you mean 'aco'"),
        (Arm(name="a", solver="ortools", options={"iterations": 0}), "options.iterations: expected at least 1, got 0"),
    ],
)
def test_setup_names_what_is_wrong_in_one_line(arm, message):
    found = check_setup(arm)
    assert message in found
    assert "\n" not in found


def test_setup_names_the_extra_of_a_missing_package(monkeypatch):
    monkeypatch.setitem(
        catalogue.ADAPTERS, "kayros", catalogue.Adapter("gapline.solvers.kayros", "no-such-package", {}, "routing")
    )
    expected = "arm a: no-such-package is not installed; pip install 'gapline[routing]'"
    assert check_setup(Arm(name="a", solver="kayros")) == expected


@pytest.mark.parametrize(("solver", "package"), [("kayros", "kayros"), ("pyvrp", "pyvrp"), ("ortools", "ortools")])
def test_a_missing_package_is_one_line_and_exit_code_3(tmp_path, solver, package):
    (path,) = write_instances("cvrp", tmp_path, name="adapter", customers=3)
    (tmp_path / f"{package}.py").write_text("raise ImportError('blocked')")
    command = command_line(Arm(name="a", solver=solver), path, seed=1, horizon=1.0, threads=1)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == 3
    assert done.stderr == f"{package} is not installed; Hint: pip install 'gapline[routing]'\n"


@pytest.mark.parametrize("solver", ["kayros", "pyvrp", "ortools"])
def test_a_missing_instance_is_one_line(tmp_path, solver):
    missing = str(tmp_path / "none.vrp")
    command = command_line(Arm(name="a", solver=solver), missing, seed=1, horizon=1.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"instance: expected a file, got {missing!r}\n"


def test_an_adapter_loads_nothing_that_its_solver_does_not_need():
    """Start-up is charged to the solver."""
    heavy = ("pydantic", "polars", "numba", "pyvrp")
    code = f"import sys, gapline.solvers.pyvrp; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

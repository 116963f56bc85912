"""The task of an adapter, its clock, its lines, and how it ends when something is missing."""

import json
import os
import subprocess
import sys
import time

import pytest

from gapline.contract.contract import Arm
from gapline.errors import UsageError
from gapline.generate import write_instances
from gapline.solvers import command_line
from gapline.solvers.protocol import Task, announce, emit, read_task, seconds_since_start
from patience import PATIENCE


@pytest.fixture
def path(tmp_path):
    return write_instances("cvrp", tmp_path, name="task", customers=4)[0]


def test_the_task_comes_from_the_command_line(path):
    arm = Arm(name="a", solver="pyvrp", options={"slice": "max", "iterations": 3})
    command = command_line(arm, path, seed=5, horizon=2.5, threads=2)
    assert read_task(command[command.index("gapline.solvers.pyvrp") + 1 :]) == Task(
        path, 5, 2.5, 2, {"slice": "max", "iterations": 3}
    )


def test_or_from_the_environment(path, monkeypatch):
    for name, value in {"INSTANCE": path, "SEED": 7, "HORIZON": 1.5, "THREADS": 4}.items():
        monkeypatch.setenv(f"GAPLINE_{name}", str(value))
    assert read_task([]) == Task(path, 7, 1.5, 4, {})


def test_an_instance_that_is_not_there_is_named(tmp_path):
    with pytest.raises(UsageError, match="expected a file, got"):
        read_task([f"--instance={tmp_path / 'none'}"])


def test_lines_are_json_with_what_was_given(capsys):
    announce("mine", "1.0")
    emit(12.5, [[1], [2, 3]])
    emit(10, {"any": None}, time=0.25, bound=8.0)
    assert [json.loads(line) for line in capsys.readouterr().out.splitlines()] == [
        {"solver": "mine", "version": "1.0"},
        {"objective": 12.5, "solution": [[1], [2, 3]]},
        {"objective": 10, "solution": {"any": None}, "time": 0.25, "bound": 8.0},
    ]


def test_the_clock_runs_from_the_start_of_the_process():
    """This process has lived for longer than this test, and so much less is left."""
    before = seconds_since_start()
    assert before > 0
    task = Task(None, seed=1, horizon=before + 1000.0)
    assert 0 < task.time_left() <= 1000.0
    assert time.monotonic() < task.deadline() <= time.monotonic() + 1000.0
    over = Task(None, seed=1, horizon=before / 2)
    assert over.time_left() == 0.01


@pytest.mark.parametrize("value", [0, -1, 1.5, "10", True])
def test_iterations_are_positive_whole_numbers(value):
    with pytest.raises(UsageError, match=r"options\.iterations"):
        Task(None, 1, 1.0, options={"iterations": value}).iterations()


@pytest.mark.parametrize(("solver", "problem"), [("kayros", "tdvrptw"), ("pyvrp", "vrptw"), ("ortools", "cvrp")])
def test_a_horizon_that_is_over_before_the_search_ends_the_run(tmp_path, solver, problem):
    (instance,) = write_instances(problem, tmp_path, name="over", customers=8)
    command = command_line(Arm(name="a", solver=solver), instance, seed=1, horizon=0.001, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[0])["solver"] == solver


def test_a_host_that_goes_away_ends_the_solver(tmp_path):
    """No traceback, no endless search: the first line that nobody reads is the last."""
    code = """
import sys
from gapline.solvers.protocol import emit, run_adapter
def solve(task):
    while True:
        emit(1.0, "x" * 1000)
run_adapter(solve)
"""
    (tmp_path / "i").touch()
    with subprocess.Popen(
        [sys.executable, "-c", code, f"--instance={tmp_path / 'i'}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as child:
        assert child.stdout.readline().startswith(b'{"objective":1.0')
        child.stdout.close()
        assert child.wait(timeout=PATIENCE) == 1
        assert child.stderr.read() == b""


@pytest.mark.parametrize("solver", ["kayros", "pyvrp", "ortools"])
def test_a_missing_instance_is_one_line(tmp_path, solver):
    missing = str(tmp_path / "none.vrp")
    command = command_line(Arm(name="a", solver=solver), missing, seed=1, horizon=1.0, threads=1)
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == f"instance: expected a file, got {missing!r}\n"


@pytest.mark.parametrize(
    ("solver", "module", "package", "extra"),
    [
        ("kayros", "kayros", "kayros", "routing"),
        ("kayros.lera", "kayros", "kayros", "routing"),
        ("pyvrp", "pyvrp", "pyvrp", "routing"),
        ("ortools", "ortools", "ortools", "routing"),
        ("vrp-cli", "vrp_cli", "vrp-cli", "solvers"),
        ("hygese", "hygese", "hygese", "solvers"),
        ("pyvroom", "vroom", "pyvroom", "solvers"),
        ("highs", "highspy", "highspy", "mip"),
        ("scip", "pyscipopt", "pyscipopt", "mip"),
        ("cpsat", "ortools", "ortools", "mip"),
    ],
)
def test_a_missing_package_is_one_line_and_exit_code_3(tmp_path, solver, module, package, extra):
    (path,) = write_instances("cvrp", tmp_path, name="adapter", customers=3)
    (tmp_path / f"{module}.py").write_text("raise ImportError('blocked')")
    command = command_line(Arm(name="a", solver=solver), path, seed=1, horizon=1.0, threads=1)
    paths = os.pathsep.join([str(tmp_path), *sys.path])
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}, check=False)
    assert done.returncode == 3
    assert done.stderr == f"{package} is not installed; Hint: pip install 'gapline[{extra}]'\n"


def test_an_adapter_loads_nothing_that_its_solver_does_not_need():
    """Start-up is charged to the solver."""
    heavy = ("pydantic", "polars", "numba", "pyvrp")
    code = f"import sys, gapline.solvers.pyvrp; print([name for name in {heavy} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"

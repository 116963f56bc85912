"""Programs that print a foreign log: read while it grows, stamped by the host, ended as the program ended."""

import json
import os
import signal
import subprocess
import sys

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.contract.contract import Arm
from gapline.generate import write_instances
from gapline.solvers import check_setup, command_line

# Waits for a line between two of its own: what comes after it can only be printed when what came before was read.
TALKER = """
import sys
print("a.vrp;1;120;0.1", flush=True)
print("a.vrp;1;110.5;0.2", flush=True)
with open(sys.argv[1]) as gate:
    gate.readline()
print("a.vrp;1;100;0.9", flush=True)
sys.exit(int(sys.argv[2]))
"""


def talker(tmp_path, *arguments, source=TALKER, log_format="hgs"):
    (tmp_path / "talk.py").write_text(source)
    command = [sys.executable, str(tmp_path / "talk.py"), *arguments]
    return Arm(name="talker", solver="command", command=command, format=log_format)


def test_candidates_are_printed_while_the_program_runs(tmp_path):
    """The gate opens only after two candidates were printed: an adapter that waited for the end would wait forever."""
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    arm = talker(tmp_path, str(gate), "0")
    child = subprocess.Popen(
        command_line(arm, "a.vrp", seed=1, horizon=60.0, threads=1), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    first = [json.loads(child.stdout.readline()) for _ in range(3)]
    gate.write_text("go\n")
    rest, errors = child.communicate()
    assert child.returncode == 0
    assert first == [
        {"solver": first[0]["solver"], "version": "unknown, log read as hgs"},
        {"objective": 120.0, "solution": None, "time": 0.1},
        {"objective": 110.5, "solution": None, "time": 0.2},
    ]
    assert [json.loads(line) for line in rest.splitlines()] == [{"objective": 100.0, "solution": None, "time": 0.9}]
    # The log itself is kept.
    assert errors.decode().splitlines() == ["a.vrp;1;120;0.1", "a.vrp;1;110.5;0.2", "a.vrp;1;100;0.9"]


def test_what_the_log_proves_is_printed_at_its_end(tmp_path):
    source = r"""print("x = 1;\n_objective = 4;\n% time elapsed: 0.10 s\n----------\n==========")"""
    done = run_talker(tmp_path, source, "minizinc")
    assert [json.loads(line) for line in done.stdout.splitlines()[1:]] == [
        {"objective": 4.0, "solution": None, "time": 0.1},
        {"claim": "optimal"},
    ]


def run_talker(tmp_path, source, log_format="hgs"):
    arm = talker(tmp_path, source=source, log_format=log_format)
    command = command_line(arm, "a.vrp", seed=1, horizon=60.0, threads=1)
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.slow
def test_it_ends_as_the_program_ends(tmp_path):
    done = run_talker(tmp_path, "print('a.vrp;1;9;0.5')\nraise SystemExit(7)")
    assert (done.returncode, done.stdout.count('"objective"')) == (7, 1)
    done = run_talker(tmp_path, "import os\nprint('a.vrp;1;9;0.5', flush=True)\nos.kill(os.getpid(), 9)")
    assert (done.returncode, done.stdout.count('"objective"')) == (-signal.SIGKILL, 1)


def test_a_log_of_another_kind_is_one_line(tmp_path):
    done = run_talker(tmp_path, "print('hello')")
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert "stdout" in done.stderr.splitlines()[-1]


@pytest.mark.slow
def test_bounds_of_a_log_are_printed(tmp_path):
    """CP-SAT's own log, made by CP-SAT."""
    source = """
from ortools.sat.python import cp_model
model = cp_model.CpModel()
xs = [model.new_bool_var(f"x{i}") for i in range(30)]
for i in range(28):
    model.add(xs[i] + xs[i + 1] + xs[i + 2] >= 1)
model.minimize(sum((i % 7 + 3) * x for i, x in enumerate(xs)))
solver = cp_model.CpSolver()
solver.parameters.log_search_progress = True
solver.parameters.num_workers = 1
solver.solve(model)
"""
    done = run_talker(tmp_path, source, "cpsat")
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    objectives = [line["objective"] for line in lines if "objective" in line]
    bounds = [line["bound"] for line in lines if "bound" in line]
    assert objectives
    assert max(bounds) <= min(objectives)


def test_setup_names_an_unknown_format(tmp_path):
    assert "did you mean 'hgs'?" in check_setup(talker(tmp_path, log_format="hgss"))
    assert check_setup(talker(tmp_path)) is None


def test_a_study_of_a_foreign_log_is_run_and_scored(tmp_path, capsys):
    (path,) = write_instances("cvrp", tmp_path / "instances", name="a", customers=3)
    (tmp_path / "talk.py").write_text("for z in (120, 100): print(f'a.vrp;1;{z};0.1')")
    (tmp_path / "study.toml").write_text(f"""
seeds = [1]
[study]
name = "foreign"
[objective]
validation = "solver"
[time]
horizon = 60.0
[[instances]]
path = "instances/{path.name}"
[[arms]]
name = "talker"
solver = "command"
command = [{json.dumps(sys.executable)}, "talk.py"]
format = "hgs"
""")
    assert run(["run", str(tmp_path)]) == 0
    capsys.readouterr()
    assert run(["score", str(tmp_path), "--policy", "analysis", "--json"]) == 0
    (arm,) = json.loads(capsys.readouterr().out)["arms"]
    assert (arm["runs"], arm["empty"], arm["final_gap"]) == (1, 0, 0)
    assert gl.open(tmp_path / "campaign").objective.tolist() == [120, 100]


@pytest.mark.parametrize("solver", ["kayros", "highs"])
def test_a_format_beside_an_adapter_is_a_mistake(tmp_path, capsys, solver):
    (tmp_path / "i").write_text("")
    (tmp_path / "study.toml").write_text(f"""
seeds = [1]
[study]
name = "s"
[objective]
validation = "solver"
[time]
horizon = 1.0
[[instances]]
path = "i"
[[arms]]
name = "a"
solver = "{solver}"
format = "hgs"
""")
    assert run(["doctor", str(tmp_path)]) == 2
    assert f"arms[0].format: expected nothing beside solver = '{solver}', got 'hgs'" in capsys.readouterr().err

"""Which command line runs an arm, what it lacks, and solvers that other packages bring."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import gapline
from gapline.contract.contract import Arm
from gapline.contract.study_file import load_contract
from gapline.errors import ContractError
from gapline.generate import write_instances
from gapline.journal.register import read_register
from gapline.run.resume import study_status
from gapline.solvers import catalogue, check_setup, command_line
from gapline.testing import AdapterSuite


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


def test_command_lines_are_lists_with_the_run_filled_in():
    arm = Arm(name="mine", solver="command", command=["mine", "--in={instance}", "{seed}", "{horizon}", "{threads}"])
    assert command_line(arm, "a {seed} b.vrp", seed=7, horizon=2.5, threads=4) == [
        "mine",
        "--in=a {seed} b.vrp",
        "7",
        "2.5",
        "4",
    ]


@pytest.mark.slow
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
        (Arm(name="a", solver="vrp-cli", options={"slices": 7}), "options.slices: expected one of 1, 5, 24, 96, got 7"),
        (Arm(name="a", solver="pyvroom", options={"exploration": 6}), "expected one of 0, 1, 2, 3, 4, 5, got 6"),
        (Arm(name="a", solver="hygese", options={"slices": 1}), "expected the options iterations, got 'slices'"),
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


MODULE = """
from importlib.metadata import version

from gapline.solvers import Adapter, Option
from gapline.solvers.protocol import Task, announce, emit, run_adapter

ADAPTER = Adapter("gapline_countdown", "gapline-countdown", {"steps": Option(least=1)})


def solve(task: Task) -> None:
    announce("countdown", version("gapline-countdown"))
    for step in range(task.option("steps", 2), 0, -1):
        emit(float(step), [task.seed, step])


if __name__ == "__main__":
    run_adapter(solve)
"""

POINTS = """
[gapline.solvers]
countdown = gapline_countdown:ADAPTER
broken = gapline_countdown_absent:ADAPTER
strange = gapline_countdown:MODULE
pyvrp = gapline_countdown:ADAPTER
"""

CONTRACT = """
seeds = [1, 2]

[study]
name = "counted"

[objective]
validation = "solver"

[time]
horizon = 60.0

[[instances]]
path = "i.txt"

[[arms]]
name = "three"
solver = "{solver}"
options = {{ {options} }}
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """The folder into which pip installed a wheel of the package."""
    pytest.importorskip("pip")
    folder = tmp_path_factory.mktemp("package")
    wheel = folder / "gapline_countdown-2.5-py3-none-any.whl"
    info = "gapline_countdown-2.5.dist-info"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr(
            "gapline_countdown.py", MODULE.replace("run_adapter(solve)\n", "run_adapter(solve)\nMODULE = 1\n")
        )
        archive.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\nName: gapline-countdown\nVersion: 2.5\n")
        archive.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr(f"{info}/entry_points.txt", POINTS)
        archive.writestr(f"{info}/RECORD", "")
    target = folder / "site"
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*pip, str(wheel)], check=True, env=os.environ | {"PIP_DISABLE_PIP_VERSION_CHECK": "1"})
    return target


@pytest.fixture
def command(installed):
    """Run a command of gapline where that package is installed."""

    def run(*arguments: object) -> "subprocess.CompletedProcess[str]":
        paths = os.pathsep.join([str(installed), *filter(None, map(os.path.abspath, filter(None, sys.path)))])
        code = [sys.executable, "-c", "from gapline.cli import main; main()", *map(str, arguments)]
        return subprocess.run(code, capture_output=True, text=True, check=False, env=os.environ | {"PYTHONPATH": paths})

    return run


def write_study(folder: Path, *, solver: str = "countdown", options: str = "steps = 3") -> Path:
    (folder / "i.txt").write_text("1")
    (folder / "study.toml").write_text(CONTRACT.format(solver=solver, options=options))
    return folder


@pytest.mark.slow
def test_a_study_runs_with_it_under_the_name_that_the_package_gave_it(tmp_path, command):
    study = write_study(tmp_path)
    assert command("doctor", study).returncode == 0
    done = command("run", study)
    assert done.returncode == 0, done.stderr
    runs = gapline.open(study / "campaign").runs
    assert runs.select("solver", "solver_version", "count").rows() == [("countdown", "2.5", 3)] * 2
    assert gapline.open(study / "campaign").objective.tolist() == [3.0, 2.0, 1.0] * 2
    assert read_register(study).first.solvers == {"three": "gapline-countdown 2.5"}
    # In this process it is not installed: results are read all the same.
    assert study_status(study).cells["done"] == 2


@pytest.mark.slow
def test_its_name_is_proposed_and_its_options_are_checked_before_anything_runs(tmp_path, command):
    typo = command("run", write_study(tmp_path, solver="countdwn"))
    assert typo.returncode == 2
    assert "countdown, strange, command, got 'countdwn'; did you mean 'countdown'?" in typo.stderr
    wrong = command("run", write_study(tmp_path, options="stps = 3"))
    assert wrong.returncode == 3
    assert "arm three: expected the options steps, got 'stps'; did you mean 'steps'?" in wrong.stderr
    assert not (tmp_path / "journal").exists()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("solver", "message"),
    [
        ("broken", "gapline_countdown_absent:ADAPTER cannot be loaded: ModuleNotFoundError"),
        ("strange", "expected gapline_countdown:MODULE to be an Adapter, got int"),
    ],
)
def test_an_entry_point_that_is_not_an_adapter_is_one_line(tmp_path, command, solver, message):
    done = command("run", write_study(tmp_path, solver=solver))
    assert done.returncode == 3
    assert f"arm three: solver {solver}: {message}" in done.stderr


def test_a_solver_of_ours_cannot_be_taken_over(tmp_path, command):
    """The package also calls itself `pyvrp`; ours stays, which does not know the option."""
    done = command("run", write_study(tmp_path, solver="pyvrp"))
    assert "expected the options problem, slice, iterations, got 'steps'" in done.stderr


def test_where_it_is_not_installed_a_runner_says_so_and_a_reader_does_not_mind(tmp_path):
    study = write_study(tmp_path)
    with pytest.raises(ContractError, match="got 'countdown'"):
        load_contract(study, files=True)
    assert load_contract(study).arms[0].solver == "countdown"

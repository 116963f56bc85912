"""A directory full of files named like modules, as the study and as the current directory: ours load none of them."""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from gapline.generate import write_instances
from patience import PATIENCE

pytestmark = pytest.mark.slow

SOURCE = str(Path(gapline.__file__).parents[1])
# Whoever imports this leaves a trace and dies.
TRAP = (
    "import os; open(os.path.join(os.path.dirname(__file__), 'imported'), 'a').write(__name__ + '\\n'); os._exit(7)\n"
)
PACKAGES = ("click", "cloudpickle", "dask", "distributed", "gapline", "llvmlite", "msgspec", "numba", "numpy", "polars")
PACKAGES += ("psutil", "pydantic", "pyvrp", "rfc8785", "rich", "rich_click", "submitit", "tornado", "vrplib", "yaml")
PACKAGES += ("sitecustomize", "typing_extensions", "usercustomize", "zstandard")
CONTRACT = """
seeds = [1, 2]

[study]
name = "trapped"

[objective]
checker = "{checker}"

[time]
horizon = 60.0

[[instances]]
path = "instances/{instance}"

[[arms]]
name = "pyvrp"
solver = "pyvrp"
options = {{ iterations = 3 }}
"""
JUDGE = "import numpy\n__version__ = '1'\ndef check(instance, solution):\n    return float(numpy.float64(7.5))\n"
PROGRAM = """import json
print(json.dumps({"checker": "c", "version": "1"}), flush=True)
while True:
    input()
    print(json.dumps({"valid": True, "objective": 7.5}), flush=True)
"""


def set_traps(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    for name in (*sys.stdlib_module_names, *PACKAGES):
        if not name.startswith("_"):
            (folder / f"{name}.py").write_text(TRAP)
    return folder


@pytest.fixture
def study(tmp_path) -> Path:
    pytest.importorskip("pyvrp")
    path = write_instances("cvrp", tmp_path / "study" / "instances", name="t", customers=6)[0]
    (tmp_path / "study" / "study.toml").write_text(CONTRACT.format(checker="cvrp", instance=path.name))
    (tmp_path / "checker.py").write_text(PROGRAM)
    (tmp_path / "study" / "judge.py").write_text(JUDGE)
    return set_traps(tmp_path / "study")


@pytest.fixture(params=["in the study", "elsewhere"])
def cwd(request, study, tmp_path) -> Path:
    return study if request.param == "in the study" else set_traps(tmp_path / "elsewhere")


def gapline_says(*words: str, cwd: Path) -> "subprocess.CompletedProcess[str]":
    """Run a command line as `gapline` does: its own folder is on Python's path, the current directory is not."""
    command = [sys.executable, "-P", "-c", "from gapline.cli import main; main()", *words]
    environment = os.environ | {"PYTHONPATH": SOURCE}
    return subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False, env=environment)


def assert_sound(done: "subprocess.CompletedProcess[str]", study: Path, cwd: Path) -> None:
    for folder in (study, cwd):
        assert not (folder / "imported").exists(), (folder / "imported").read_text()
    assert done.returncode == 0, done.stderr
    campaign = gapline.open(study / "campaign")
    assert set(campaign.runs["status"]) == {"finished"}
    assert set(campaign.verdict.tolist()) == {1}


def test_a_run_on_this_machine(study, cwd):
    assert_sound(gapline_says("run", str(study), "--json", cwd=cwd), study, cwd)
    assert_sound(gapline_says("check", str(study), "--again", cwd=cwd), study, cwd)
    assert_sound(gapline_says("doctor", str(study), cwd=cwd), study, cwd)


@pytest.mark.parametrize("checker", ["python:judge:check", f"command:{sys.executable} ../checker.py"])
def test_checkers_that_a_study_brings(study, cwd, checker):
    """The program lies elsewhere: of what lies beside a script Python itself takes the first look."""
    contract = study / "study.toml"
    contract.write_text(contract.read_text().replace('"cvrp"', json.dumps(checker)).replace("[1, 2]", "[1]"))
    assert_sound(gapline_says("run", str(study), "-j", "1", cwd=cwd), study, cwd)


def test_jobs_of_submitit(study, cwd):
    pytest.importorskip("submitit")
    assert_sound(gapline_says("run", str(study), "--on", "submitit:local:jobs=2", cwd=cwd), study, cwd)


def test_jobs_of_slurm(study, cwd, slurm):  # noqa: ARG001  it has to run
    pytest.importorskip("submitit")
    assert_sound(gapline_says("run", str(study), "--on", "slurm:partition=short", cwd=cwd), study, cwd)


@contextlib.contextmanager
def dask(*words: str, cwd: Path):
    """A process of Dask, started as docs/more-than-one-machine.md says."""
    environment = os.environ | {"PYTHONPATH": SOURCE, "PYTHONWARNINGS": "ignore"}
    command = [sys.executable, "-P", "-m", "dask", *words]
    process = subprocess.Popen(
        command, cwd=cwd, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True
    )
    try:
        yield
    finally:
        process.terminate()
        process.wait(timeout=PATIENCE)


def test_workers_of_dask_with_a_nanny(study, tmp_path, eventually):
    pytest.importorskip("distributed")
    cwd = study
    file = tmp_path / "scheduler.json"
    options = ["--host", "127.0.0.1", "--port", "0", "--no-dashboard", "--scheduler-file", str(file)]
    worker = ["--nthreads", "1", "--resources", "solver=1", "--no-dashboard", "--local-directory", str(tmp_path / "d")]
    with dask("scheduler", *options, cwd=cwd):
        eventually(lambda: file.exists() and bool(file.read_text().strip()))
        address = json.loads(file.read_text())["address"]
        with dask("worker", address, *worker, cwd=cwd):
            eventually(lambda: gapline_says("run", str(study), "--on", f"dask:{address}", cwd=cwd).returncode == 0)
            assert_sound(gapline_says("run", str(study), "--on", f"dask:{address}", cwd=cwd), study, cwd)


def test_a_program_in_a_job_still_finds_the_files_beside_it(study, tmp_path):
    """What keeps the study off our path is not handed on to programs of the study."""
    pytest.importorskip("submitit")
    for path in study.glob("*.py"):
        path.unlink()
    (study / "solver.py").write_text("import beside\nprint('{\"objective\": %r}' % beside.PRICE)\n")
    (study / "beside.py").write_text("PRICE = 7.0\n")
    contract = study / "study.toml"
    text = contract.read_text().replace('checker = "cvrp"', 'validation = "solver"').partition("[[arms]]")[0]
    arm = f'[[arms]]\nname = "p"\nsolver = "command"\ncommand = ["{sys.executable}", "solver.py"]\n'
    contract.write_text(text + arm)
    done = gapline_says("run", str(study), "--on", "submitit:local:jobs=2", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert gapline.open(study / "campaign").objective.tolist() == [7.0, 7.0]

"""Code of a study runs in `run` and `check` alone: every other command reads what is there and starts nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from cli.two_arms import write_study
from gapline.cli.app import COMMANDS
from live_server import serving

pytestmark = pytest.mark.slow

SOURCE = str(Path(gapline.__file__).parents[1])
MARK = """import pathlib
place = pathlib.Path(__file__).parent / "ran"
place.mkdir(exist_ok=True)
(place / pathlib.Path(__file__).name).write_text("it ran")
"""
MODULE = (
    MARK
    + """
def check(instance, solution):
    return 1.0

def kernel(z, reference):
    return z - reference

kernel.before = 1.0
"""
)
# Names of modules that gapline and its libraries import: one that lies in a study is not to be found in their place.
TAKEN = ("random", "types", "queue", "numpy", "polars", "rich", "gapline", "kayros", "highspy", "sitecustomize", "site")
CONTRACT = """seeds = [0, 1]
[study]
name = "theirs"
[objective]
checker = "{checker}"
[time]
horizon = 20
[reference]
snapshot = "references.json"
policy = "analysis"
[score]
kernel = ["squeezed"]
statistics = ["python:own:kernel"]
[[instances]]
path = "instances/small-0.vrp.json"
[[arms]]
name = "mine"
solver = "command"
command = ["./solver.py"]
[[arms]]
name = "theirs"
solver = "command"
command = ["{python}", "solver.py"]
"""
CALLS = [
    ["status", "."],
    ["doctor", "."],
    ["export", ".", "-o", "out/x.csv"],
    ["merge", ".", "-o", "out/merged"],
    ["import", "traces.csv", "-o", "out/imported"],
    ["score", "."],
    ["curve", "."],
    ["plan", "."],
    ["analyse", ".", "--draws", "20"],
    ["compare", ".:mine", ".:theirs"],
    ["report", ".", "-o", "out/report", "--format", "svg"],
    ["paper", ".", "-o", "out/paper", "--format", "svg"],
    ["snapshot", "freeze", "campaign:campaign", "--name", "n", "-o", "out/n.json"],
    ["snapshot", "fold", "references.json", ".", "--name", "n", "-o", "out/m.json", "--validation", "solver"],
    ["snapshot", "show", "references.json"],
    ["snapshot", "log", "references.json"],
    ["snapshot", "page", "references.json", "-o", "out/chain.html"],
    ["scale", "0.05"],
    ["watch", ".", "--once"],
    ["verify", "."],
    ["pack", ".", "-o", "out/p.zip", "--keep-hosts"],
    ["replicate", "out/p.zip", "-o", "out/again", "--plan"],
    ["demo", "."],
    ["init", "."],
    ["generate", "cvrp", "--n", "5", "-o", "instances"],
]


@pytest.fixture(params=["python:own:check", "command:./checker.py"])
def study(request, tmp_path):
    folder = tmp_path / "study"
    write_study(folder)
    contract = CONTRACT.format(checker=request.param, python=sys.executable)
    (folder / "study.toml").write_text(contract, encoding="utf-8")
    (folder / "instances").mkdir()
    (folder / "instances" / "small-0.vrp.json").write_text("{}")
    (folder / "own.py").write_text(MODULE)
    hello = 'print(\'{"checker": "c", "version": "1"}\', flush=True)\ninput()\n'
    for name, rest in (("solver.py", ""), ("checker.py", hello)):
        (folder / name).write_text(f"#!{sys.executable}\n{MARK}{rest}")
        (folder / name).chmod(0o755)
    for name in TAKEN:
        (folder / f"{name}.py").write_text(MARK)
    (folder / "out").mkdir()
    return folder


def says(*calls, cwd):
    """Run command lines from within the study, as `gapline` does: the current directory is not on Python's path."""
    code = "import json, sys; from gapline.cli.app import run; print([run(one) for one in json.loads(sys.argv[1])])"
    command = [sys.executable, "-P", "-c", code, json.dumps(calls)]
    environment = os.environ | {"PYTHONPATH": SOURCE}
    done = subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=True)
    return json.loads(done.stdout.splitlines()[-1]), done


def test_every_command_that_runs_nothing_is_among_the_calls():
    # `serve` goes on until it is ended: it has a test of its own.
    assert {words[0] for words in CALLS} == set(COMMANDS) - {"run", "check", "serve"}


def test_nothing_of_a_study_runs_because_it_is_looked_at(study):
    codes, done = says(*CALLS, cwd=study)
    assert "internal error" not in done.stderr
    assert sorted(path.name for path in study.rglob("ran/*")) == []
    # They did look: only what would write over the study is refused.
    assert [words[0] for words, code in zip(CALLS, codes, strict=True) if code == 2] == ["demo", "init"]
    assert "missing: " not in done.stdout


def test_nothing_of_a_study_runs_because_it_is_served(study, monkeypatch):
    monkeypatch.chdir(study)
    with serving(study) as served:
        for path in ("/", "/api/state", "/api/studies", "/api/curves", "/api/runs", "/report.html"):
            assert served.get(path).status in (200, 409), path
    assert sorted(path.name for path in study.rglob("ran/*")) == []


def test_the_mark_would_be_seen(study):
    for name in TAKEN:
        (study / f"{name}.py").unlink()
    says(["run", ".", "-j", "1"], cwd=study)
    checker = "own.py" if "own:check" in (study / "study.toml").read_text() else "checker.py"
    assert {path.name for path in study.rglob("ran/*")} == {"solver.py", checker}


def test_a_demo_runs_no_program_that_a_contract_brings(study):
    contract = (study / "study.toml").read_text()
    posing = contract.replace("references.json", "references/calibration.json")
    posing = "\n".join('checker = "tdvrptw"' if line.startswith("checker") else line for line in posing.splitlines())
    (study / "study.toml").write_text(posing)
    codes, done = says(["demo", "."], cwd=study)
    assert codes == [2]
    assert "expected a new directory or an earlier demo" in done.stderr
    assert list(study.rglob("ran/*")) == []

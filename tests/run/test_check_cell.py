"""Files of a study are data: none is imported because it bears the name of a package."""

import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from gapline.generate import write_instances

pytestmark = pytest.mark.slow

# Whoever imports this leaves a trace and dies.
TRAP = (
    "import os; open(os.path.join(os.path.dirname(__file__), 'imported'), 'a').write(__name__ + '\\n'); os._exit(7)\n"
)
CONTRACT = """
seeds = [1]

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


@pytest.fixture
def study(tmp_path) -> Path:
    pytest.importorskip("pyvrp")
    path = write_instances("cvrp", tmp_path / "instances", name="t", customers=6)[0]
    (tmp_path / "study.toml").write_text(CONTRACT.format(checker="cvrp", instance=path.name))
    for name in ("pyvrp", "vrplib", "msgspec", "numpy", "json", "socket", "gapline"):
        (tmp_path / f"{name}.py").write_text(TRAP)
    return tmp_path


def run_inside(study: Path) -> "subprocess.CompletedProcess[str]":
    """Run the study from within, as a user who went there does."""
    command = [sys.executable, "-P", "-c", "from gapline.cli import main; main()", "run", "."]
    return subprocess.run(command, cwd=study, capture_output=True, text=True, check=False)


def test_supervisor_adapter_and_checker_import_nothing_from_the_study(study):
    done = run_inside(study)
    assert not (study / "imported").exists(), (study / "imported").read_text()
    assert done.returncode == 0, done.stderr
    campaign = gapline.open(study / "campaign")
    assert campaign.runs["status"].to_list() == ["finished"]
    assert campaign.candidates > 0
    assert set(campaign.verdict.tolist()) == {1}


def test_a_checker_of_the_study_is_found_and_what_it_imports_is_the_environments_first(study):
    """Its name is taken by a module of Python (`code`) and it asks for numpy, for which there is a trap."""
    (study / "code.py").write_text(
        "import numpy, beside\n__version__ = '1'\n"
        "def check(instance, solution):\n    return beside.PRICE + float(numpy.float64(0.5))\n"
    )
    (study / "beside.py").write_text("PRICE = 7.0\n")
    contract = study / "study.toml"
    contract.write_text(contract.read_text().replace('"cvrp"', '"python:code:check"'))
    done = run_inside(study)
    assert not (study / "imported").exists(), (study / "imported").read_text()
    assert done.returncode == 0, done.stderr
    assert set(gapline.open(study / "campaign").objective.tolist()) == {7.5}


def test_a_program_of_the_study_still_finds_the_files_beside_it(study):
    (study / "solver.py").write_text("import beside\nprint('{\"objective\": %r}' % beside.PRICE)\n")
    (study / "beside.py").write_text("PRICE = 7.0\n")
    for trap in ("json", "numpy", "msgspec"):
        (study / f"{trap}.py").unlink()
    contract = study / "study.toml"
    text = contract.read_text().replace('checker = "cvrp"', 'validation = "solver"')
    text = text.partition("[[arms]]")[0]
    contract.write_text(
        f'{text}[[arms]]\nname = "p"\nsolver = "command"\ncommand = ["{sys.executable}", "solver.py"]\n'
    )
    assert run_inside(study).returncode == 0
    assert gapline.open(study / "campaign").objective.tolist() == [7.0]

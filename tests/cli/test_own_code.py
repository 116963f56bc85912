"""Functions of the user's own through the real command line, and the refusal to run those of somebody else's study."""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import gapline
from cli.two_arms import write_study, write_traces

pytestmark = pytest.mark.slow

SOURCE = str(Path(gapline.__file__).parents[1])
MODULE = """import pathlib

import numpy as np

pathlib.Path(__file__).with_name("it-ran").write_text("it did")


def log_ratio(z, reference):
    return np.log(z / reference)


log_ratio.before = 3.0


def improvements(time, objective, reference, horizon):
    return len(time)
"""
KERNEL, STATISTIC = "python:own_gaps:log_ratio", "python:own_gaps:improvements"


def gapline_says(*arguments, cwd, path=""):
    """Run the command line as a process of its own, without the current directory on its path."""
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [SOURCE, path])), "COLUMNS": "200"}
    code = "import sys; from gapline.cli import main; main()"
    command = [sys.executable, "-P", "-c", code, *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, env=environment, check=False)


@pytest.fixture
def study(tmp_path):
    """A study whose contract names a kernel and a statistic that lie in its directory."""
    folder = tmp_path / "theirs"
    write_study(folder, kernel=KERNEL)
    contract = folder / "study.toml"
    contract.write_text(contract.read_text().replace("goals =", f'statistics = ["{STATISTIC}"]\ngoals ='))
    (folder / "own_gaps.py").write_text(MODULE)
    return folder


def test_a_kernel_of_the_contract_does_not_run_because_the_study_is_opened(study, tmp_path):
    for command in (["score"], ["curve"], ["analyse"], ["report", "-o", "out"]):
        done = gapline_says(command[0], study, *command[1:], cwd=tmp_path)
        assert done.returncode == 2
        assert f"{KERNEL} ({study / 'own_gaps.py'})" in done.stderr
        assert "--allow-code" in done.stderr
    done = gapline_says("compare", f"{study}:mine", f"{study}:theirs", cwd=tmp_path)
    assert "--allow-code" in done.stderr
    # Neither from within the directory, where a careless path would find it.
    assert gapline_says("score", ".", cwd=study).returncode == 2
    # What needs no score needs no code.
    assert gapline_says("status", study, cwd=tmp_path).returncode == 0
    assert not (study / "it-ran").exists()


def test_another_kernel_scores_it_without_its_code_and_says_what_is_left_out(study, tmp_path):
    done = gapline_says("score", study, "--kernel", "squeezed", "--json", cwd=tmp_path)
    document = json.loads(done.stdout)
    assert document["kernels"] == ["squeezed"]
    assert document["statistics"] == []
    assert f"statistics of the contract are left out, as its code may not run: {STATISTIC}" in document["notes"]
    assert not (study / "it-ran").exists()


def test_with_leave_it_runs_everywhere_and_everything_names_its_source(study, tmp_path):
    digest = "sha256:" + hashlib.sha256((study / "own_gaps.py").read_bytes()).hexdigest()
    done = gapline_says("score", study, "--allow-code", "--per-run", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["code"] == {KERNEL: digest, STATISTIC: digest}
    by_arm = {arm["arm"]: arm for arm in document["arms"]}
    # An invalid candidate is none of the two steps.
    assert {arm: entry["statistics"][STATISTIC] for arm, entry in by_arm.items()} == dict.fromkeys(by_arm, 2.0)
    assert all(run["statistics"] == {STATISTIC: 2.0} for run in document["runs"])
    printed = gapline_says("score", study, "--allow-code", cwd=tmp_path).stdout
    assert f"code {KERNEL}, {STATISTIC} ({digest[:19]}…)" in " ".join(printed.split())
    assert STATISTIC in printed
    compared = gapline_says("compare", f"{study}:mine", f"{study}:theirs", "--allow-code", "--json", cwd=tmp_path)
    answer = json.loads(compared.stdout)
    assert answer["kernel"] == KERNEL
    assert answer["difference"] == pytest.approx(by_arm["theirs"]["scores"][KERNEL] - by_arm["mine"]["scores"][KERNEL])
    for command in ("curve", "analyse"):
        done = gapline_says(command, study, "--allow-code", "--json", cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found.get("reading", found)["code"][KERNEL] == digest
    done = gapline_says("report", study, "--allow-code", "-o", "out", "--format", "svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert digest in (tmp_path / "out" / "methods.md").read_text()
    assert digest in (tmp_path / "out" / "report.html").read_text()
    results = json.loads((tmp_path / "out" / "results.json").read_text())
    assert results["reading"]["code"] == {KERNEL: digest, STATISTIC: digest}
    assert STATISTIC in (tmp_path / "out" / "tables" / "runs.csv").read_text().splitlines()[0]


def test_a_kernel_that_the_user_names_is_imported_by_the_rules_of_python(tmp_path):
    write_traces(tmp_path / "traces.csv")
    (tmp_path / "refs.csv").write_text(
        "instance,value\n" + "".join(f"{'small' if i < 4 else 'large'}-{i},100\n" for i in range(8))
    )
    library = tmp_path / "library"
    library.mkdir()
    (library / "own_gaps.py").write_text(MODULE)
    asked = ["score", "traces.csv", "--references", "refs.csv", "--kernel", KERNEL, "--statistic", STATISTIC]
    done = gapline_says(*asked, "--statistic", "median", cwd=tmp_path, path=str(library))
    assert done.returncode == 0, done.stderr
    assert "Median scores" in done.stdout
    assert KERNEL in done.stdout
    # A module that lies where the traces are is not found because of that.
    (tmp_path / "own_gaps.py").write_text(MODULE)
    lost = gapline_says(*asked, cwd=tmp_path)
    assert lost.returncode == 2
    assert "PYTHONPATH" in lost.stderr
    assert not (tmp_path / "it-ran").exists()
    two = gapline_says(*asked, "--statistic", "median", "--statistic", "mean", cwd=tmp_path, path=str(library))
    assert "expected one way to put runs together, got median, mean" in two.stderr


def test_two_studies_with_other_sources_under_one_name_are_not_compared(study, tmp_path):
    other = tmp_path / "ours"
    write_study(other, kernel=KERNEL)
    (other / "own_gaps.py").write_text(MODULE)
    asked = ["compare", f"{study}:mine", f"{other}:theirs", "--allow-code"]
    assert gapline_says(*asked, cwd=tmp_path).returncode == 0
    (other / "own_gaps.py").write_text(MODULE.replace("np.log(z / reference)", "np.log2(z / reference)"))
    done = gapline_says(*asked, cwd=tmp_path)
    assert done.returncode == 1
    assert f"{KERNEL}: expected one source, got {study / 'own_gaps.py'}" in done.stderr


WEIGHT = "python:own_weights:office"


@pytest.fixture
def weighed(tmp_path):
    """A study whose contract names a time weight that lies in its directory."""
    folder = tmp_path / "weighed"
    write_study(folder)
    contract = folder / "study.toml"
    contract.write_text(contract.read_text().replace("[score]\n", f'[score]\nweight = "{WEIGHT}"\n'))
    (folder / "own_weights.py").write_text(
        "import pathlib\n\npathlib.Path(__file__).with_name('it-ran').write_text('it did')\n\n\n"
        "def office(t):\n    return 2.0 if t < 3 else 0.5\n"
    )
    return folder


def test_a_weight_of_the_contract_runs_only_with_leave_and_everything_names_its_source_and_error(weighed, tmp_path):
    refused = gapline_says("score", weighed, cwd=tmp_path)
    assert refused.returncode == 2
    assert f"score.weight: expected leave to run the code that it names, got none: {WEIGHT}" in refused.stderr
    assert "choose another with --weight" in refused.stderr
    plain = gapline_says("score", weighed, "--weight", "steps:0=2,3=0.5", "--json", cwd=tmp_path)
    assert not (weighed / "it-ran").exists()
    done = gapline_says("score", weighed, "--allow-code", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    found, wanted = json.loads(done.stdout), json.loads(plain.stdout)
    digest = "sha256:" + hashlib.sha256((weighed / "own_weights.py").read_bytes()).hexdigest()
    assert found["code"] == {WEIGHT: digest}
    assert 0 < found["weight_error"] < 1e-11
    assert wanted["weight_error"] is None
    assert any("integrated numerically" in note for note in found["notes"])
    for mine, theirs in zip(found["arms"], wanted["arms"], strict=True):
        assert mine["scores"]["maxform"] == pytest.approx(theirs["scores"]["maxform"], abs=2 * found["weight_error"])
    # A curve has no weight, so no error either.
    curve = json.loads(gapline_says("curve", weighed, "--allow-code", "--json", cwd=tmp_path).stdout)
    curve = curve.get("reading", curve)
    assert (curve["weight"], curve["weight_error"], curve["code"]) == ("uniform", None, {})
    done = gapline_says("report", weighed, "--allow-code", "-o", "out", "--format", "svg", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    methods = (tmp_path / "out" / "methods.md").read_text()
    # Markdown has its own reading of an underscore.
    assert f"{WEIGHT} ({digest}), integrated numerically to" in methods.replace("\\_", "_")

"""Commands of studies that ran, and of their packages, keep to the width: `run`, `check`, `pack`, `verify`, …

As in `test_layout.py`, with real runs of a small program. What takes seconds to make is made once, and what the command
prints of it is printed at every width.
"""

import contextlib
import io
import re
import shutil
import sys
from pathlib import Path
from typing import NamedTuple

import pytest

from cli.test_layout import WIDTHS, assert_as_stored, check_laws
from crowded_traces import crowd_names
from gapline.cli import pack as pack_command
from gapline.cli import replicate as replicate_command
from gapline.cli.app import run
from gapline.cli.verify import print_verification
from gapline.package.comparison import compare_studies
from gapline.package.pack import Packed, pack
from gapline.package.replicate import plan_replication, replicate
from gapline.package.verify import verify
from gapline.references.snapshot import Snapshot
from gapline.report.replication import print_replication
from gapline.report.writers import terminal
from gapline.report.writers.terminal import fitted_lines
from live_studies import live_study
from package.two_studies import paced, study_of
from terminal_laws import beyond, ragged

PROGRAM = """#!{python} -SE
import sys
print('{{"objective": 20, "solution": 1}}', flush=True)
print('{{"objective": %r, "solution": 2}}' % (11 + len(sys.argv[1]) / 60), flush=True)
"""
CHECKER = """def check(instance, solution):
    return 12.0 if solution == 2 else "not a solution"
"""
CONTRACT = """seeds = [1]
[study]
name = "a-study-of-arms-with-long-names"
[objective]
validation = "solver"
[time]
horizon = 300
grace = 0.5
[reference]
policy = "frozen"
snapshot = "references/known.json"
"""


class Ran(NamedTuple):
    """A study whose runs were made, its package, and what `report` printed at 60 columns."""

    study: Path
    packed: Packed
    reported: str


@pytest.fixture
def at_widths(capsys, monkeypatch):
    """Print something at every width and look at it; each table on the way has even decimals."""

    def looked_at(table, *arguments, **choices):
        assert ragged(table) == []
        return fitted_lines(table, *arguments, **choices)

    monkeypatch.setattr(terminal, "fitted_lines", looked_at)

    def look(name, print_it, *, same=lambda text: text):
        answers = {}
        for width in (*WIDTHS, "100000"):
            if width is None:
                monkeypatch.delenv("COLUMNS", raising=False)
            else:
                monkeypatch.setenv("COLUMNS", width)
            code = print_it()
            shown = capsys.readouterr()
            assert not code, shown.err
            answers[width] = same(shown.out)
        for width in WIDTHS:
            check_laws(name, answers[width], answers["100000"], width)
        return answers

    return look


@pytest.fixture(scope="module")
def ran(tmp_path_factory):
    """A study of four arms with names of 1 to 60 letters."""
    folder = tmp_path_factory.mktemp("ran")
    study = folder / "study"
    (study / "instances").mkdir(parents=True)
    program = study / "toy"
    program.write_text(PROGRAM.format(python=sys.executable))
    program.chmod(0o755)
    text = CONTRACT
    for name in ("i1", "i2"):
        (study / "instances" / f"{name}.txt").write_text(f"{name}\n")
        text += f'[[instances]]\npath = "instances/{name}.txt"\n'
    for arm in crowd_names(4):
        text += f'[[arms]]\nname = "{arm}"\nsolver = "command"\ncommand = ["./toy", "{arm}"]\n'
    (study / "study.toml").write_text(text)
    (study / "a-file-that-nobody-names-and-that-has-a-name-of-its-own.txt").write_text("x")
    Snapshot.from_values({"i1": 10.0, "i2": 10.0}, name="known").save(study / "references" / "known.json")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("GAPLINE_LEASES", str(tmp_path_factory.getbasetemp() / "leases"))
        patch.setenv("COLUMNS", "60")
        patch.chdir(folder)
        assert run(["run", "study", "--no-pin"]) == 0
        with contextlib.redirect_stdout(io.StringIO()) as reported:
            assert run(["report", "study", "--format", "svg"]) == 0
    return Ran(study, pack(study, folder / "package.zip"), reported.getvalue())


@pytest.mark.slow
def test_run_and_status_of_a_study_that_is_whole(ran, at_widths, monkeypatch):
    monkeypatch.chdir(ran.study.parent)
    shown = at_widths("run", lambda: run(["run", "study", "--no-pin"]))["80"]
    assert "8 of 8 runs done, 0 left" in shown
    at_widths("status", lambda: run(["status", "study"]))


@pytest.mark.slow
def test_what_pack_and_verify_say(ran, at_widths):
    study, packed = ran.study, ran.packed
    assert "a-file-that-nobody-names" in at_widths("pack", lambda: pack_command._show(packed))["80"]
    for source in (packed.path, study):
        found = verify(source)
        shown = at_widths("verify", lambda found=found: print_verification(found))["80"]
        assert "nothing differs" in " ".join(shown.split())


@pytest.mark.slow
def test_a_difference_that_verify_finds(ran, at_widths, tmp_path):
    study = tmp_path / "study"
    shutil.copytree(ran.study, study)
    path = study / "references" / "known.json"
    path.write_text(path.read_text().replace("10.0", "10.5"))
    found = verify(study)
    assert not found.passed
    assert "first difference: " in at_widths("verify", lambda: print_verification(found))["80"]


@pytest.mark.slow
def test_what_replicate_says_before_and_after_its_runs(ran, at_widths, tmp_path):
    packed = ran.packed
    intended = plan_replication(packed.path, tmp_path / "again")
    at_widths("plan", lambda: replicate_command._print_plan(intended))
    done = replicate(packed.path, tmp_path / "again")
    assert done.run.left == 0
    shown = at_widths("replicate", lambda: replicate_command._tell(done, str(packed.path), None, as_json=False))["80"]
    assert "Order of 4 arms" in shown


@pytest.mark.slow
@pytest.mark.parametrize("arms", [4, 9, 20])
def test_replications_of_many_arms(at_widths, arms):
    paces = {arm: 1.0 + 0.2 * place for place, arm in enumerate(crowd_names(arms))}
    slower = {arm: pace * (1.5 if len(arm) == 60 else 1.0) for arm, pace in paces.items()}
    found = compare_studies(study_of(paced(paces)), study_of(paced(slower)))
    shown = at_widths("replicate", lambda: print_replication(found))
    assert f"Order of {arms} arms" in shown["80"]
    if arms == 4:
        assert_as_stored("replicate-60", shown["60"])


@pytest.mark.slow
@pytest.mark.parametrize("arms", [4, 9, 20])
def test_verdicts_of_many_arms(at_widths, tmp_path, monkeypatch, capsys, arms):
    monkeypatch.chdir(tmp_path)
    names = crowd_names(arms)
    with live_study(tmp_path / "study", arms=names, checker=f"python:judge_of_{arms}:check") as study:
        (study.path / f"judge_of_{arms}.py").write_text(CHECKER)
        for place, arm in enumerate(names):
            study.begin(f"{arm}/i1/1", checked=True)
            for step in range(1 + 40 * (place % 7)):
                study.say(f"{arm}/i1/1", 0.001 * (step + 1), 40.0 - 0.01 * step, solution=1 + step % 2)
            study.end(f"{arm}/i1/1")
    assert run(["check", "study"]) == 0
    capsys.readouterr()
    shown = at_widths("check", lambda: run(["check", "study"]))
    assert "Verdicts by arm" in shown["80"]
    assert all(name in shown["80"] for name in names)
    if arms == 9:
        assert_as_stored("check-60", shown["60"])


def test_new_studies_and_instances(at_widths, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    numbers = iter(range(100))

    def new_study():
        assert run(["init", f"a-new-study-{next(numbers)}", "--problem", "command"]) == 0

    at_widths("init", new_study, same=lambda text: re.sub(r"(a-new-study)-\d+", r"\1", text))

    def collected():
        arguments = ["--instances", "drawn", "--problem", "cvrp", "--horizon", "10", "--seeds", "2"]
        assert run(["init", f"a-new-study-{next(numbers)}", *arguments]) == 0

    monkeypatch.setenv("COLUMNS", "80")
    arguments = ["generate", "cvrp", "--n", "7", "--count", "2", "-o", "drawn"]
    at_widths("generate", lambda: run(arguments))
    at_widths("init", collected, same=lambda text: re.sub(r"(a-new-study)-\d+", r"\1", text))


def test_a_report_says_what_it_wrote(ran):
    assert beyond(ran.reported, 60) == []
    said = " ".join(ran.reported.split())
    assert said.startswith("wrote study/results/report.html, results.json, methods.md, methods.tex, macros.tex,")

"""`gapline doctor STUDY`: what is missing is said before anything runs."""

import json

import pytest

from gapline.cli.app import run
from gapline.generate.study import Panel, write_study
from gapline.run import calibrate
from gapline.solvers import catalogue


def test_a_study_that_can_run_is_told_what_comes_next(tmp_path, capsys):
    write_study(tmp_path, "mip", panels=[Panel(5, 1)])
    assert run(["doctor", str(tmp_path)]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == f"next: gapline run {tmp_path}"
    assert not (tmp_path / "journal").exists()


def test_everything_that_is_missing_is_one_line_each(tmp_path, capsys, monkeypatch):
    contract = write_study(tmp_path, "mip", panels=[Panel(5, 1)])
    text = contract.read_text().replace('checker = "mip"', 'checker = "command:no-such-checker"')
    text += '\n[[arms]]\nname = "mine"\nsolver = "command"\ncommand = ["./mine"]\n'
    text += '\n[[arms]]\nname = "typo"\nsolver = "scip"\noptions = { iteration = 3 }\n'
    contract.write_text(text)
    lacking = catalogue.Adapter("gapline.solvers.highs", "no-such-package", {}, "mip")
    monkeypatch.setitem(catalogue.ADAPTERS, "highs", lacking)
    assert run(["doctor", str(tmp_path), "--json"]) == 3
    facts = json.loads(capsys.readouterr().out)
    assert facts["arms"] == 5
    starts = ["arm highs: no-such-package is not installed; pip install 'gapline[mip]'", "arm mine: expected a program"]
    starts += ["arm typo: expected the options iterations, got 'iteration'", "checker command:no-such-checker: "]
    assert len(facts["lacking"]) == len(starts)
    for line, start in zip(facts["lacking"], starts, strict=True):
        assert line.startswith(start)
        assert "\n" not in line
    assert not (tmp_path / "journal").exists()


def test_a_study_that_is_not_there_is_wrong_use(tmp_path, capsys):
    assert run(["doctor", str(tmp_path / "none")]) == 2
    assert "expected a contract, got no file" in capsys.readouterr().err


@pytest.fixture
def quick(monkeypatch):
    """A work load that takes no time; the real one is run by the docs and by tests/run/test_calibrate.py."""
    monkeypatch.setattr(calibrate.calibrate, "__kwdefaults__", {"repeats": 2, "work": lambda: calibrate.RESULT})


@pytest.mark.usefixtures("quick")
def test_a_machine_is_calibrated_with_or_without_a_study(tmp_path, capsys):
    assert run(["doctor", "--calibrate", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["calibration work"].startswith("gapline-mix/1 ")
    write_study(tmp_path, "mip", panels=[Panel(5, 1)])
    assert run(["doctor", str(tmp_path), "--calibrate"]) == 0
    assert "best of 2" in capsys.readouterr().out
    assert (tmp_path / "calibrations.jsonl").read_text().count("\n") == 1
    # Nothing was run: a study that is only calibrated has no journal.
    assert not (tmp_path / "journal").exists()


@pytest.mark.usefixtures("quick")
def test_a_campaign_may_begin_with_it(make_study, capsys):
    study = make_study({"mine": ["scripted", "1", "3", "0"]}, seeds=(1,))
    assert run(["run", str(study.path), "-j", "1", "--calibrate"]) == 0
    assert "calibrated: " in capsys.readouterr().out
    assert run(["score", str(study.path), "--policy", "analysis", "--time-scale", "measured", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["time_scale"]["source"].startswith("measured by gapline-mix/1 ")
    assert run(["run", str(study.path), "--on", "slurm", "--calibrate"]) == 2
    assert "on each machine" in capsys.readouterr().err

"""`gapline doctor STUDY`: what is missing is said before anything runs."""

import json

from gapline.cli.app import run
from gapline.generate.study import Panel, write_study
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

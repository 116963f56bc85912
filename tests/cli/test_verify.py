"""`gapline verify`: a table, and an exit code."""

import json

import pytest

from gapline.cli.app import run
from gapline.report.write import write_report
from gapline.study import open_study
from study.ruled_study import write_study

pytestmark = pytest.mark.slow


@pytest.fixture
def study(tmp_path, monkeypatch):
    folder = tmp_path / "study"
    folder.mkdir()
    write_study(folder, ran=False)
    write_report(open_study(str(folder)), folder / "results", formats=("svg",))
    monkeypatch.chdir(tmp_path)
    return folder


def test_what_is_shown_ends_in_zero_and_what_differs_in_one_with_its_name(study, capsys):
    assert run(["verify", "study"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("study study: nothing differs; 4 rows not shown\n")
    path = study / "results" / "methods.md"
    path.write_text(path.read_text() + "More.\n")
    assert run(["verify", "study"]) == 1
    assert "first difference: results/methods.md: expected sha256:" in capsys.readouterr().out
    assert run(["verify", "study", "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert (document["passed"], document["differences"][0]["member"]) == (False, "results/methods.md")


@pytest.mark.usefixtures("study")
def test_what_is_no_study_is_wrong_use(capsys):
    assert run(["verify", "study/results"]) == 2
    assert "expected a package or a study directory" in capsys.readouterr().err

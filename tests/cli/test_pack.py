"""`gapline pack` prints what it wrote, under which identifiers, and what is not in it."""

import json

import pytest

from gapline.campaign.store import file_digest
from gapline.cli.app import run
from study.ruled_study import write_study


@pytest.fixture
def study(tmp_path, monkeypatch):
    folder = tmp_path / "s"
    folder.mkdir()
    monkeypatch.chdir(tmp_path)
    (folder / "notes.txt").write_text("x")
    return write_study(folder, ran=False, reference='policy = "retrospective"')


@pytest.mark.slow
@pytest.mark.usefixtures("study")
def test_it_prints_identifiers_and_what_is_left_out(tmp_path, capsys):
    assert run(["pack", "s", "-o", "a.zip"]) == 0
    shown = capsys.readouterr().out
    assert "wrote a.zip: " in shown
    assert file_digest(tmp_path / "a.zip") in shown
    assert "\nswh:1:dir:" in shown
    assert "left out: notes.txt (the contract does not name it)\n" in shown
    # What no package holds is in the package's own list alone.
    assert "index.jsonl" not in shown


@pytest.mark.slow
@pytest.mark.usefixtures("study")
def test_json_says_the_same(tmp_path, capsys):
    assert run(["pack", "s", "-o", "a.tar.zst", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert answer["sha256"] == file_digest(tmp_path / "a.tar.zst")
    assert answer["bytes"] == (tmp_path / "a.tar.zst").stat().st_size
    assert "study.toml" in answer["members"]
    assert {"path": "notes.txt", "why": "the contract does not name it"} in answer["left_out"]


@pytest.mark.usefixtures("study")
def test_wrong_use_is_said_before_anything_is_done(capsys):
    assert run(["pack", "s", "-o", "a.rar"]) == 2
    assert "expected a name that ends in .zip or .tar.zst, got 'a.rar'" in capsys.readouterr().err
    assert run(["pack", "nowhere", "-o", "a.zip"]) == 2


@pytest.mark.slow
def test_an_absolute_path_in_the_contract_is_refused_and_kept_where_that_is_asked_for(study, tmp_path, capsys):
    text = (study / "study.toml").read_text()
    (study / "study.toml").write_text(text.replace('command = ["a"]', 'command = ["/opt/mine/bin/a"]'))
    assert run(["pack", "s", "-o", "a.zip"]) == 1
    error = capsys.readouterr().err
    assert "study.toml:21: an absolute path" in error
    assert "--keep-hosts" in error
    assert not (tmp_path / "a.zip").exists()
    assert run(["pack", "s", "-o", "a.zip", "--keep-hosts"]) == 0

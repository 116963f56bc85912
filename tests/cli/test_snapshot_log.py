"""`snapshot log` and `snapshot page`, as a user calls them."""

import json

import pytest

from gapline.cli.app import run
from references.history import History
from report.chain_store import make_chain


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    make_chain(tmp_path)
    return tmp_path


@pytest.mark.usefixtures("folder")
def test_the_lineage_and_one_value_in_words(capsys):
    assert run(["snapshot", "log", "march.json", "a"]) == 0
    lines = capsys.readouterr().out.splitlines()
    heads = [line.split()[0] for line in lines[: lines.index("")] if not line.startswith(" ")]
    assert heads == ["march", "february", "january"]
    assert "a" in lines
    assert lines[1].startswith("  1 improved, 1 added since its parent sha256:")
    assert [line.split()[:3] for line in lines[-3:]] == [
        ["8.0", "2026-03-31", "improved"], ["9.0", "2026-02-28", "improved"], ["10.0", "2026-01-31", "frozen"],
    ]  # fmt: skip


@pytest.mark.usefixtures("folder")
def test_the_log_as_json(capsys):
    assert run(["snapshot", "log", "march.json", "*", "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert [one["name"] for one in document["snapshots"]] == ["march", "february", "january"]
    assert sorted(document["steps"]) == ["a", "b", "c"]
    assert document["missing"] is None


def test_missing_parents_are_named_and_found_in_a_folder(folder, capsys):
    (folder / "old").mkdir()
    (folder / "february.json").rename(folder / "old/february.json")
    assert run(["snapshot", "log", "march.json"]) == 0
    assert "note: parent sha256:" in capsys.readouterr().out
    assert run(["snapshot", "log", "march.json", "--folder", "old"]) == 0
    assert "january" in capsys.readouterr().out


def test_a_changed_parent_is_exit_code_1(folder, capsys):
    file = folder / "february.json"
    file.write_text(file.read_text().replace("9.0", "9.5"))
    assert run(["snapshot", "log", "march.json"]) == 1
    assert "note: february.json: states sha256:" in capsys.readouterr().out


def test_commits_of_a_store_at_hand(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    history = History(tmp_path / "store")
    history.bks("F/n=5/A", 10.0)
    history.commit("02-01", "first \x1b[31mvalue")
    history.bks("F/n=5/A", 9.0, authors="B. Better")
    history.commit("03-01", "better")
    assert run(["snapshot", "freeze", "mamut:store", "--name", "one", "-o", "one.json"]) == 0
    capsys.readouterr()
    assert run(["snapshot", "log", "one.json", "n=5/A", "--store", "mamut:store"]) == 0
    lines = capsys.readouterr().out.splitlines()
    place = lines.index("n=5/A in mamut:store")
    assert lines[place + 1].split()[:4] == ["9.0", "2026-03-01T10:00:00", "improved", "commit"]
    assert "by keeper: first \\u001b[31mvalue" in lines[place + 2]
    assert run(["snapshot", "log", "one.json", "--store", "mamut:store"]) == 2
    assert run(["snapshot", "log", "one.json", "n=5/B"]) == 2
    assert "did you mean 'n=5/A'?" in capsys.readouterr().err


def test_a_page_is_written(folder, capsys):
    pytest.importorskip("vl_convert")
    assert run(["snapshot", "page", "march.json", "-o", "chain.html"]) == 0
    assert capsys.readouterr().out == "wrote chain.html\n3 snapshots, 3 instances, 2 improvements\n"
    assert "Content-Security-Policy" in (folder / "chain.html").read_text(encoding="utf-8")
    assert run(["snapshot", "page", "march.json", "-o", "chain.html", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["file"] == "chain.html"


@pytest.mark.parametrize("command", ["log", "page"])
def test_help_has_an_example(command, capsys):
    assert run(["snapshot", command, "--help"]) == 0
    assert f"gapline snapshot {command}" in " ".join(capsys.readouterr().out.split())

"""What others left in a study's journal, a bad byte beside it, a path that is no text: named, and the study goes on."""

import json
import os
import shutil

import pytest

from gapline.cli.app import run

pytestmark = pytest.mark.slow

COMMANDS = [["status"], ["run"], ["check"], ["score"], ["analyse"], ["report"], ["export", "-o", "x.csv"]]
JUDGE = """
def check(instance, solution):
    return 50.0 + solution[0]
check.version = "1"
"""


@pytest.fixture
def study(make_study, tmp_path, monkeypatch):
    made = make_study({"mine": ["scripted", "{seed}", "5", "0"]}, seeds=(1,), checker="python:judge:check").path
    (made / "judge.py").write_text(JUDGE)
    text = (made / "study.toml").read_text(encoding="utf-8")
    (made / "study.toml").write_text(text + '\n[reference]\npolicy = "analysis"\n', encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    return made


def outputs(study, capsys):
    """Run every command on a study; return what each said."""
    said = {}
    for command, *options in COMMANDS:
        code = run([command, str(study), *options])
        out = capsys.readouterr()
        assert code == 0, (command, out.err)
        assert "internal error" not in out.err
        said[command] = out.out + out.err
    return said


def score(study, capsys):
    assert run(["score", str(study), "--json", "--per-run"]) == 0
    return json.loads(capsys.readouterr().out)


def test_copies_and_stray_files_are_named_and_the_study_goes_on(study, capsys):
    assert run(["run", str(study)]) == 0
    capsys.readouterr()
    before = score(study, capsys)
    cell = min((study / "journal").glob("mine_*"))
    shutil.copytree(cell / "attempt-001", cell / "attempt-001.bak")
    shutil.copytree(cell, cell.with_name(f"{cell.name} (copy)"))
    for name in ("journal/.DS_Store", f"journal/{cell.name}/.nfs0001", f"journal/{cell.name}/attempt-001/run.json~"):
        (study / name).touch()
    said = outputs(study, capsys)
    report = (study / "results" / "methods.md").read_text() + (study / "results" / "results.json").read_text()
    for command, text in (said | {"report": report}).items():
        assert "attempt-001.bak" in text, (command, text)
        assert ".DS_Store" in text, command
    after = score(study, capsys)
    assert {name: after[name] for name in ("arms", "runs")} == {name: before[name] for name in ("arms", "runs")}
    # Another attempt gets the next number, whatever else is called one.
    shutil.rmtree(cell / "attempt-001")
    assert run(["run", str(study)]) == 0
    assert sorted(path.name for path in cell.iterdir()) == [".nfs0001", "attempt-001", "attempt-001.bak", "claim"]


@pytest.mark.parametrize("content", [b'{"arm": "\xff"}', b"not JSON", b'{"arm": 1, "seed": "x"}'])
@pytest.mark.parametrize("whole", [True, False])
def test_a_bad_byte_in_what_a_run_was_told_is_named_and_the_study_goes_on(study, content, whole, capsys):
    assert run(["run", str(study)]) == 0
    attempt = min((study / "journal").glob("mine_*")) / "attempt-001"
    (attempt / "run.json").write_bytes(content)
    if not whole:
        (attempt / "events.jsonl").unlink()
    capsys.readouterr()
    assert run(["status", str(study)]) == 0
    said = capsys.readouterr().out
    assert f"{attempt.name}/run.json: expected an order, got" in said
    assert run(["run", str(study)]) == 0
    assert "2 of 2 runs done" in capsys.readouterr().out
    assert run(["score", str(study)]) == 0


def test_a_study_whose_path_is_not_utf8_goes_through_every_command(study, tmp_path, capsys):
    odd = tmp_path / os.fsdecode(b"st\xffdy")
    odd.mkdir()
    moved = odd / "s"
    study.rename(moved)
    assert run(["run", str(moved)]) == 0
    capsys.readouterr()
    outputs(moved, capsys)
    assert run(["export", str(moved), "-o", str(odd / "x.csv")]) == 0
    assert run(["export", str(moved), "-o", str(odd / "x.parquet")]) == 0
    assert run(["score", str(odd / "x.csv"), "--policy", "analysis"]) == 0
    assert run(["score", str(odd / "x.parquet"), "--policy", "analysis"]) == 0

"""Logs that are read by workers elsewhere make the campaign that one process makes, to the last byte."""

import json

import pytest

from dask_cluster import wait_for_workers
from gapline.cli.app import run
from gapline.logs import log_files, survey
from traces.archives import KINDS
from traces.small_logs import dimacs


@pytest.fixture
def logs(tmp_path, monkeypatch):
    """A folder and two archives, named from where the command is given, which is not where workers start."""
    monkeypatch.setattr(log_files, "MOST_FILES", 3)
    monkeypatch.setattr(survey, "WORTH_A_PROCESS", 0)
    there = tmp_path / "there"
    (there / "logs").mkdir(parents=True)
    monkeypatch.chdir(there)
    for number in range(12):
        (there / "logs" / f"I{number}.out").write_text(dimacs(f"I{number}", rows="x 1 1.0\n1000.0 1 2.0\n"))
    for name in ("logs.zip", "logs.tar.gz"):
        files = [(f"{name[5]}{number}.out", dimacs(f"{name[5]}{number}").encode()) for number in range(8)]
        (there / name).write_bytes(KINDS[name](files))
    return there


def written(folder, *options):
    assert run(["import", "logs", "logs.zip", "logs.tar.gz", "-o", folder.name, *options]) == 0
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.name != "references.json"}


@pytest.mark.slow
def test_processes_of_a_place_give_the_same_campaign(logs):
    assert written(logs / "there", "--on", "local:2") == written(logs / "here", "--jobs", "1")
    assert sorted(path.name for path in logs.iterdir()) == ["here", "logs", "logs.tar.gz", "logs.zip", "there"]


@pytest.mark.slow
def test_a_real_dask_cluster_gives_the_same_campaign(logs, scheduler, start_worker, monkeypatch, capsys):
    pytest.importorskip("distributed")
    monkeypatch.chdir(logs.parent)
    for _ in range(2):
        start_worker(scheduler)
    monkeypatch.chdir(logs)
    wait_for_workers(scheduler, 2)
    place = f"dask:{scheduler}"
    assert written(logs / "there", "--on", place) == written(logs / "here")
    (logs / "logs" / "bad.out").write_text("nothing known\n")
    capsys.readouterr()
    sources_ = ["logs", "logs.zip", "logs.tar.gz"]
    assert run(["import", *sources_, "--on", place, "--keep-going", "--json", "-o", "kept"]) == 1
    facts = json.loads(capsys.readouterr().out)
    assert [row["file"] for row in facts["left_out"]] == ["logs/bad.out"]
    assert facts["diagnostics"]["runs"] == 28


def test_jobs_and_a_place_exclude_each_other_and_a_dry_run_reads_here(logs, capsys):
    assert run(["import", "logs", "-o", "c", "--on", "local:2", "--jobs", "2"]) == 2
    assert "expected either --jobs or --on, got both" in capsys.readouterr().err
    assert run(["import", "logs", "--dry-run", "--on", "local:2"]) == 2
    assert "got --dry-run" in capsys.readouterr().err
    assert run(["import", "logs", "-o", "c", "--on", "moon"]) == 2
    assert not (logs / "c").exists()

"""`gapline status`: what is done, running, failed and left, and the command to go on."""

import contextlib
import csv
import io
import json
import shutil

import pytest

from gapline.cli import app
from gapline.journal.line import EVENTS_FILE
from gapline.journal.read import read_journal
from gapline.journal.rebuild import rebuild_campaign
from gapline.run.campaign import run_study
from scripted_studies import plant

pytestmark = pytest.mark.slow


def status(path, *options):
    return gapline_of("status", path, *options)


def gapline_of(*words):
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert app.run([*map(str, words)]) == 0
    return printed.getvalue()


def test_before_between_and_after(make_study, eventually):
    study = make_study({"crashing": ["dies", "SIGSEGV"], "waiting": ["waits"]}, seeds=(1,))
    before = json.loads(status(study.path, "--json"))
    assert [before[name] for name in ("planned", "done", "running", "interrupted", "missing", "failed")] == [
        *(4, 0, 0, 0, 4, 0)
    ]
    assert before["resume"] == f"gapline run {study.path}"
    assert before["seconds_left"] == 240.0

    runner = study.start("-j", "1")
    eventually(lambda: len(list(study.path.glob("alive-*"))) == 2)
    between = json.loads(status(study.path, "--json"))
    assert (between["running"], between["done"], between["missing"]) == (1, 1, 2)
    (study.path / "go").touch()
    runner.communicate()

    after = json.loads(status(study.path, "--json"))
    assert (after["done"], after["left"], after["failed"], after["resume"]) == (4, 0, 2, None)
    assert after["failures"][0] == {"arm": "crashing", "instance": "one", "seed": 1, "cause": "crashed (SIGSEGV)"}
    text = status(study.path)
    assert "crashed 2, finished 2" in text
    assert "crashing/one/1: crashed (SIGSEGV)" in text


def test_a_solver_that_changes_its_version_inside_an_arm_is_a_warning(make_study):
    study = make_study({"silent": ["silent"]}, seeds=(1,))
    (study.path / "version").write_text("1.0")
    program = study.path / "mine"
    program.write_text('#!/bin/sh\nprintf \'{"solver": "mine", "version": "%s"}\\n\' "$(cat version)"\n')
    program.chmod(0o755)
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text() + "\n[[arms]]\nname='mine'\nsolver='command'\ncommand=['./mine']\n")
    run_study(study.path)
    before = json.loads(status(study.path, "--json"))
    assert (before["warnings"], before["notes"]) == ([], [])
    (study.path / "version").write_text("1.1")
    contract.write_text(contract.read_text().replace("seeds = [1]", "seeds = [1, 2]"))
    run_study(study.path)
    warning = "arm mine: 1.0 made 2 runs, 1.1 made 2 runs"
    assert json.loads(status(study.path, "--json"))["warnings"] == [warning]
    text = status(study.path)
    assert f"warning: the solver changed: {warning}" in text
    assert "note: changed after the first run: seeds" in text


@pytest.mark.usefixtures("quiet_machine")
def test_status_tells_how_runs_were_measured(make_study):
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    plant(study.attempts()[0], 1.0, foreign_share=0.9, elapsed=200.0, jitter=0.004)
    plant(study.attempts()[1], 1.0, foreign_share=0.0, elapsed=1.0, jitter=0.001)
    text = status(study.path)
    assert "2 of 2 runs pinned to their cores on one host; governor" in text
    assert "others' share of the cores 90.0%" in text
    assert f"gapline run {study.path} --rerun-noisy" in text
    answer = json.loads(status(study.path, "--json"))
    assert answer["fairness"]["foreign_share"] == 0.9
    assert answer["fairness"]["overshoot"] == 140.0
    assert answer["fairness"]["reasons"]["shared cores"] == 1


def test_score_status_and_results_count_superseded_attempts_under_one_name(make_study, tmp_path):
    """One attempt cut short and one changed afterwards, beside the one that counts."""
    study = make_study({"steady": ["scripted", "{seed}", "5", "0"]}, seeds=(1,))
    run_study(study.path)
    one, two = sorted(study.attempts(), key=lambda attempt: read_journal(attempt).order.instance)
    for attempt in (one, two):
        shutil.copytree(attempt, attempt.parent / "attempt-002")
    (one / EVENTS_FILE).write_bytes((one / EVENTS_FILE).read_bytes()[:-30])
    journal = two / EVENTS_FILE
    journal.write_bytes(journal.read_bytes().replace(b'"objective": 500.0', b'"objective": 400.0'))
    because = {"cut short": 1, "changed after it was written": 1}
    told = json.loads(status(study.path, "--json"))
    assert (told["superseded"], told["superseded_because"], told["problems"]) == (2, because, [])
    words = "2 attempts superseded by the one that counts: 1 changed after it was written, 1 cut short"
    assert words in status(study.path)
    assert f"changed after it was written, quarantined: steady/two/1: {journal}:3:" in status(study.path)
    rebuild_campaign(study.path)
    scored = json.loads(gapline_of("score", study.path, "--policy", "analysis", "--json"))
    assert (scored["superseded"], scored["superseded_because"], scored["unreadable"]["count"]) == (2, because, 0)
    assert words in scored["notes"]
    text = gapline_of("score", study.path, "--policy", "analysis")
    assert words in text
    assert "while reading" not in text
    gapline_of("report", study.path, "--policy", "analysis", "-o", tmp_path / "report", "--format", "svg")
    found = json.loads((tmp_path / "report" / "results.json").read_text())
    assert found["facts"]["superseded_because"] == because
    methods = (tmp_path / "report" / "methods.md").read_text()
    assert "2 further were made (1 changed after it was written, 1 cut short)" in methods
    assert "problem" not in methods
    rows = csv.DictReader((tmp_path / "report" / "tables" / "runs.csv").read_text().splitlines())
    assert [row["attempts"] for row in rows] == ["2", "2"]

"""`gapline report` as a user meets it."""

import json
import re

import pytest

import gapline as gl
from bound_by_permissions import gapline
from gapline.campaign.store import save_campaign
from gapline.cli.app import run
from gapline.references.policy import analysis_snapshot

CONTRACT = """
seeds = [1]
[study]
name = "small"
title = "A small study"
[objective]
name = "distance"
checker = "cvrp"
[time]
horizon = 30
[reference]
policy = "frozen"
snapshot = "references/mine.json"
[score]
kernel = "maxform"
goals = [0.0, 0.05]
[aggregate]
contrasts = [["fast", "deep"]]
[aggregate.bootstrap]
draws = 60
[[instances]]
path = "instances/i1.vrp"
[[instances]]
path = "instances/i2.vrp"
[[arms]]
name = "fast"
solver = "pyvrp"
[[arms]]
name = "deep"
solver = "pyvrp"
"""


@pytest.fixture
def study(traces):
    folder = traces / "study"
    (folder / "references").mkdir(parents=True)
    (folder / "study.toml").write_text(CONTRACT)
    gl.Snapshot.from_values({"i1": 10.0, "i2": 20.0}, name="mine", certified=["i1"]).save(
        folder / "references" / "mine.json"
    )
    save_campaign(gl.read(traces / "traces.csv"), folder / "campaign")
    return folder


@pytest.mark.slow
def test_traces_become_a_report_with_both_policies(traces, capsys):
    assert (
        run(["report", "traces.csv", "--references", "refs.csv", "-o", "out", "--draws", "50", "--format", "svg"]) == 0
    )
    assert "report.html" in capsys.readouterr().out
    document = json.loads((traces / "out" / "results.json").read_text())
    assert [reading["reference"]["policy"] for reading in document["readings"]] == ["given", "analysis"]
    assert "not declared" in (traces / "out" / "methods.md").read_text()
    assert not list((traces / "out" / "figures").glob("*.png"))
    arms = {arm["arm"]: arm for arm in document["readings"][0]["arms"]}
    run(["score", "traces.csv", "--references", "refs.csv", "--json"])
    scored = {arm["arm"]: arm for arm in json.loads(capsys.readouterr().out)["arms"]}
    assert {arm: row["scores"]["squeezed"] for arm, row in arms.items()} == {
        arm: row["scores"]["squeezed"] for arm, row in scored.items()
    }


@pytest.mark.slow
def test_a_study_answers_from_its_contract_and_keeps_its_results(study, capsys):
    # A run beats a value that was certified: the report is written, and the exit code says so.
    assert run(["report", str(study), "--format", "svg", "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert len(answer["alarms"]) == 1
    assert answer["directory"] == str(study / "results")
    document = json.loads((study / "results" / "results.json").read_text())
    assert document["title"] == "A small study"
    assert document["readings"][0]["kernels"][0] == "maxform"
    assert document["contrasts"][0]["declared"]
    methods = {clause["topic"]: clause for clause in document["methods"]}
    assert "distance" in methods["objective"]["text"]
    assert methods["goals"]["text"].startswith("Attainment is reported for raw gaps of 5 %, 0 %")
    assert "p-values are by Student's t" in methods["uncertainty"]["text"]
    assert {topic for topic, clause in methods.items() if not clause["declared"]} <= {
        "machine",
        "instances",
        "coverage",
        "validation",
    }
    assert "deep (pyvrp)" in methods["arms and solvers"]["text"]


def test_a_contract_that_says_frozen_and_is_not_is_refused(study, capsys):
    (study / "references" / "mine.json").unlink()
    envelopes = gl.build_envelopes(gl.read(study))
    analysis_snapshot(None, envelopes).save(study / "references" / "mine.json")
    assert run(["report", str(study)]) == 1
    assert "expected values known before the first run" in capsys.readouterr().err
    assert not (study / "results").exists()


def test_wrong_use_is_said_before_anything_is_written(traces, capsys):
    assert run(["report", "traces.csv"]) == 2
    assert "expected a reference" in capsys.readouterr().err
    assert run(["report", "traces.csv", "--references", "refs.csv", "--contrast", "fast", "nobody", "-o", "out"]) == 2
    assert not (traces / "out").exists()
    assert run(["paper"]) == 2


@pytest.mark.parametrize("command", ["report", "paper"])
@pytest.mark.parametrize(
    ("made", "output", "said"),
    [
        ("file", "taken", "Directory 'taken' is a file"),
        ("file", "taken/below", "taken: expected a directory to write to, got a file"),
        ("link", "taken", "taken: expected a directory to write to, got a broken link"),
        ("figures", "taken", "figures: expected a directory to write to, got a file"),
        ("page", "taken", "report.html: expected a file to write, got a directory"),
    ],
)
def test_a_folder_that_cannot_be_written_is_refused_before_any_work(
    command, made, output, said, traces, capsys, monkeypatch
):
    taken = traces / "taken"
    if made == "file":
        taken.write_text("mine")
    elif made == "link":
        taken.symlink_to(traces / "gone")
    else:
        taken.mkdir()
        (taken / "figures").write_text("mine") if made == "figures" else (taken / "report.html").mkdir()
    if (command, made) == ("paper", "page"):
        return
    before = sorted(traces.rglob("*"))
    monkeypatch.setattr("gapline.study.open_study", unasked)
    assert run([command, "traces.csv", "--references", "refs.csv", "-o", output]) == 2
    assert said in " ".join(re.sub("[│╭╮╰╯─]", " ", capsys.readouterr().err).split())
    assert sorted(traces.rglob("*")) == before


def unasked(*_, **__):
    raise AssertionError("the runs were read")


@pytest.mark.slow
@pytest.mark.parametrize("output", ["locked", "locked/below"])
def test_so_is_one_without_the_right_to_write(output, traces):
    (traces / "locked").mkdir(mode=0o555)
    found = gapline("report", "traces.csv", "--references", "missing.csv", "-o", output, folder=traces)
    # The references are not there either, which nobody has come to yet.
    assert "locked: permission denied" in found.stderr
    assert "missing.csv" not in found.stderr


@pytest.mark.slow
def test_files_of_others_in_the_folder_stay(traces):
    (traces / "out").mkdir()
    (traces / "out" / "mine.txt").write_text("mine")
    assert (
        run(["report", "traces.csv", "--references", "refs.csv", "-o", "out", "--draws", "50", "--format", "svg"]) == 0
    )
    assert (traces / "out" / "mine.txt").read_text() == "mine"

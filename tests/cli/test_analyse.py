"""`gapline analyse` as a user meets it."""

import json
from pathlib import Path

import pytest

from cli.two_arms import write_study
from cli.worked_traces import as_json
from gapline.cli.app import run


def test_analyse_json_has_the_published_shape(two_arms, capsys):
    code, document = as_json(capsys, "analyse", "traces.csv", *two_arms, "--contrast", "mine", "theirs")
    assert code == 0
    health = {"arm", "captured", "rejected", "terminal_invalid", "empty", "late", "unchecked", "runs"}
    assert all(health <= row.keys() for row in document["health"])
    metrics = document["metrics"]
    assert {"arm", "kernel", "reference", "score"} <= metrics["pooled"][0].keys()
    assert {row["reference"] for row in metrics["pooled"]} == {"given", "analysis"}
    assert {"kernel", "reference", "runs"} <= metrics["saturated"][0].keys()
    assert {"kernel", "reference", "runs"} <= metrics["negative"][0].keys()
    assert (metrics["pairs"], metrics["reversals"]) == (2, [])
    references = document["references"]
    assert (references["changed"], references["instances"]) == (0, 8)
    assert {"arm", "kernel", "from", "to"} <= references["shift"][0].keys()
    similar = document["complementarity"]
    assert similar["pairs"] == 2
    assert {"max_score", "min_final", "min_attainment", "count"} == similar["grid"][0].keys()
    assert len(similar["grid"]) == 27
    assert document["robustness"][0]["better"] == "mine"
    assert [row["declared"] for row in document["contrasts"]] == [True]


def test_analyse_prints_every_table(two_arms, capsys):
    assert run(["analyse", "traces.csv", *two_arms, "--all"]) == 0
    out = capsys.readouterr().out
    for title in ("Health", "Pooled", "given", "Runs that score below zero",
                  "How many times the mean", "Robustness", "Ranking", "Differences of mean", "Pairs of arms",
                  "Classical neighbours", "Instances that would"):  # fmt: skip
        assert title in out, title
    assert "nan" not in out.lower()


def test_tier_two_and_kernels_and_thresholds_are_taken(two_arms, capsys):
    choices = ["--tier2", "theirs", "--kernel", "maxform", "--kernel", "raw", "--max-score", "0.5", "--interval", "t"]
    code, document = as_json(capsys, "analyse", "traces.csv", *two_arms, *choices)
    assert code == 0
    assert document["metrics"]["pairs"] == 0
    assert {row["kernel"] for row in document["metrics"]["pooled"]} == {"maxform", "raw"}
    assert all(row["score"] is None for row in document["metrics"]["pooled"] if row["kernel"] == "raw")
    assert document["complementarity"]["grid"][0]["max_score"] == 0.25
    assert document["bootstrap"]["interval"] == "t"


@pytest.mark.usefixtures("two_arms")
def test_analyse_without_a_reference_says_what_to_give(capsys):
    assert run(["analyse", "traces.csv"]) == 2
    assert "--references" in capsys.readouterr().err
    code, document = as_json(capsys, "analyse", "traces.csv", "--policy", "analysis", "--draws", "50")
    assert code == 0
    assert {row["reference"] for row in document["metrics"]["pooled"]} == {"analysis"}


def test_help_has_an_example(capsys):
    for name in ("analyse", "compare"):
        assert run([name, "--help"]) == 0
        assert f"gapline {name}" in capsys.readouterr().out


def test_a_contract_gives_the_defaults(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_study(tmp_path / "study")
    code, document = as_json(capsys, "analyse", "study")
    assert code == 0
    assert [(row["a"], row["b"]) for row in document["contrasts"]] == [("mine", "theirs")]
    assert document["contrasts"][0]["declared"]
    assert document["bootstrap"]["draws"] == 77
    assert document["bootstrap"]["kernel"] == "maxform"
    assert document["complementarity"]["goal"] == 0.05
    assert document["metrics"]["pairs"] == 2
    assert [row["reference"] for row in document["readings"]] == ["analysis", "given"]
    code, document = as_json(capsys, "analyse", "study", "--arm", "mine", "--draws", "9")
    assert (code, document["contrasts"], document["bootstrap"]["draws"]) == (0, [], 9)


def test_classical_measures_in_json(two_arms, capsys):
    choices = ["--contrast", "mine", "theirs", "--par", "2", "--shift", "1", "--score-shift", "0.5"]
    code, document = as_json(capsys, "analyse", "traces.csv", *two_arms, *choices)
    assert code == 0
    assert {"par2", "geometric_mean", "iqm", "iqm_low", "geometric_score"} <= document["neighbours"][0].keys()
    assert document["neighbour_choices"] | {"par": 2, "shift": 1, "score_shift": 0.5} == document["neighbour_choices"]
    assert document["ranks"]["friedman"] is None
    assert "needs three arms" in document["ranks"]["reason"]
    assert {"rating", "low", "high", "wins"} <= document["ratings"]["arms"][0].keys()
    (pair,) = document["neighbour_pairs"]
    assert (pair["a"], pair["b"], pair["declared"]) == ("mine", "theirs", True)
    assert pair["p_holm"] == pair["p"]
    assert pair["signed_area"] == pytest.approx(document["contrasts"][0]["difference"], abs=1e-12)


def test_other_transforms_and_cutoffs_are_asked_for_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = ["early,i,1,0,20,10", "late,i,1,5,0,10"]
    Path("traces.csv").write_text("arm,instance,seed,time,objective,horizon\n" + "\n".join(rows) + "\n")
    Path("refs.csv").write_text("instance,value\ni,0\n")
    asked = ["analyse", "traces.csv", "--references", "refs.csv", "--transform", "shift:30"]
    more = ["--vary-transform", "shift:5", "--vary-transform", "shift:0", "--cutoffs", "0.1,2"]
    assert run([*asked, *more, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    # Against 5, early scores 20 / 30, late 1/2; under the declared 30 it is 20 / 80.
    assert {r["transform"] for r in document["transforms"]["reversals"]} == {"shift:5"}
    assert [one["transform"] for one in document["transforms"]["unscored"]] == ["shift:0"]
    assert document["cutoffs"]["cutoffs"] == [0.1, 2.0]
    assert run([*asked, *more, "--table", "transforms"]) == 0
    out = capsys.readouterr().out
    assert "shift:5: 1 of 1 panel orderings reverse" in out
    assert "Cannot be scored under shift:0" in out
    for wrong, words in (("0.1;2", "expected numbers with commas"), ("0.1,10", "below every horizon")):
        assert run([*asked, "--cutoffs", wrong]) == 2
        assert words in capsys.readouterr().err
    assert run([*asked, "--vary-transform", "shft:5"]) == 2
    assert "did you mean 'shift'?" in capsys.readouterr().err


def test_without_a_table_a_summary_of_one_screen_is_printed(two_arms, capsys):
    assert run(["analyse", "traces.csv", *two_arms, "--contrast", "mine", "theirs"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == "mine is ahead of theirs by 0.05360, 95 % interval +0.05357 to +0.05363"
    assert len(lines) <= 40
    assert run(["analyse", "traces.csv", *two_arms, "--table", "health"]) == 0
    assert capsys.readouterr().out.startswith("Health: what was captured, and what was left out\n")
    assert run(["analyse", "traces.csv", *two_arms, "--table", "helth"]) == 2
    assert "did you mean 'health'?" in capsys.readouterr().err

"""Berthold's gap under a beaten reference: shown everywhere, ranked and tested nowhere, and one sentence says why."""

import json
import re

import pytest

import gapline as gl
from gapline.cli.app import run
from gapline.report.page.data import page_data

WHY = "berthold counts beating the reference as a loss, and 3 runs beat it: shown, not ranked"


def rows(beaten=("a",)):
    """Three arms on eight instances, best value 100 + k; on the first three the beaten arms end below the reference."""
    for arm, above, late in (("a", 1, 1), ("b", 3, 2), ("c", 7, 4)):
        for k in range(8):
            end = 99 if arm in beaten and k < 3 else 100 + k % 3 + above
            yield f"{arm},i{k},1,{late + k / 10},{end},9,{2 if arm == 'c' else 1}"


@pytest.fixture
def source(tmp_path):
    def write(**choices):
        (tmp_path / "t.csv").write_text(
            "\n".join(["arm,instance,seed,time,objective,horizon,tier", *rows(**choices)]) + "\n"
        )
        lines = [f"i{k},100" for k in range(8)]
        (tmp_path / "r.csv").write_text("\n".join(["instance,value", *lines]) + "\n")
        return [
            str(tmp_path / "t.csv"),
            "--references",
            str(tmp_path / "r.csv"),
            "--kernel",
            "berthold",
            "--draws",
            "50",
        ]

    return write


def printed(capsys, *arguments):
    assert run(list(map(str, arguments))) == 0
    return capsys.readouterr().out


def numbers_called(found, *names):
    """Return every number that stands under one of the names, wherever in a document."""
    if isinstance(found, dict):
        own = [value for name, value in found.items() if name in names and value is not None]
        return own + [one for value in found.values() for one in numbers_called(value, *names)]
    return [one for value in found for one in numbers_called(value, *names)] if isinstance(found, list) else []


def test_no_table_ranks_or_tests_and_each_says_why(source, capsys):
    given = source()
    for table in ("ranking", "contrasts"):
        assert WHY[1:] in " ".join(printed(capsys, "analyse", *given, "--table", table).split())
    document = json.loads(printed(capsys, "analyse", *given, "--json"))
    assert document["ranking"] == []
    assert document["ranks"] is document["ratings"] is document["neighbour_pairs"] is None
    assert document["no_ranks"] == WHY
    assert document["robustness"] == []
    (contrast,) = document["contrasts"]
    assert contrast["reason"] == WHY
    assert contrast["difference"] is not None
    assert [contrast[name] for name in ("low", "high", "p", "p_holm", "p_smallest")] == [None] * 5
    stated = document["readings"][0]["reference"]
    pooled = [row for row in document["metrics"]["pooled"] if (row["reference"], row["kernel"]) == (stated, "berthold")]
    assert len(pooled) == 3
    assert numbers_called(pooled, "rank") == []
    # The analysis reference, into which the runs are folded, is beaten by none.
    folded = [row for row in document["metrics"]["pooled"] if row["reference"] == "analysis"]
    assert {row["arm"]: row["rank"] for row in folded if row["kernel"] == "berthold"} == {"a": 1, "b": 2, "c": None}
    # Means keep their intervals: they are shown.
    assert len(numbers_called(document["intervals"], "low")) == 3


def test_neither_does_the_summary(source, capsys):
    shown = printed(capsys, "analyse", *source())
    assert "No ranking under berthold" in shown
    assert "Settled: nothing, the arms are not ranked" in shown
    assert "Flips under another choice: 0 of 0 pairs" in shown


def test_neither_does_a_report(source, tmp_path, capsys):
    printed(capsys, "report", *source(), "-o", tmp_path / "report", "--format", "svg")
    results = json.loads((tmp_path / "report" / "results.json").read_text())
    assert results["headline"]["text"] == "No ranking under berthold"
    assert results["headline"]["detail"] == WHY
    assert numbers_called([results["contrasts"], results["readings"][0]], "rank", "p", "p_holm") == []
    methods = (tmp_path / "report" / "methods.md").read_text()
    assert f"No contrasts are tested: {WHY}." in methods
    assert "p-values" not in methods
    macros = (tmp_path / "report" / "macros.tex").read_text()
    assert "HolmP" not in macros
    assert re.findall(r"Rank\}\{(.*)\}", macros) == ["--"] * 3
    tables = {path.stem: path.read_text() for path in (tmp_path / "report" / "tables").glob("*.md")}
    scores = [line.split("|")[1:] for line in tables["scores"].splitlines() if re.match(r"\| – \| [abc]", line)]
    assert [row[6].strip() for row in scores] == ["0.16246", "0.28862", "0.52101"]
    assert WHY[1:] in tables["scores"]
    assert WHY[1:] in tables["contrasts"]


def test_neither_does_the_page(source):
    given = source()
    head = page_data(gl.open_study(given[0], references=given[2], kernels=["berthold"], draws=50)).head
    (contrast,) = head["contrasts"]
    assert contrast["reason"] == WHY
    assert numbers_called(head["contrasts"], "p", "p_holm", "low", "high") == []


def test_what_a_descriptive_arm_beats_says_nothing_of_the_others(source):
    given = source(beaten=("c",))
    study = gl.open_study(given[0], references=given[2], kernels=["berthold"], draws=50)
    assert int(study.scores[0].frame["beaten"].sum()) == 3
    assert study.ranking.frame["arm"].to_list() == ["a", "b"]
    assert study.contrasts.frame["p"].null_count() == 0
    analysis = gl.analyse(study)
    assert analysis.no_ranks is None
    ranks = analysis.metrics.pooled.filter(kernel="berthold").select("arm", "rank").unique()
    assert dict(ranks.iter_rows()) == {"a": 1, "b": 2, "c": None}
    assert analysis.robustness.summary.height == 1

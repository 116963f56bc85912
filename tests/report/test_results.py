"""results.json as a format: what we write fits the published schema, older files are read, misfits are named."""

import json
import shutil
from pathlib import Path

import pytest

import gapline as gl
from gapline.errors import TraceError, UsageError
from gapline.report import results as module
from gapline.report.facts import make_statements
from gapline.report.results import read_results, results_schema
from gapline.report.write import for_report, results_document
from gapline.run.campaign import run_study
from gapline.study.analyse import analyse
from report.classical_study import classical
from report.published_results import assert_fits
from report.report_studies import by_hand, crowd, hierarchical, hostile, report_of, synthetic
from report.test_edges import EDGES
from study.ladder_study import ladder_study

# Written by the first version that had `gapline report`, from two arms on two instances.
OLD = Path(__file__).with_name("results-2026-11.json")


def written(study) -> dict:
    """Return what a report of a study writes, without its files."""
    document = results_document(study, analyse(study), make_statements(study))
    document |= {"files": {"tables/scores.md": "sha256:" + "0" * 64}, "derived": ["figures/a.pdf"]}
    return json.loads(json.dumps(document, allow_nan=False))


def edge(name: str):
    rows, choices = EDGES[name]
    snapshot = gl.Snapshot.from_values(dict.fromkeys(("i", "j"), 10.0), name="mine")
    return report_of(gl.Campaign.from_runs(rows), snapshot, draws=20, **choices)


def alarmed():
    """An optimum that a run contradicts."""
    runs = [
        {"arm": arm, "instance": "i", "seed": 1, "panel": "p", "horizon": 10.0, "trace": [(1, value, True)]}
        for arm, value in (("a", 9.0), ("b", 12.0))
    ]
    certified = gl.Snapshot.from_values({"i": 10.0}, name="mine", certified=["i"])
    return report_of(gl.Campaign.from_runs(runs), certified)


STUDIES = {
    "synthetic": synthetic,
    "by hand": by_hand,
    "with a contrast": lambda: by_hand(contrasts=(("a", "b"),)),
    "hierarchical": hierarchical,
    "hostile names": hostile,
    "a crowd": lambda: crowd(7),
    "classical": lambda: classical().study,
    "alarmed": alarmed,
    **{name: lambda name=name: edge(name) for name in EDGES},
}


@pytest.mark.parametrize("kind", STUDIES)
def test_what_is_written_fits_the_schema_and_is_read(kind, tmp_path):
    document = written(STUDIES[kind]())
    assert_fits(document)
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    found = read_results(tmp_path)
    assert found.model_dump(by_alias=True, exclude_unset=True) == document
    assert found.frame("arms")["arm"].to_list() == [arm["arm"] for arm in document["readings"][0]["arms"]]


def test_ladders_and_the_design_of_a_contract_fit_too(tmp_path):
    document = written(for_report(ladder_study(tmp_path)))
    assert document["ladders"]
    assert document["design"]
    assert_fits(document)


def test_a_study_that_was_run_here_fits_too(make_study, tmp_path):
    """With a contract, a plan, journals, an arm that crashes, and runs that are missing."""
    study = make_study({"steady": ["scripted", "{seed}", "4", "0"], "dying": ["dies", "3"]}, seeds=(1, 2)).path
    run_study(study)
    shutil.rmtree(next(study.glob("journal/steady_one_2_*")))
    shutil.rmtree(study / "campaign")
    document = written(for_report(gl.open_study(study, policy="analysis", draws=20)))
    assert document["facts"]["coverage"]["missing"] == 1
    assert document["facts"]["contrasts_registered"] is None
    assert_fits(document)
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    assert read_results(tmp_path).facts.coverage.planned == 8


def test_the_alarmed_study_has_alarms():
    assert len(written(alarmed())["alarms"]) >= 1


def test_the_shipped_schema_is_the_models():
    shipped = Path(module.__file__).with_name("results.schema.json").read_text(encoding="utf-8")
    assert json.loads(shipped) == results_schema()


def test_an_older_file_is_read():
    found = gl.read_results(OLD)
    assert found.versions["gapline"] == "0.1.0"
    assert (found.headline, found.reading, found.facts, found.design) == (None, None, None, None)
    assert found.arm("a").scores == {
        "squeezed": 0.1955344712009488,
        "maxform": 0.23550724637681159,
        "berthold": 0.23550724637681159,
        "dimacs:1.1": 0.08250000000000006,
        "dimacs:2": 0.2475,
        "raw": None,
    }
    assert found.arm("b").attainment == {"0.01": 0.5}
    assert found.frame("contrasts").row(0, named=True)["difference"] == 0.016339601233011508
    assert found.neighbours == []
    assert found.derived == []


def test_a_newer_file_of_the_same_version_is_read_and_keeps_what_is_new(tmp_path):
    document = json.loads(OLD.read_text(encoding="utf-8"))
    document["readings"][0]["arms"][0]["novelty"] = 3
    document["invention"] = {"a": 1}
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    found = read_results(tmp_path)
    assert found.arm("a").model_dump()["novelty"] == 3
    assert found.model_extra == {"invention": {"a": 1}}


@pytest.mark.parametrize("stated", ["gapline.results/2", "gapline.results/10", "gapline.snapshot/1", ""])
def test_another_version_is_refused(tmp_path, stated):
    document = json.loads(OLD.read_text(encoding="utf-8")) | {"schema": stated}
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(TraceError) as found:
        read_results(path)
    assert found.value.message == f"{path}: expected schema gapline.results/1, got {stated!r}"
    assert (found.value.hint is not None) == stated.startswith("gapline.results/")


def test_every_place_that_does_not_fit_is_named(tmp_path):
    document = json.loads(OLD.read_text(encoding="utf-8"))
    document["readings"][0]["arms"][1]["scores"]["squeezed"] = "good"
    document["readings"][0]["arms"][0]["runs"] = 2.5
    del document["campaign"]["digest"]
    document["files"]["report.html"] = "md5:1"
    path = tmp_path / "results.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with pytest.raises(TraceError) as found:
        read_results(path)
    first, *places = found.value.message.splitlines()
    assert first == f"{path}: expected what gapline.results/1 says, got 4 places that differ"
    assert [place.strip().partition(":")[0] for place in places] == [
        "campaign.digest",
        "readings[0].arms[0].runs",
        "readings[0].arms[1].scores.squeezed",
        "files.report.html",
    ]
    assert places[0] == "  campaign.digest: missing"


@pytest.mark.parametrize("content", [b"", b"[1]", b"{}", b'{"schema": 1}', b"\xff", b'{"schema": "gapline.results/1"'])
def test_what_is_no_results_file_is_refused(tmp_path, content):
    path = tmp_path / "results.json"
    path.write_bytes(content)
    with pytest.raises(
        TraceError, match=r"results\.json: expected the results of a report \(gapline\.results/1\), got"
    ):
        read_results(path)


def test_where_there_is_none_the_command_that_writes_one_is_named(tmp_path):
    for path, got in ((tmp_path, "a directory"), (tmp_path / "none.json", "no such file")):
        with pytest.raises(TraceError) as found:
            read_results(path)
        assert str(found.value) == f"{path}: expected a results.json, got {got}\nHint: gapline report writes one"


def test_a_study_directory_will_do(tmp_path):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "results.json").write_bytes(OLD.read_bytes())
    assert read_results(tmp_path) == read_results(OLD)


def test_an_arm_or_a_section_that_is_not_there_is_a_wrong_call():
    found = read_results(OLD)
    with pytest.raises(UsageError, match="arm: expected one of a, b, got 'c'"):
        found.arm("c")
    with pytest.raises(UsageError, match=r"section: expected one of arms, .*, got 'heath'; did you mean 'health'\?"):
        found.frame("heath")
    for section in ("readings", "versions", "title", "model_config"):
        with pytest.raises(UsageError):
            found.frame(section)


def test_an_overflow_and_statistics_of_ones_own_are_read(tmp_path):
    document = written(by_hand())
    arm = document["readings"][0]["arms"][0]
    arm["scores"]["squeezed"], arm["statistics"] = "overflow", {"python:mine:steps": 3.5}
    assert_fits(document)
    (tmp_path / "results.json").write_text(json.dumps(document), encoding="utf-8")
    assert read_results(tmp_path).arms[0].scores["squeezed"] == "overflow"

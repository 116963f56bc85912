"""Results that were edited are in `tests/package/test_verify.py`; here is what cannot be compared by its bytes."""

import json
import shutil

import pytest

from gapline.contract.version import VERSION
from gapline.package.checks.results import check_results
from gapline.package.checks.rows import CheckOutcome
from gapline.package.checks.subject import Subject
from gapline.package.checks.values import WITHIN
from gapline.package.verify import verify
from gapline.report.canvas import Canvas
from gapline.report.write import library_versions, write_report
from gapline.study import open_study
from package import forging
from package.checks.found import look_at
from study.ruled_study import write_study

pytestmark = pytest.mark.slow

KERNEL = """
import numpy as np
def own(objective, reference):
    return np.abs(objective - reference) / objective
own.before = 1.0
"""


def look(folder, scratch, *, package=True, allow_code=False):
    scratch.mkdir()
    return look_at(check_results, Subject(folder, "x", package, scratch=scratch, allow_code=allow_code))


def rows_of(findings, what):
    return [row for row in findings.rows if row.what == what]


def nudge(text, by):
    return repr(float(text) * (1 + by))


def test_other_versions_are_compared_by_value_and_drawings_are_not_shown(copied, tmp_path):
    results = copied / "results"
    other = library_versions() | {"numpy": "0.9", "altair": "0.1"}
    table, figure = results / "tables" / "panels.csv", results / "figures" / "curves.svg"
    figure = figure if figure.is_file() else sorted((results / "figures").glob("*.svg"))[0]
    figure.write_text(figure.read_text() + "\n")
    kept = table.read_text()
    forging.replace_number(table, lambda text: nudge(text, WITHIN / 4))
    assert table.read_text() != kept
    forging.relist_results(copied, versions=other)
    findings = look(copied, tmp_path / "near")
    assert findings.differences == ()
    (tables,) = rows_of(findings, "tables")
    assert "bytes and value within 1e-12 (numpy 0.9 there, " in tables.how
    shown, left = rows_of(findings, "figures")
    assert (shown.outcome, left.outcome, left.number) == (CheckOutcome.SHOWN, CheckOutcome.NOT_SHOWN, 1)
    assert "altair 0.1 there" in left.why
    table.write_text(kept)
    forging.replace_number(table, lambda text: nudge(text, 1e-9))
    forging.relist_results(copied, versions=other)
    (one,) = look(copied, tmp_path / "far").differences
    assert (one.member, one.line) == ("results/tables/panels.csv", 2)


def test_another_gapline_may_have_written_other_files_and_names_itself(copied, tmp_path):
    results = copied / "results"
    ours = library_versions()["gapline"]
    for path in (results / "tables" / "panels.md", results / "methods.md"):
        path.write_text(path.read_text().replace(ours, "0.0.1"))
    (results / "tables" / "older.csv").write_text("a\n1\n")
    document = json.loads((results / "results.json").read_text())
    document["files"]["tables/older.csv"] = ""
    document |= {"versions": library_versions() | {"gapline": "0.0.1"}, "was": 1}
    (results / "results.json").write_text(json.dumps(document))
    forging.relist_results(copied)
    findings = look(copied, tmp_path / "s")
    assert findings.differences == ()
    assert rows_of(findings, "tables")[1].number == 1


def test_a_score_that_differs_is_found_under_other_versions_too(copied, tmp_path):
    forging.relist_results(copied, versions=library_versions() | {"numpy": "0.9"})
    path = copied / "results" / "results.json"
    document = json.loads(path.read_text())
    document["intervals"][0]["mean"] += 1e-6
    path.write_text(json.dumps(document))
    (one,) = look(copied, tmp_path / "s").differences
    assert one.said.startswith("intervals[0].mean: expected ")


def state(copied, edit=lambda _: None, **versions):
    """Edit the list of results, state other versions in it and hide that."""
    path = copied / "results" / "results.json"
    document = json.loads(path.read_text())
    edit(document)
    document["versions"] |= versions
    path.write_text(json.dumps(document))
    forging.relist_results(copied)


def test_numbers_under_other_keys_are_not_counted_as_compared(copied, tmp_path):
    """Another version may have other keys: they are counted apart, and required ones may not be missing."""
    state(copied, gapline="0.0.1")
    (honest,) = rows_of(look(copied, tmp_path / "honest"), "scores and intervals")

    def invent(document):
        document["invented"] = {"a": [1.0, 2.0], "b": 3}
        for arm in document["readings"][0]["arms"]:
            arm["scores"] = {"other": arm["scores"].pop("squeezed"), **arm["scores"]}

    arms = len(json.loads((copied / "results" / "results.json").read_text())["readings"][0]["arms"])
    state(copied, invent)
    findings = look(copied, tmp_path / "invented")
    assert findings.differences == ()
    shown, left = rows_of(findings, "scores and intervals")
    assert (shown.number, left.number, left.outcome) == (honest.number - arms, arms + 3, CheckOutcome.NOT_SHOWN)
    assert left.why.startswith(
        "only one of the two versions has these keys: invented, readings[].arms[].scores.squeezed"
    )
    state(copied, lambda document: document.update(intervals_new=document.pop("intervals")))
    (one,) = look(copied, tmp_path / "required").differences
    assert (one.member, "intervals: missing" in one.said) == ("results/results.json", True), one.said
    # Under our own version, a key more is a difference.
    state(copied, lambda document: document.update(intervals=document.pop("intervals_new")), gapline=VERSION)
    assert look(copied, tmp_path / "ours").differences[0].member == "results/results.json"


@pytest.mark.parametrize(
    "said", ["0.1.0 as checked by three referees", "missing", "", "1", "1.0 1.0", "x" * 5, "1." + "2" * 80]
)
def test_only_a_version_is_taken_for_a_version(copied, tmp_path, said):
    """What stands in the place of a version would else be exchanged for ours in every text."""
    for path in (copied / "results").rglob("*.md"):
        path.write_text(path.read_text().replace(VERSION, said))
    state(copied, gapline=said)
    found = look(copied, tmp_path / "s").differences
    assert str(found[0]).startswith("results/results.json: versions.gapline: expected a version such as 1.2.3, got ")
    assert "results/methods.md" in {one.member for one in found}


def test_a_file_of_no_known_kind_is_a_difference_or_not_checked(copied, tmp_path):
    (copied / "results" / "more").mkdir()
    (copied / "results" / "more" / "numbers.txt").write_text("0.5")
    state(copied, lambda document: document["files"].update({"more/numbers.txt": ""}))
    found = look(copied, tmp_path / "ours").differences
    assert "results/more/numbers.txt: expected none, got a file" in map(str, found)
    state(copied, gapline="0.0.1")
    findings = look(copied, tmp_path / "other")
    assert findings.differences == ()
    assert [row.outcome for row in rows_of(findings, "other results")] == [CheckOutcome.NOT_SHOWN]


@pytest.fixture
def imported(tmp_path):
    folder = tmp_path / "imported"
    folder.mkdir()
    return write_study(folder, ran=False)


def test_an_imported_study_has_nothing_below_its_campaign(imported):
    write_report(open_study(str(imported)), imported / "results", formats=("svg",))
    (imported / "results" / "own.txt").write_text("mine")
    found = verify(imported)
    assert found.passed, found.first
    left = {row.what: row.why for row in found.left}
    assert left["journals"] == "none: 12 runs imported, by the campaign's digests alone"
    assert left["candidates"] == "the solver's word only: no checker looked at them"
    assert left["results"] == "no report lists them: own.txt"
    # Of a package, what its report does not list is no part.
    assert "results/own.txt" in {one.member for one in look(imported, imported / "s").differences}


def test_a_report_on_logarithmic_time_as_a_paper_wants_it_and_pdf_are_known(imported, tmp_path):
    canvas = Canvas(width=8.5, title=False, grey=True)
    write_report(open_study(str(imported)), imported / "results", formats=("svg", "pdf"), log_time=True, canvas=canvas)
    findings = look(imported, tmp_path / "s", package=False)
    assert findings.differences == ()
    assert [row.why for row in findings.rows if row.outcome is CheckOutcome.NOT_SHOWN] == [
        "PDF, whose bytes differ each time they are written"
    ]


def test_a_report_under_other_choices_is_not_that_of_the_contract(imported, tmp_path):
    write_report(open_study(str(imported), weighting="run"), imported / "results", formats=("svg",))
    assert look(imported, tmp_path / "s").differences[0].member == "results/results.json"


def test_code_of_the_study_runs_only_if_it_may(tmp_path):
    folder = tmp_path / "study"
    folder.mkdir()
    write_study(folder, ran=False, tables='[score]\nkernel = "python:verified_kernel:own"')
    (folder / "verified_kernel.py").write_text(KERNEL)
    write_report(open_study(str(folder), allow_code=True), folder / "results", formats=("svg",))
    findings = look(folder, tmp_path / "s")
    assert findings.differences == ()
    assert "which may not run (python:verified_kernel:own); --allow-code lets it" in findings.rows[-1].why
    assert look(folder, tmp_path / "t", allow_code=True).rows[-1].what == "page"


@pytest.mark.parametrize("text", ["{", "[]", '{"files": []}'])
def test_a_list_of_results_that_is_none_is_named(imported, tmp_path, text):
    (imported / "results").mkdir()
    (imported / "results" / "results.json").write_text(text)
    assert look(imported, tmp_path / "s").differences[0].member == "results/results.json"


def test_a_study_without_results_says_so(imported, tmp_path):
    (row,) = look(imported, tmp_path / "s").rows
    assert (row.outcome, row.why) == (CheckOutcome.NOT_SHOWN, "there is no results/; gapline report writes it")


def test_a_study_that_cannot_be_opened_any_more_has_not_these_results(imported, tmp_path):
    write_report(open_study(str(imported)), imported / "results", formats=("svg",))
    shutil.rmtree(imported / "campaign")
    assert look(imported, tmp_path / "s").differences[0].member == "results"

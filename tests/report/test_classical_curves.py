"""Target ECDF, attainment surfaces and their difference as files and on the terminal."""

import json

import polars as pl
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.measures.attainment_surface import AttainmentDifference
from gapline.measures.running_times import target_ecdf
from gapline.report.classical_curves import classical_curve, difference_lines
from gapline.report.curves import write_curves
from report.classical_study import classical
from report.report_studies import report_of

KINDS = ("target-ecdf", "eaf", "eaf-difference")


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_and_drawings_are_written(kind, tmp_path):
    found = classical_curve(classical().study, kind)
    for form in ("csv", "json", "svg"):
        write_curves(found, tmp_path / f"c.{form}")
    assert pl.read_csv(tmp_path / "c.csv").height == found.frame.height
    document = json.loads((tmp_path / "c.json").read_text())
    assert document["kind"] == kind
    assert sum(len(curve["time"]) for curve in document["curves"]) == found.frame.height
    assert (tmp_path / "c.svg").read_text().startswith("<svg")


def test_the_ecdf_is_that_of_the_study_and_its_weighting():
    study = classical().study
    want = target_ecdf(study.envelopes, study.snapshot, weighting=study.weighting)
    assert classical_curve(study, "target-ecdf").frame.equals(want)
    assert "panel-equal" in classical_curve(study, "target-ecdf").caption()
    assert "panel-equal" not in classical_curve(study, "eaf").caption()


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("target-ecdf", "share of goals"),
        ("eaf", "attained by 50 % of the runs"),
        ("eaf-difference", "good attains more"),
    ],
)
def test_they_are_plotted_on_the_terminal(kind, words, capsys):
    classical_curve(classical().study, kind).print()
    assert words in capsys.readouterr().out


def test_a_surface_that_no_share_of_the_runs_attains_says_so(capsys):
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": []} for s in (1, 2)]
    study = report_of(gl.Campaign.from_runs(runs), gl.Snapshot.from_values({"i": 10.0}, name="mine"))
    classical_curve(study, "eaf").print()
    assert "raw gap" in capsys.readouterr().out


def test_the_map_in_characters_is_full_where_all_runs_differ():
    """One run each: a from 5 on, b never; the right half of a's map is full, b's is blank."""
    runs = [
        {"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": trace}
        for arm, trace in (("a", [(5, 11.0)]), ("b", []))
    ]
    study = report_of(gl.Campaign.from_runs(runs), gl.Snapshot.from_values({"i": 10.0}, name="mine"))
    found = classical_curve(study, "eaf-difference", ("a", "b"))
    lines = difference_lines(found.pair, "s", width=10, height=20)
    assert lines[1].endswith("│     █████")
    assert lines[20].endswith("│          ")
    assert lines[24].endswith("│          ")


def test_a_difference_needs_two_arms():
    study = classical(contrasts=()).study
    with pytest.raises(UsageError, match="expected two arms, got none"):
        classical_curve(study, "eaf-difference")
    assert classical_curve(study, "eaf-difference", ("slow", "best")).frame["a"].unique().to_list() == ["slow"]


def test_a_difference_of_too_many_rectangles_is_that_of_the_map_and_says_so(monkeypatch, tmp_path):
    monkeypatch.setattr(AttainmentDifference, "rectangles", lambda _: None)
    found = classical_curve(classical().study, "eaf-difference")
    assert not found.exact
    assert "80 × 60 cells" in found.caption()
    write_curves(found, tmp_path / "c.json")
    assert json.loads((tmp_path / "c.json").read_text())["exact"] is False

"""The two curves of a study: the same numbers as a table, as JSON, as a drawing and on the terminal."""

import json

import polars as pl
import pytest

from gapline.errors import UsageError
from gapline.report.curves import study_curves, write_curves
from report.report_studies import by_hand


def test_the_mean_curve_by_hand():
    """Arm a on i starts at 1/3 and 1/2, on j at 0 and 1/2: mean 1/3; at 5 s its first run is at the reference."""
    pair = study_curves(by_hand(), by=["arm"])
    a = pair.table().filter((pl.col("curve") == "mean") & (pl.col("arm") == "a"))
    assert a["time"].to_list() == [0.0, 5.0]
    assert a["value"].to_list() == pytest.approx([1 / 3, 1 / 4], abs=1e-15)
    assert pair.end == 10.0


def test_table_and_document_hold_the_same_breakpoints():
    pair = study_curves(by_hand(), by=["arm"], bands=True)
    table, document = pair.table(), pair.document()
    for curve, name in (("mean", "mean"), ("attainment", "attainment"), ("mean band", "mean_bands")):
        rows = table.filter(pl.col("curve") == curve)
        assert [time for series in document[name] for time in series["time"]] == rows["time"].to_list()
    assert document["horizon"] == 10.0
    assert {series["goal"] for series in document["attainment"]} == {by_hand().goals[0]}


def test_each_suffix_has_its_form_and_another_is_refused(tmp_path):
    pair = study_curves(by_hand(), by=["arm"])
    for name in ("curves.csv", "curves.json", "curves.svg"):
        write_curves(pair, tmp_path / name)
    assert pl.read_csv(tmp_path / "curves.csv").height == pair.table().height
    assert json.loads((tmp_path / "curves.json").read_text()) == pair.document()
    assert "<svg" in (tmp_path / "curves.svg").read_text()
    with pytest.raises(UsageError, match=r"expected a name ending in .*, got gif"):
        write_curves(pair, tmp_path / "curves.gif")


def test_the_drawing_has_the_mean_above_the_attainment_each_with_its_own_legend():
    specification = study_curves(by_hand(), by=["arm"]).draw().to_dict()
    titles = ["".join(part["title"]["text"]) for part in specification["vconcat"]]
    assert [title.split(":")[0] for title in titles] == ["Mean convergence", "Goal attainment"]
    assert specification["resolve"]["scale"]["color"] == "independent"


def test_the_terminal_shows_both_curves_and_their_reading(capsys):
    study_curves(by_hand(), by=["arm"]).print()
    out = capsys.readouterr().out
    assert out.index("mean squeezed gap") < out.index("share of runs within")
    assert by_hand().references[0].snapshot.digest[:19] in out

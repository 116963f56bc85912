"""The two curves of a study: the same numbers as a table, as JSON, as a drawing and on the terminal."""

import json

import numpy as np
import polars as pl
import pytest

from gapline.errors import UsageError
from gapline.report import curves
from gapline.report.curves import study_curves, write_curves
from report.report_studies import by_hand


def test_the_mean_curve_by_hand():
    """Arm a on i starts at 1/3 and 1/2, on j at 0 and 1/2: mean 1/3; at 5 s its first run is at the reference."""
    pair = study_curves(by_hand(), by=["arm"])
    a = pl.concat(pair.pieces()).filter((pl.col("curve") == "mean") & (pl.col("arm") == "a"))
    assert a["time"].to_list() == [0.0, 5.0]
    assert a["value"].to_list() == pytest.approx([1 / 3, 1 / 4], abs=1e-15)
    assert pair.end == 10.0


def test_table_and_document_hold_the_same_breakpoints():
    pair = study_curves(by_hand(), by=["arm"], bands=True)
    table, document = pl.concat(pair.pieces()), pair.document()
    for curve, name in (("mean", "mean"), ("attainment", "attainment"), ("mean band", "mean_bands")):
        rows = table.filter(pl.col("curve") == curve)
        assert [time for series in document[name] for time in series["time"]] == rows["time"].to_list()
    assert document["horizon"] == 10.0
    assert {series["goal"] for series in document["attainment"]} == {by_hand().goals[0]}


def test_each_suffix_has_its_form_and_another_is_refused(tmp_path):
    pair = study_curves(by_hand(), by=["arm"])
    for name in ("curves.csv", "curves.json", "curves.svg"):
        write_curves(pair, tmp_path / name)
    assert pl.read_csv(tmp_path / "curves.csv").height == pl.concat(pair.pieces()).height
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


def test_curves_of_many_steps_are_exact_at_moments_that_serve_either_axis(monkeypatch):
    whole = study_curves(by_hand(), by=["arm"])
    monkeypatch.setattr(curves, "MOST_STEPS", 3)
    pair = study_curves(by_hand(), by=["arm"])
    # A moment on both axes is one.
    assert curves.MOMENTS - 2 <= pair.mean.points <= curves.MOMENTS
    assert f"exact at {pair.mean.points:,} moments" in pair.mean.caption()
    for (arm, time, value), (again, moments, values) in zip(whole.mean.groups(), pair.mean.groups(), strict=True):
        assert arm == again
        assert len(moments) == pair.mean.points
        assert (moments[0], moments[-1]) == (0.0, 10.0)
        assert values.tolist() == value[np.searchsorted(time, moments, side="right") - 1].tolist()
        # By equal distances, a hundred in each second, and by equal ratios from 1 s on, three hundred in each doubling.
        assert np.diff(moments).max() <= 10.0 / 1000 * (1 + 1e-9)
        assert ((moments >= 1) & (moments < 2)).sum() == pytest.approx(100 + 301, abs=2)


def test_every_step_is_given_whatever_their_number_in_the_same_bytes(tmp_path, monkeypatch):
    study = by_hand()
    for by, bands in ((["arm"], True), ([], False), (["arm", "instance"], False)):
        write_curves(study_curves(study, by=by, bands=bands), tmp_path / "whole.csv")
        write_curves(study_curves(study, by=by, bands=bands), tmp_path / "whole.json")
        with monkeypatch.context() as patch:
            patch.setattr(curves, "MOST_STEPS", 3)
            patch.setattr(curves, "AT_ONCE", 2)
            pair = study_curves(study, by=by, bands=bands, points="all")
            write_curves(pair, tmp_path / "pieces.csv")
            write_curves(pair, tmp_path / "pieces.json")
            shown = study_curves(study, by=by, bands=bands)
            assert pair.every is not None
            assert len(list(pair.pieces())) > 2
        assert (tmp_path / "pieces.csv").read_bytes() == (tmp_path / "whole.csv").read_bytes()
        assert (tmp_path / "pieces.json").read_bytes() == (tmp_path / "whole.json").read_bytes()
        # A drawing has the usual moments, and says so.
        assert pair.mean.frame.equals(shown.mean.frame)
        assert pair.mean.caption() == shown.mean.caption()
    # Of few steps all are what is shown anyway.
    assert study_curves(study, by=["arm"], points="all").every is None

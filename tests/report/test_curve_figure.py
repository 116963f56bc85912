import numpy as np
import polars as pl

from gapline import figures
from gapline.report import curve_figure
from gapline.report.curve_figure import CurveFigure, attainment_figure, draw_curves, mean_curve_figure, thin_curves
from gapline.report.curves import study_attainment, study_mean_curve
from gapline.report.figures import distributions
from report.report_studies import synthetic


def test_bands_leave_the_legend_to_the_lines():
    study = synthetic()
    specification = figures.mean_convergence(study.envelopes, study.references[0].snapshot, bands=True).to_dict()
    *bands, lines = specification["layer"]
    assert len(bands) == 4
    assert all("color" not in band["encoding"] and "fill" not in band["encoding"] for band in bands)
    assert lines["encoding"]["color"]["legend"]["orient"] == "bottom"


def test_long_curves_fit_a_notebook_and_keep_their_ends():
    """Altair refuses more than 5,000 rows; a campaign of 8,800 runs has a million steps."""
    parts = [
        pl.DataFrame({"series": [f"arm {k}"] * 3000, "time": np.arange(3000.0) + k, "value": np.linspace(1, 0, 3000)})
        for k in range(12)
    ]
    thin = thin_curves(pl.concat(parts))
    assert thin.height <= 5000
    ends = thin.group_by("series").agg(first=pl.col("time").min(), last=pl.col("time").max())
    assert {name: (first, last) for name, first, last in ends.iter_rows()} == {
        f"arm {k}": (k, 2999.0 + k) for k in range(12)
    }
    figure = CurveFigure(thin, "title", "caption", "time", "value")
    assert figures.style(draw_curves(figure)).to_dict()["layer"]


def test_a_caption_says_when_few_of_very_many_breakpoints_are_drawn(monkeypatch):
    study = synthetic()
    curves = study_mean_curve(study, by=["arm"], relative=study.relative)
    attained = study_attainment(study, by=["arm"], relative=study.relative)
    assert "breakpoints" not in mean_curve_figure(curves).caption
    monkeypatch.setattr(curve_figure, "MANY_STEPS", 10)
    monkeypatch.setattr(curve_figure, "MANY_RUNS", 10)
    monkeypatch.setattr(distributions, "MANY_RUNS", 10)
    figure = mean_curve_figure(curves)
    assert figure.caption.endswith(f"; drawn at {figure.data.height:,} of {curves.frame.height:,} breakpoints")
    assert "breakpoints" in attainment_figure(attained, end=1.0).caption
    assert "breakpoints" in distributions.final_gap_figure(study.scores[0]).caption


def test_a_figure_without_a_curve_is_drawn():
    """Of a share of the runs that no arm attains there is nothing but the axes."""
    none = pl.DataFrame(schema={"series": pl.String, "time": pl.Float64, "value": pl.Float64})
    figure = CurveFigure(thin_curves(none, end=5.0), "title", "caption", start=0.0, end=5.0)
    assert draw_curves(figure).to_dict()["layer"][-1]["encoding"]["color"]["scale"]["domain"] == []


def test_curves_of_no_group_are_one_of_all():
    steps = pl.DataFrame({"time": [0.0, 2.0], "value": [1.0, 0.5]})
    assert thin_curves(steps, by=(), end=4.0).rows() == [("all", 0.0, 1.0), ("all", 2.0, 0.5), ("all", 4.0, 0.5)]

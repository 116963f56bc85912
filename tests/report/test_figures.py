import json
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import polars as pl
import pytest

from gapline import figures
from gapline.analysis.analyse import analyse
from gapline.errors import UsageError
from gapline.model.tables import RunKey
from gapline.report.curve_figure import CurveFigure, draw_curves, thinned
from gapline.report.drawing import arm_scales, style
from gapline.report.figures.complementarity import segment_figure
from gapline.report.figures.contrasts import contrast_figure
from gapline.report.figures.final_gaps import final_gap_figure
from gapline.report.figures.gap_area import area_figure
from gapline.report.figures.health import health_figure
from gapline.report.figures.horizon_sweep import sweep_figure
from gapline.report.figures.intervals import interval_figure
from gapline.report.figures.metric_slopes import slope_figure
from gapline.report.figures.profile import profile_figure
from gapline.report.figures.reference_shift import shift_figure
from gapline.report.figures.study import study_figures, telling_run
from gapline.report.statements import make_statements
from report.report_studies import by_hand, hostile, synthetic, synthetic_analyses, synthetic_said


def test_final_gaps_end_at_the_share_of_runs_that_found_something():
    figure = final_gap_figure(by_hand().scores[0])
    last = {series: part["value"][-1] for (series,), part in figure.data.partition_by("series", as_dict=True).items()}
    assert last == pytest.approx({"a": 1.0, "b": 0.75})
    # b ends 20 % above on i, 5 % below and exactly at the reference on j.
    b = figure.data.filter(pl.col("series") == "b")
    assert b["time"].to_list()[1:-1] == pytest.approx([-0.05, 0.0, 0.2])
    assert b["value"].to_list()[1:-1] == pytest.approx([0.25, 0.5, 0.75])
    assert "1 of 8 runs are empty" in figure.caption


def test_intervals_are_ordered_and_say_how_many_are_empty():
    study = synthetic()
    figure = interval_figure(study.summary, study.intervals, synthetic_said().order)
    assert figure.data["mean"][:-1].is_sorted()
    expected = dict(study.summary.frame.select("arm", "squeezed").iter_rows())
    assert dict(figure.data.select("arm", "mean").iter_rows()) == expected
    assert figure.data["label"][-1] == "sliced (4 of 24 empty, descriptive)"
    assert all(row["low"] <= row["mean"] <= row["high"] for row in figure.data.iter_rows(named=True))
    assert "no intervals" in interval_figure(study.summary, None, synthetic_said().order).caption


def test_contrasts_have_the_declared_ones_first():
    study = hostile()
    figure = contrast_figure(study.contrasts, study.scores[0].reference)
    assert figure.data["kind"].to_list() == ["declared"] + ["exploratory"] * (study.contrasts.frame.height - 1)
    assert study.scores[0].reference.digest[:19] in figure.caption


def test_a_descriptive_arm_is_in_no_forest_of_differences_and_no_swap():
    study, analyses = synthetic(), synthetic_analyses()
    label = study.scores[0].reference
    figure = contrast_figure(study.contrasts, label, descriptive=["sliced"])
    assert figure.data.height == 3  # of four arms, three are compared
    assert not any("sliced" in pair for pair in figure.data["pair"])
    sweep = sweep_figure(analyses.horizon, label, descriptive=["sliced"])
    assert not any("sliced" in pair for pair in sweep.swaps["pair"])
    shift = shift_figure(analyses.references, *analyses.labels.values(), kernel="squeezed", descriptive=["early"])
    assert shift.data["arm"][-1] == "early"


def test_the_area_of_one_run_is_its_score():
    study = synthetic()
    run = telling_run(study)
    figure = area_figure(study.envelopes, study.references[0].snapshot, run)
    time, gap = figure.data["time"].to_numpy(), figure.data["gap"].to_numpy()
    area = float(np.sum(np.diff(time) * gap[:-1])) / time[-1]
    assert area == pytest.approx(figure.score, abs=1e-12)
    row = study.scores[0].frame.row(
        by_predicate=(pl.col("arm") == run.arm) & (pl.col("instance") == run.instance) & (pl.col("seed") == run.seed),
        named=True,
    )
    assert figure.score == row["squeezed"]
    assert row["beaten"]
    with pytest.raises(UsageError, match="matches none"):
        area_figure(study.envelopes, study.references[0].snapshot, RunKey("nobody", "x", 1))


def test_an_empty_run_is_drawn_at_one_throughout():
    study = by_hand()
    figure = area_figure(study.envelopes, study.references[0].snapshot, RunKey("b", "i", 2))
    assert figure.data.rows() == [(0.0, 1.0), (10.0, 1.0)]
    assert figure.score == 1.0


def test_the_sweep_ends_at_the_mean_scores_and_marks_swaps_on_both_curves():
    study, analyses = synthetic(), synthetic_analyses()
    figure = sweep_figure(analyses.horizon, study.scores[0].reference)
    ends = {arm: part["score"][-1] for (arm,), part in figure.data.partition_by("arm", as_dict=True).items()}
    assert ends == pytest.approx(dict(study.summary.frame.select("arm", "squeezed").iter_rows()), abs=1e-12)
    assert figure.swaps.height == sum(len(swaps) for swaps in analyses.horizon.swaps.values()) > 0
    for (a, b), swaps in analyses.horizon.swaps.items():
        for swap in swaps:
            one, other = (float(analyses.horizon.curves[arm].at(swap.horizon)) for arm in (a, b))
            assert one == pytest.approx(other, abs=1e-9)


def test_segments_span_the_difference_that_the_screen_found():
    analyses = synthetic_analyses()
    figure = segment_figure(analyses.complementarity, analyses.folded_scores)
    rates = figure.data["attainment"].to_list()
    spans = [abs(rates[k] - rates[k + 1]) for k in range(0, len(rates), 2)]
    assert spans == pytest.approx(analyses.complementarity.contrasts["d_attainment"].to_list(), abs=1e-12)
    assert spans


def test_slopes_and_shift_show_the_pooled_means():
    study, analyses = synthetic(), synthetic_analyses()
    slopes = slope_figure(analyses.metrics, *next(iter(analyses.labels.items())))
    means = study.summary.frame.row(by_predicate=pl.col("arm") == "late", named=True)
    late = dict(slopes.data.filter(pl.col("arm") == "late").select("kernel", "score").iter_rows())
    assert late == pytest.approx({kernel: means[kernel] for kernel in slopes.kernels}, abs=1e-12)
    outside = slopes.data.filter(pl.col("envelope") != "inside")
    assert set(outside["kernel"]) == {"berthold"}
    shift = shift_figure(analyses.references, *analyses.labels.values(), kernel="squeezed")
    assert dict(shift.data.select("arm", "from").iter_rows()) == pytest.approx(
        dict(study.summary.frame.select("arm", "squeezed").iter_rows()), abs=1e-12
    )
    # A stronger target makes every score worse.
    assert all(to >= before for before, to in shift.data.select("from", "to").iter_rows())


def test_health_and_profile_keep_every_run_and_instance():
    study, analyses = synthetic(), synthetic_analyses()
    figure = health_figure(analyses.health, validation="checker")
    empty = figure.data.filter((pl.col("count") == "empty runs") & (pl.col("group") == "sliced"))
    assert empty["value"].to_list() == [4]
    profile = profile_figure(analyses.profile, study.scores[0].reference)
    assert profile.data["value"].max() <= 1.0
    assert all(a <= b for part in profile.data.partition_by("series") for a, b in pairwise(part["value"]))


def test_charts_compose_and_are_styled_as_a_whole():
    study = synthetic()
    snapshot = study.references[0].snapshot
    one = figures.mean_convergence(study.envelopes, snapshot, bands=True)
    other = figures.attainment(study.envelopes, snapshot, goals=[0.01, 0.05])
    specification = style((one | other) & figures.final_gaps(study.scores[0])).to_dict()
    assert "config" in specification
    assert specification["vconcat"][0]["hconcat"][0]["layer"]
    assert "config" not in json.dumps(specification["vconcat"])


def test_bands_leave_the_legend_to_the_lines():
    study = synthetic()
    specification = figures.mean_convergence(study.envelopes, study.references[0].snapshot, bands=True).to_dict()
    *bands, lines = specification["layer"]
    assert len(bands) == 4
    assert all("color" not in band["encoding"] and "fill" not in band["encoding"] for band in bands)
    assert lines["encoding"]["color"]["legend"]["orient"] == "bottom"


def test_more_arms_than_colours_still_differ():
    colour, dash = arm_scales([f"arm {k}" for k in range(40)])
    looks = [(shade, tuple(stroke)) for shade, stroke in zip(colour.range, dash.range, strict=True)]
    assert len(set(looks)) == 40


def test_every_figure_of_hostile_names_is_an_image_and_nothing_more(tmp_path):
    study = hostile()
    charts = study_figures(study, analyse(study), make_statements(study).order)
    assert {"mean-convergence", "score-intervals", "contrasts", "health", "gap-area"} <= set(charts)
    for name in ("score-intervals", "gap-area"):
        root = ET.parse(figures.write(charts[name], tmp_path / f"{name}.svg")).getroot()
        tags = {element.tag.rpartition("}")[2] for element in root.iter()}
        assert not tags & {"script", "img", "foreignObject", "image", "a"}
        assert any("onerror" in (element.text or "") for element in root.iter()) or name == "gap-area"


def test_titles_say_what_and_captions_under_which_choices():
    study = synthetic()
    charts = study_figures(study, synthetic_analyses(), synthetic_said().order)
    assert len(charts) == 12
    for name, chart in charts.items():
        title = chart.to_dict()["title"]
        caption = " ".join(title["subtitle"])
        assert title["text"], name
        assert "gapline" in caption, name
        if name != "health":
            # Complementarity is judged against the analysis reference, everything else against the declared one.
            label = study.folded.label if name == "complementarity" else study.references[0].label
            assert label.digest[:19] in caption, name


def test_long_curves_fit_a_notebook_and_keep_their_ends():
    """Altair refuses more than 5,000 rows; a campaign of 8,800 runs has a million steps."""
    parts = [
        pl.DataFrame({"series": [f"arm {k}"] * 3000, "time": np.arange(3000.0) + k, "value": np.linspace(1, 0, 3000)})
        for k in range(12)
    ]
    thin = thinned(pl.concat(parts))
    assert thin.height <= 5000
    ends = thin.group_by("series").agg(first=pl.col("time").min(), last=pl.col("time").max())
    assert {name: (first, last) for name, first, last in ends.iter_rows()} == {
        f"arm {k}": (k, 2999.0 + k) for k in range(12)
    }
    figure = CurveFigure(thin, "title", "caption", "time", "value")
    assert figures.style(draw_curves(figure)).to_dict()["layer"]

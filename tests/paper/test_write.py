from fractions import Fraction

import polars as pl
import pytest

from gapline.paper.companion import companion_figure
from gapline.paper.examples import HORIZON, PAIR, REFERENCE
from gapline.paper.log_weights import early_figure, end_figures
from gapline.paper.scale import landmark_table, scale_figure, shape_figure
from gapline.paper.synthetic import synthetic_campaign, synthetic_snapshot
from gapline.paper.two_regime import regime_figure
from gapline.paper.worked_example import worked_figure, worked_table
from gapline.paper.write import paper_figures
from report.report_studies import synthetic


def test_the_worked_example_is_the_papers_table():
    cells = [[cell.text for cell in row[2:]] for row in worked_table().rows]
    assert cells == [
        ["1", "1.00", "1.00", "1.00", "10.0", "100.0", "–"],
        ["0", "0.41", "0.53", "0.53", "10.0", "75.3", "–"],
        ["0", "-0.10", "-0.17", "0.23", "-18.3", "-16.0", "-0.16"],
    ]


def test_the_landmarks_are_the_papers_table():
    cells = [[cell.text for cell in row] for row in landmark_table().rows]
    assert cells == [
        ["-50%", "-33.33%"], ["-10%", "-5.26%"], ["-5%", "-2.56%"], ["0", "0"], ["5%", "2.44%"], ["10%", "4.76%"],
        ["100%", "33.33%"],
    ]  # fmt: skip


def test_the_tangent_touches_at_the_reference_and_the_landmarks_are_thirds():
    figure = scale_figure()
    assert figure.landmarks["squeezed"].to_list() == pytest.approx([1 / 3, -1 / 3])
    assert all(tangent >= exact - 1e-12 for _, exact, tangent in figure.curve.iter_rows())


def test_shapes_coincide_where_the_paper_says_so():
    wide = shape_figure().data.unique(["kernel", "ratio"]).pivot("kernel", index="ratio", values="gap").drop_nulls()
    above, below = wide.filter(pl.col("ratio") >= 1), wide.filter(pl.col("ratio") < 1)
    assert above["maxform"].to_list() == pytest.approx(above["berthold"].to_list())
    assert below["maxform"].to_list() == pytest.approx(below["raw"].to_list())
    assert wide.filter(pl.col("ratio") >= 1.1)["dimacs:1.1"].to_list() == pytest.approx(
        [0.1] * wide.filter(pl.col("ratio") >= 1.1).height
    )


def test_the_pair_has_exactly_equal_scores():
    def area(trace):
        ends = [Fraction(t) for t, _ in trace[1:]] + [Fraction(HORIZON)]
        star = Fraction(REFERENCE)
        return sum(
            (Fraction(z) - star) / (Fraction(z) + star) * (end - Fraction(t))
            for (t, z), end in zip(trace, ends, strict=True)
        )

    assert [area(trace) / Fraction(HORIZON) for trace in PAIR.values()] == [Fraction(1, 15), Fraction(1, 15)]
    figure = companion_figure()
    assert figure.ends["score"].to_list() == pytest.approx([1 / 15, 1 / 15], abs=1e-15)
    assert figure.ends["final_gap"].to_list() == pytest.approx([0.1, 0.0])
    hits = {
        (r["series"], r["goal"]): r["time"]
        for r in figure.attained.filter((pl.col("value") == 1) & (pl.col("time") < HORIZON)).iter_rows(named=True)
    }
    early, late = PAIR
    assert hits == {(early, 0.1): 2.0, (late, 0.1): 8.0, (late, 0.05): 15.0}


def test_the_early_cutoff_turns_the_sign_of_run_3():
    scores = early_figure().scores
    run = dict(scores.filter(pl.col("series") == "Run 3").select("weight", "value").iter_rows())
    assert run["uniform"] < 0 < run["early-log:0.01"]
    assert run["early-log:0.01"] > run["early-log:0.1"] > run["early-log:1"]


def test_end_weights_pull_to_the_final_gap_and_part_equal_scores():
    worked, pair = end_figures()
    run = worked.sweep.filter(pl.col("series") == "Run 3").sort("cutoff")["value"]
    assert run[0] == pytest.approx(-1 / 3, abs=0.06)
    assert run.is_sorted()
    early, late = PAIR
    at = dict(pair.sweep.filter(pl.col("cutoff") == 0.01).select("series", "value").iter_rows())
    assert at[late] < at[early]
    uniform = dict(pair.uniform.iter_rows())
    assert uniform[early] == pytest.approx(uniform[late], abs=1e-15)


def test_the_worked_figure_holds_to_the_horizon():
    figure = worked_figure()
    assert set(figure.objectives["series"]) == {"Run 2", "Run 3"}
    for part in figure.gaps.partition_by("run", "series"):
        assert part["time"].max() == HORIZON


def test_only_the_frozen_regime_goes_below_zero():
    figure = regime_figure(synthetic(), source="here")
    frozen, analysis = figure.regimes
    lowest = dict(figure.data.group_by("regime").agg(pl.col("value").min()).iter_rows())
    assert lowest[frozen] < 0 <= lowest[analysis]
    assert figure.caption.startswith("here: ")
    negative = (synthetic().scores[0].frame["squeezed"] < 0).sum()
    assert f"runs with a negative score: {negative}, 0" in figure.caption
    assert negative > 0


def test_the_built_in_campaign_is_the_same_everywhere():
    """The digest covers every number: a change of it changes the published figures."""
    assert synthetic_campaign().digest() == synthetic_campaign().digest()
    assert synthetic_snapshot().digest == "sha256:1848bee3a0100eec5a8a4c8187742eacbfe56a66e84a3416a01fdd40a70c7e60"


def test_all_figures_of_the_paper_are_drawn():
    charts = paper_figures(synthetic(), source="a campaign made up")
    assert list(charts) == [
        "scale-conversion", "gap-shapes", "worked-example", "two-regime", "companion", "metric-sensitivity",
        "early-log",
        "end-log",
    ]  # fmt: skip
    for name in ("two-regime", "metric-sensitivity"):
        assert "a campaign made up" in " ".join(charts[name].to_dict()["title"]["subtitle"])

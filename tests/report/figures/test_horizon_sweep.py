import pytest

from gapline.report.figures.sweeps import draw_sweep, sweep_figure
from report.report_studies import synthetic, synthetic_analyses


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


def test_a_swap_with_a_descriptive_arm_is_not_marked():
    figure = sweep_figure(synthetic_analyses().horizon, synthetic().scores[0].reference, descriptive=["sliced"])
    assert not any("sliced" in pair for pair in figure.swaps["pair"])


def test_on_logarithmic_time_the_curves_are_the_same_and_swaps_before_the_axis_are_counted():
    sweep, label = synthetic_analyses().horizon, synthetic().scores[0].reference
    last = max(swap.horizon for swaps in sweep.swaps.values() for swap in swaps)
    figure = sweep_figure(sweep, label, start=last * 1.01)
    assert figure.data["horizon"].min() == pytest.approx(last * 1.01)
    for (arm,), part in figure.data.partition_by("arm", as_dict=True).items():
        assert part["score"].to_list() == sweep.curves[arm].at(part["horizon"].to_numpy()).tolist()
    assert f"{figure.swaps.height} of them before the axis begins" in figure.caption
    assert "logarithmic time from" in figure.caption
    drawn = draw_sweep(figure).to_dict()
    assert drawn["datasets"][drawn["layer"][1]["data"]["name"]] == []

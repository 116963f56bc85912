from gapline.report.drawing import style
from gapline.report.figures.sweeps import cutoff_figure, draw_cutoffs
from study.test_cutoff_sweep import analysed


def test_the_curves_the_declared_weight_and_the_swaps_inside_the_grid():
    analysis = analysed(cutoffs=[0.1, 2.0])
    label = analysis.study.references[0].label
    figure = cutoff_figure(analysis.cutoffs, label)
    assert figure.data["cutoff"].n_unique() == 61
    assert dict(figure.baseline.iter_rows()) == analysis.cutoffs.baseline
    assert figure.swaps["pair"].to_list() == ["early better below, late above"]
    # Beyond the grid a swap has no place on the axis.
    assert cutoff_figure(analysed(cutoffs=[0.1, 1.0]).cutoffs, label).swaps.height == 0
    drawn = style(draw_cutoffs(figure)).to_dict()
    assert len(drawn["hconcat"]) == 2


def test_one_cutoff_and_horizons_that_differ_are_drawn_too():
    analysis = analysed(horizons=(10.0, 20.0), cutoffs=[0.1])
    drawn = draw_cutoffs(cutoff_figure(analysis.cutoffs, analysis.study.references[0].label)).to_dict()
    assert len(drawn["hconcat"]) == 2

import polars as pl

from gapline.report.paper.sensitivity import regime_figure
from report.report_studies import synthetic


def test_only_the_frozen_regime_goes_below_zero():
    figure = regime_figure(synthetic(), source="here")
    frozen, analysis = figure.names
    lowest = dict(figure.data.group_by("regime").agg(pl.col("value").min()).iter_rows())
    assert lowest[frozen] < 0 <= lowest[analysis]
    assert figure.caption.startswith("here: ")
    negative = (synthetic().scores[0].frame["squeezed"] < 0).sum()
    assert f"runs with a negative score: {negative}, 0" in figure.caption
    assert negative > 0

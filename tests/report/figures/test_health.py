import polars as pl

from gapline.report.figures.health import health_figure
from report.report_studies import synthetic_analyses


def test_an_empty_run_is_counted_with_its_arm():
    analyses = synthetic_analyses()
    figure = health_figure(analyses.health, validation="checker")
    empty = figure.data.filter((pl.col("count") == "empty runs") & (pl.col("group") == "sliced"))
    assert empty["value"].to_list() == [4]

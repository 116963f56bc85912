import polars as pl
import pytest

from gapline.report.figures.sensitivity import slope_figure
from report.report_studies import synthetic, synthetic_analyses


def test_slopes_show_the_pooled_means_and_mark_what_is_out_of_its_envelope():
    study, analyses = synthetic(), synthetic_analyses()
    slopes = slope_figure(analyses.metrics, *next(iter(analyses.labels.items())))
    means = study.summary.frame.row(by_predicate=pl.col("arm") == "late", named=True)
    late = dict(slopes.data.filter(pl.col("arm") == "late").select("kernel", "score").iter_rows())
    assert late == pytest.approx({kernel: means[kernel] for kernel in slopes.names}, abs=1e-12)
    outside = slopes.data.filter(pl.col("envelope") != "inside")
    assert set(outside["kernel"]) == {"berthold"}

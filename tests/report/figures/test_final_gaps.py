import polars as pl
import pytest

from gapline.report.figures.distributions import final_gap_figure
from report.report_studies import by_hand


def test_final_gaps_end_at_the_share_of_runs_that_found_something():
    figure = final_gap_figure(by_hand().scores[0])
    last = {series: part["value"][-1] for (series,), part in figure.data.partition_by("series", as_dict=True).items()}
    assert last == pytest.approx({"a": 1.0, "b": 0.75})
    # b ends 20 % above on i, 5 % below and exactly at the reference on j.
    b = figure.data.filter(pl.col("series") == "b")
    assert b["time"].to_list()[1:-1] == pytest.approx([-0.05, 0.0, 0.2])
    assert b["value"].to_list()[1:-1] == pytest.approx([0.25, 0.5, 0.75])
    assert "1 of 8 runs are empty" in figure.caption

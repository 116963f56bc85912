"""The forest of ratings."""

import pytest

from gapline.report.figures.intervals import draw_ratings, rating_figure
from report.classical_study import classical


def test_the_forest_has_every_rated_arm_with_its_interval_best_first():
    found = classical().ratings
    figure = rating_figure(found)
    assert figure.data["arm"].to_list() == found.frame["arm"].to_list()
    assert figure.data["rating"].is_sorted(descending=True)
    row = figure.data.row(0, named=True)
    assert row["low"] <= row["rating"] <= row["high"]
    assert row["text"] == f"{row['rating']:.0f} [{row['low']:.0f}, {row['high']:.0f}]"
    assert "never lost" in figure.caption
    assert figure.data["rating"].mean() == pytest.approx(1500)
    assert draw_ratings(figure, best=["best", "good", "fair", "slow", "other"]).to_dict()["layer"]

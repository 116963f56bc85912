"""The map of the difference of two attainment functions."""

import numpy as np
import pytest

from gapline.report.figures.attainment_difference import difference_figure, difference_map, draw_difference
from report.classical_study import classical


def test_every_cell_has_the_difference_at_its_middle():
    pair = classical().attainment_differences[0]
    found = difference_map(pair, columns=11, rows=7)
    rectangles = pair.rectangles().to_dicts()
    for i in range(11):
        for j in range(7):
            time, gap = (found.times[i] + found.times[i + 1]) / 2, (found.gaps[j] + found.gaps[j + 1]) / 2
            inside = [
                row["difference"]
                for row in rectangles
                if row["time"] <= time < row["until"] and row["gap"] <= gap
                and (row["below"] is None or gap < row["below"])
            ]  # fmt: skip
            assert found.shares[i, j] == pytest.approx(sum(inside), abs=1e-12)


def test_the_figure_has_the_cells_that_differ_and_names_both_arms():
    analysis = classical()
    figure = difference_figure(analysis.attainment_differences[0], analysis.study.reading.line())
    assert figure.data.height < 5000
    assert not np.any(figure.data["difference"].to_numpy() == 0)
    assert figure.names == ("best", "good")
    assert "every run alike" in figure.caption
    assert draw_difference(figure).to_dict()["mark"]["type"] == "rect"


def test_declared_contrasts_are_drawn_or_else_the_two_best_arms():
    assert [(pair.a, pair.b) for pair in classical().attainment_differences] == [("best", "good"), ("fair", "slow")]
    assert [(pair.a, pair.b) for pair in classical(contrasts=()).attainment_differences] == [("best", "good")]

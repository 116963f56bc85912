"""The map of the difference of two attainment functions."""

import re

import numpy as np
import polars as pl
import pytest

from gapline.report.canvas import Canvas
from gapline.report.drawing import style, write_drawing
from gapline.report.figures.attainment_difference import difference_figure, difference_map, draw_difference
from gapline.report.fit_chart import IN_GREY
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
    cells, dots = draw_difference(figure).to_dict()["layer"]
    assert cells["mark"]["type"] == "rect"
    assert (dots["mark"]["opacity"], dots["mark"]["style"]) == (0, IN_GREY)


def test_in_grey_dots_say_which_arm_attains_more(tmp_path):
    analysis = classical()
    figure = difference_figure(analysis.attainment_differences[0], analysis.study.reading.line())
    less = figure.data.filter(pl.col("difference") < 0).height
    assert 0 < less < figure.data.height
    for grey in (False, True):
        write_drawing(style(draw_difference(figure)), tmp_path / "map.svg", canvas=Canvas(8.5, grey=grey))
        drawing = (tmp_path / "map.svg").read_text()
        # A circle is a path with arcs.
        assert (
            len(re.findall(r'<path aria-label="[^"]*" role="graphics-symbol" aria-roledescription="circle"', drawing))
            == less * grey
        )
        assert ("good attains more (dotted)" in re.sub(r"<[^>]*>", "", drawing)) == grey


def test_declared_contrasts_are_drawn_or_else_the_two_best_arms():
    assert [(pair.a, pair.b) for pair in classical().attainment_differences] == [("best", "good"), ("fair", "slow")]
    assert [(pair.a, pair.b) for pair in classical(contrasts=()).attainment_differences] == [("best", "good")]

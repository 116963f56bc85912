"""The map of the difference of two attainment functions."""

import re

import numpy as np
import polars as pl
import pytest

from gapline.measures.attainment_surface import attainment_difference
from gapline.report.canvas import Canvas
from gapline.report.drawing import style, write_drawing
from gapline.report.figures.attainment_difference import difference_figure, difference_map, draw_difference
from gapline.report.fit_chart import IN_GREY
from gapline.report.looks import COLOURS, looks_of
from gapline.report.page.classical import difference_svg
from gapline.report.page.seal import read_part
from report.classical_study import STARTS, classical


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


@pytest.mark.parametrize("pair", [("best", "good"), ("good", "best"), ("fair", "slow"), ("slow", "best")])
def test_each_arm_has_the_colour_that_it_has_everywhere(pair):
    """More than zero is where the first arm attains more, also where it comes second among all arms."""
    study = classical().study
    colours = {arm: look.colour for arm, look in looks_of(study.arms, study.arms).items()}
    found = attainment_difference(study.envelopes, study.snapshot, *pair, relative=study.relative)
    drawn = draw_difference(difference_figure(found, ""), arms=study.arms).to_dict()
    cells, _ = drawn["layer"]
    scale = cells["encoding"]["color"]["scale"]
    assert scale["domain"][0] < 0 < scale["domain"][2]
    assert scale["range"] == [colours[pair[1]], "#ffffff", colours[pair[0]]]
    assert cells["encoding"]["color"]["legend"]["title"][1:] == [
        f"+ {pair[0]} attains more", f"− {pair[1]} attains more"
    ]  # fmt: skip
    # At the end the gap of an arm is a tenth of its start: half-way between two of them, one arm attains all, one none.
    ends = [STARTS[arm] / 10 for arm in pair]
    (share,) = found.at(np.array([19.9]), np.array([sum(ends) / 2]))[0]
    assert share == (1.0 if ends[0] < ends[1] else -1.0)
    # The page draws the same boxes in the same colours.
    page = difference_svg(found, arms=study.arms)
    assert [(COLOURS[int(shade.removeprefix("arm-"))], arm) for shade, arm in page["arms"]] == [
        (colours[arm], arm) for arm in pair
    ]  # fmt: skip
    for shade, x, y, wide, high, _ in page["boxes"]:
        grid = difference_map(found, columns=64, rows=40)
        left, top, width, height = page["frame"]
        share = grid.shares[int((x + 0.1 - left) / width * 64), int((top + height - y - high / 2) / height * 40)]
        assert shade == page["arms"][0 if share > 0 else 1][0], (x, y, wide)


def test_arms_of_one_colour_are_told_apart_by_dots():
    """The ninth arm of a study has the colour of the first."""
    found = classical().attainment_differences[0]
    arms = ["best", *(f"c{k}" for k in range(7)), "good"]
    cells, dots = draw_difference(difference_figure(found, ""), arms=arms).to_dict()["layer"]
    low, _, high = cells["encoding"]["color"]["scale"]["range"]
    assert low == high == COLOURS[0]
    assert cells["encoding"]["color"]["legend"]["title"][2] == "− good attains more (dotted)"
    assert dots["mark"]["opacity"] == 1
    page = difference_svg(found, arms=arms)
    assert page["arms"] == [("arm-0", "best"), ("arm-0", "good (dotted)")]
    assert len(page["dots"]) == int((difference_map(found, columns=64, rows=40).shares < 0).sum()) > 0
    assert difference_svg(found, arms=["best", "good"])["dots"] == []


def test_the_page_has_the_colours_of_the_arms():
    style = read_part("page.css")
    assert [re.search(rf"--arm-{k}: (#\w+);", style)[1].upper() for k in range(8)] == list(COLOURS)


@pytest.mark.slow
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

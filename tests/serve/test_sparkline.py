"""A curve in one line."""

from gapline.serve.sparkline import HEIGHTS, sparkline


def test_it_falls_as_the_curve_does():
    drawn = sparkline([0.0, 2.5, 5.0, 7.5], [1.0, 0.6, 0.3, 0.0], end=10.0, width=4)
    assert drawn == "█▅▃▁"
    assert [HEIGHTS.index(letter) for letter in drawn] == [7, 4, 2, 0]


def test_below_zero_the_bottom_is_lower():
    assert sparkline([0.0, 5.0], [0.0, -1.0], end=10.0, width=2) == "▅▁"


def test_without_a_curve_there_is_none():
    assert sparkline([], [], end=10.0) == sparkline([0.0], [1.0], end=0.0) == ""

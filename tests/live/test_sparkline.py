"""A curve in one line."""

from gapline.live.watch import HEIGHTS, sparkline


def test_it_falls_as_the_curve_does():
    drawn = sparkline([0.0, 2.5, 5.0, 7.5], [1.0, 0.6, 0.3, 0.0], end=10.0, width=4)
    assert drawn == "█▅▃▁"
    assert [HEIGHTS.index(letter) for letter in drawn] == [7, 4, 2, 0]


def test_below_zero_the_bottom_is_lower():
    assert sparkline([0.0, 5.0], [0.0, -1.0], end=10.0, width=2) == "▅▁"


def test_a_lower_top_lets_small_values_be_seen():
    time, value = [0.0, 1.0, 5.0], [1.0, 0.2, 0.1]
    assert sparkline(time, value, end=10.0, width=2) == "▂▁"
    assert sparkline(time, value, end=10.0, width=2, top=0.2) == "█▅"
    # What is higher than that is no reason to draw beyond the top.
    assert sparkline(time, value, end=10.0, width=2, top=0.0) == "█▅"
    assert sparkline([0.0], [0.0], end=10.0, width=2, top=0.0) == "▁▁"


def test_without_a_curve_there_is_none():
    assert sparkline([], [], end=10.0) == sparkline([0.0], [1.0], end=0.0) == ""

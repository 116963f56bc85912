import numpy as np
import pytest

from crowded_traces import crowd_names
from gapline.report.looks import LETTERS
from gapline.report.terminal_plot import StepCurve, plot_steps
from pseudo_terminal import on_terminal


def curve(name, *steps):
    time, value = zip(*steps, strict=True)
    return StepCurve(name, np.array(time, float), np.array(value, float))


def test_each_value_holds_to_the_next_time_and_the_last_to_the_end():
    """Four characters are eight columns of dots over 8 s: the fall at 4 s is at the third character."""
    text = plot_steps([curve("a", (0, 1), (4, 0))], end=8.0, title="t", width=4, height=1)
    assert text.splitlines()[1] == "0.00 ┤⠉⠉⣇⣀"


def test_logarithmic_time_gives_every_decade_the_same_room():
    """Eight columns of dots from 1 to 16 s are half an octave each: the fall at 4 s is at the third character."""
    text = plot_steps([curve("a", (0, 1), (4, 0))], start=1.0, end=16.0, title="t", width=4, height=1)
    assert text.splitlines()[1] == "0.00 ┤⠉⠉⣇⣀"
    wide = plot_steps([curve("a", (0, 1))], start=0.01234, end=16.0, title="t", width=40).splitlines()
    assert wide[-2].split() == ["0.0123", "logarithmic", "time", "16", "s"]
    assert len(wide[-2]) == len(wide[-3])


def test_zero_is_labelled_where_the_curves_cross_it():
    lines = plot_steps([curve("a", (0, 1), (5, -1))], end=10.0, title="t", height=5).splitlines()
    assert [line.split(" ┤")[0].strip() for line in lines[1:6]] == ["1.00", "", "0.00", "", "-1.00"]


def test_a_flat_curve_lies_in_the_middle():
    lines = plot_steps([curve("a", (0, 0.3))], end=1.0, title="t", height=9).splitlines()
    assert (lines[1].split(" ┤")[0], lines[9].split(" ┤")[0]) == (" 0.80", "-0.20")
    assert [k for k, line in enumerate(lines[1:10]) if line.split(" ┤")[1]] == [4]


def test_values_outside_the_given_bounds_are_drawn_at_the_edge():
    inside = plot_steps([curve("a", (0, 1))], end=1.0, title="t", low=0.0, high=1.0)
    assert plot_steps([curve("a", (0, 7))], end=1.0, title="t", low=0.0, high=1.0) == inside


def test_a_name_is_no_markup_and_sends_nothing_to_the_terminal():
    text = plot_steps([curve("[red]\x1b[31m", (0, 1))], end=1.0, title="t", colour=True)
    assert "\\[red]" in text
    assert "\x1b" not in text


def many(count):
    return [curve(name, (0, 1), (1 + k, 0.1 * k)) for k, name in enumerate(crowd_names(count))]


@pytest.mark.parametrize("room", [60, 80, 120])
@pytest.mark.parametrize("count", [1, 4, 20])
def test_a_plot_is_as_wide_as_its_room_with_a_letter_for_each_curve(room, count):
    text = plot_steps(many(count), end=30.0, title="mean gap", room=room, letters=True)
    lines = text.splitlines()
    assert max(map(len, lines)) == room
    drawn = "".join(line.partition("┤")[2] for line in lines)
    assert set(drawn) - {" "} <= set(LETTERS[:count])
    assert len(set(drawn) - {" "}) > count / 2
    assert all(f"{LETTERS[k]} " in text for k in range(count))


PLOT = """
import sys
import numpy as np
from gapline.report.terminal_plot import StepCurve, print_plot
curves = [StepCurve(f"arm {k}", np.array([0.0, 1.0 + k]), np.array([1.0, 0.1 * k])) for k in range(int(sys.argv[1]))]
print_plot(curves, end=30.0, title="gap", arms=sys.argv[2].split(",") if len(sys.argv) > 2 else ())
"""


@pytest.mark.slow
def test_colours_tell_few_curves_apart_and_letters_where_there_are_none():
    coloured, _ = on_terminal(PLOT, 3, columns=70)
    assert "\x1b[34m" in coloured
    assert "⠉" in coloured
    for settings in ({"NO_COLOR": "1"}, {"TERM": "dumb"}):
        plain, _ = on_terminal(PLOT, 3, columns=70, **settings)
        assert "\x1b[3" not in plain
        assert "⠉" not in plain
        assert " A arm 0   B arm 1   C arm 2" in plain
        assert max(map(len, plain.splitlines())) == 70


def test_more_curves_than_colours_have_letters_in_colours():
    text, _ = on_terminal(PLOT, 9, columns=70)
    assert "\x1b[34mA\x1b[0m" in text
    assert "\x1b[34mI\x1b[0m" in text


@pytest.mark.slow
def test_a_curve_keeps_colour_and_letter_of_its_arm_whoever_is_left_out():
    arms = ",".join(["left out", "arm 0", "arm 1"])
    text, _ = on_terminal(PLOT, 2, arms, columns=70)
    assert "\x1b[31m━\x1b[0m arm 0   \x1b[32m━\x1b[0m arm 1" in text
    plain, _ = on_terminal(PLOT, 2, arms, columns=70, NO_COLOR="1")
    assert " B arm 0   C arm 1" in plain


def test_curves_of_one_colour_have_letters_however_few_they_are():
    text, _ = on_terminal(PLOT, 2, ",".join(["arm 0", *"bcdefgh", "arm 1"]), columns=70)
    assert "\x1b[34mA\x1b[0m arm 0   \x1b[34mI\x1b[0m arm 1" in text

"""`gapline scale`: both directions, scores below zero, JSON."""

import json

from gapline.cli.app import run


def test_a_score_is_shown_as_the_raw_gap_of_every_kernel(capsys):
    assert run(["scale", "0.05"]) == 0
    out = capsys.readouterr().out
    assert " ".join(out.splitlines()[3].split()) == "0.05 10.53 % 5.263 % 5.263 % or -5.000 % 5 % 5 % 5 %"
    assert "berthold: an improvement on the reference reads as a loss." in out


def test_a_score_below_zero_is_no_option_and_a_goal_is_a_raw_gap(capsys):
    assert run(["scale", "-0.2", "--goal", "0.01", "--kernel", "squeezed", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["scale"]
    assert [(row["given"], row["kernel"]) for row in rows] == [("score", "squeezed"), ("raw gap", "squeezed")]
    assert round(rows[0]["raw_gap"], 12) == round(-1 / 3, 12)
    assert round(rows[1]["score"], 12) == round(1 / 201, 12)


def test_without_a_number_the_landmarks_of_the_paper(capsys):
    assert run(["scale"]) == 0
    out = capsys.readouterr().out
    assert "-0.33333" in out
    assert "0.10000 (saturated)" in out


def test_mistakes_are_named(capsys):
    assert run(["scale", "0.05", "--kernel", "squeezd"]) == 2
    assert "did you mean 'squeezed'?" in capsys.readouterr().err
    assert run(["scale", "--raw-gapp", "3"]) == 2
    assert "--raw-gapp" in capsys.readouterr().err

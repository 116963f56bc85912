"""The summary of an analysis: one screen, whatever the study."""

from itertools import pairwise

import pytest

import gapline as gl
from crowded_traces import write_crowd
from gapline.analysis.analyse import analyse
from gapline.report.screenful import MOST, screenful
from report.report_studies import by_hand, hostile
from terminal_laws import beyond


def crowd(folder, arms):
    write_crowd(folder, arms)
    return analyse(gl.open_study(str(folder / "traces.csv"), references=str(folder / "refs.csv"), draws=100))


@pytest.mark.parametrize("arms", [4, 9, 20])
def test_a_screen_holds_it_at_every_width(tmp_path, arms):
    analysis = crowd(tmp_path, arms)
    for room in (60, 80, 120):
        lines = screenful(analysis, room)
        assert len(lines) - 1 <= MOST
        assert beyond("\n".join(lines), room) == []


def test_it_says_who_leads_what_is_settled_what_flips_and_what_is_broken(tmp_path):
    lines = screenful(crowd(tmp_path, 4), 100)
    heads = [line for before, line in pairwise(lines) if not before]
    assert " are not told apart: " in heads[0] or " is ahead of " in heads[0]
    assert [head.split(":")[0].split(",")[0] for head in heads[1:]] == [
        "Settled", "Flips under another choice", "Broken", "Tables", "Reading",
    ]  # fmt: skip
    text = "\n".join(lines)
    assert "2 empty" in text
    assert "candidates rejected" in text
    assert "--table NAME prints one, --all every one" in " ".join(text.split())


def test_a_settled_pair_names_the_better_arm_first(tmp_path):
    rows = ["arm,instance,seed,time,objective,valid,horizon"]
    for i in range(8):
        rows += [f"slow,i{i},1,{5 + i / 10},150,true,10", f"fast,i{i},1,{1 + i / 20},120,true,10"]
    (tmp_path / "traces.csv").write_text("\n".join(rows) + "\n")
    (tmp_path / "refs.csv").write_text("instance,value\n" + "".join(f"i{i},100\n" for i in range(8)))
    study = gl.open_study(str(tmp_path / "traces.csv"), references=str(tmp_path / "refs.csv"))
    text = "\n".join(screenful(analyse(study), 100))
    assert "Settled: 1 of 1 pair" in text
    assert "  fast before slow: +0." in text
    assert "Flips under another choice: 0 of 1 pair" in text


def test_what_no_interval_can_say_is_not_called_settled():
    text = "\n".join(screenful(analyse(by_hand()), 80))
    assert "Settled: 0 of 1 pair" in text


def test_hostile_names_stay_names():
    assert not any("\x1b" in line for line in screenful(analyse(hostile()), 80))

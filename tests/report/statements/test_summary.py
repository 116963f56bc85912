"""The summary of an analysis: one screen, whatever the study."""

from itertools import pairwise

import pytest

import gapline as gl
from crowded_traces import write_crowd
from gapline.report.statements.summary import MOST, screenful
from gapline.study.analyse import analyse
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
    assert heads[0] == "9 of 48 runs beat their references."
    assert "cannot be distinguished from" in heads[1] or " is ahead of " in heads[1]
    assert [head.split(":")[0].split(",")[0] for head in heads[2:]] == [
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


def by_shift(**shifts):
    """Analyse arms on six instances, each later than arm a: by nearly the same time, or by one for each instance."""
    late = {arm: [by * (1 + k / 10) for k in range(6)] if isinstance(by, float) else by for arm, by in shifts.items()}
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 10, "trace": [(1 + k + times[k], 120.0)]}
        for arm, times in ({"a": [0.0] * 6} | late).items() for k in range(6)
    ]  # fmt: skip
    snapshot = gl.Snapshot.from_values({f"i{k}": 100.0 for k in range(6)}, name="known")
    return analyse(gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot]))


def test_ties_are_no_flips():
    text = " ".join(" ".join(screenful(by_shift(b=0.0, c=0.0), 100)).split())
    assert "3 arms: no difference in any cell" in text
    assert "Settled: 0 of 3 pairs" in text
    assert "; 3 pairs tied" in text
    assert "Flips under another choice: 0 of 3 pairs" in text
    assert "Flips under another choice: 0 of 3 pairs" in " ".join(screenful(by_shift(b=0.0, c=1.0), 100))


def test_settled_pairs_have_the_adjustment_of_the_ranking():
    """Of two arms the interval of a − b excludes 0, and the pair is settled; with a third one the place is open."""
    head = "Settled: {} of {} (the interval excludes 0, Holm-adjusted, and no choice flips it)"
    far = by_shift(b=0.5, c=1.5)
    assert head.format(3, "3 pairs") in " ".join(screenful(far, 120))
    close = [0.8, 0.1, 0.7, 0.2, 0.5, 0.1]
    two, three = by_shift(b=close), by_shift(b=close, c=close[::-1])
    for analysis in (two, three):
        row = analysis.study.contrasts.frame.row(0, named=True)
        assert (row["a"], row["b"]) == ("a", "b")
        assert row["high"] < 0
    assert head.format(1, "1 pair") in " ".join(screenful(two, 120))
    assert " is ahead of " in screenful(two, 120)[1]
    assert head.format(0, "3 pairs") in " ".join(screenful(three, 120))
    assert screenful(three, 120)[1] == "a has the lowest mean; 2 of 3 arms cannot be distinguished from it"


def test_what_no_interval_can_say_is_not_called_settled():
    text = "\n".join(screenful(analyse(by_hand()), 80))
    assert "Settled: 0 of 1 pair" in text


def test_hostile_names_stay_names():
    assert not any("\x1b" in line for line in screenful(analyse(hostile()), 80))

"""Ranks while runs are open are over the cells that every ranked arm has finished, and every output says so."""

import pytest

from gapline.live.state import LiveStudy
from gapline.live.watch import screen_lines
from gapline.report.order import order_arms
from gapline.study import open_study
from live_studies import live_study, still


@pytest.fixture
def study(tmp_path):
    with live_study(tmp_path / "study", instances={"i1": 10.0, "i2": 10.0}) as written:
        yield written


def ranks_of(state, kernel="squeezed"):
    return {arm: one["rank"] for arm, one in state["ranking"]["arms"].get(kernel, {}).items()}


def test_an_arm_that_ran_the_easy_instance_first_is_not_ahead(study):
    """b is worse on the instance that both ran, and its mean is the lower one so far."""
    live = LiveStudy(study.path, clock=still)
    study.run("a/i1/1", [(0.0, 11.0)])
    study.run("a/i2/1", [(0.0, 40.0)])
    study.run("b/i1/1", [(0.0, 12.0)])
    state = live.look()
    means = {row["arm"]: row["scores"]["squeezed"] for row in state["arms"]}
    assert means["b"] < means["a"]
    assert ranks_of(state) == {"a": 1, "b": 2}
    words = "ranked on 1 of 2 cells, those that both arms have finished so far"
    assert (state["ranking"]["cells"], state["ranking"]["planned"], state["ranking"]["words"]) == (1, 2, words)
    assert state["ranking"]["arms"]["squeezed"]["a"]["mean"] == pytest.approx(1 / 21)
    lines = screen_lines(state, width=100)
    table = [line.split()[:5] for line in lines if line.split()[:1] in (["rank"], ["1"], ["2"])]
    assert table == [
        ["rank", "arm", "runs", "squeezed", "common"],
        ["1", "a", "2", "0.32381", "0.0476"],
        ["2", "b", "1", "0.09091", "0.0909"],
    ]
    assert words in lines


def test_without_a_common_cell_there_is_no_rank(study):
    live = LiveStudy(study.path, clock=still)
    study.run("b/i1/1", [(0.0, 11.0)])
    study.run("a/i2/1", [(0.0, 40.0)])
    state = live.look()
    assert (ranks_of(state), state["ranking"]["cells"]) == ({}, 0)
    lines = screen_lines(state, width=100)
    assert "no rank yet: both arms have finished no cell in common" in lines
    assert not any(line.startswith("rank ") for line in lines)
    # In the order of their names, which says nothing of their means.
    assert [line.split()[0] for line in lines if line[:2] in ("a ", "b ")] == ["a", "b"]


def test_where_no_run_found_a_solution_there_is_no_rank(study):
    """As `score` has it (`InstanceSet.reason`)."""
    live = LiveStudy(study.path, clock=still)
    for name in ("a/i1/1", "b/i1/1", "a/i2/1"):
        study.run(name, [])
    state = live.look()
    assert (ranks_of(state), state["ranking"]["words"]) == ({}, "no rank yet: no run found a solution")
    study.run("b/i2/1", [])
    state = live.look()
    assert (ranks_of(state), state["ranking"]["words"]) == ({}, "no rank: no run found a solution")
    assert open_study(str(study.path)).instance_set.reason == "no run found a solution"


def test_in_the_end_the_ranks_are_those_of_score(study):
    live = LiveStudy(study.path, clock=still)
    for cell in study.cells:
        study.run(str(cell.key), [(0.0, 11.0 if cell.arm.name == "b" else 12.0)])
    state = live.look()
    assert state["ranking"]["words"] == "ranked on all 2 cells"
    assert ranks_of(state) == order_arms(open_study(str(study.path)).summary).ranks == {"b": 1, "a": 2}


def test_berthold_ranks_nothing_where_a_reference_is_beaten(tmp_path):
    with live_study(tmp_path / "study", kernels=("berthold", "squeezed"), instances={"i1": 10.0}) as study:
        study.run("a/i1/1", [(0.0, 9.0)])
        study.run("b/i1/1", [(0.0, 12.0)])
        state = LiveStudy(study.path, clock=still).look()
    assert ranks_of(state, "berthold") == {"a": None, "b": None}
    assert ranks_of(state) == {"a": 1, "b": 2}
    decided = {kernel: [pair["better"] for pair in found["pairs"]] for kernel, found in state["bounds"].items()}
    assert decided == {"berthold": [], "squeezed": ["a"]}


def test_berthold_ranks_nothing_where_the_arm_that_is_ahead_of_time_beat_a_reference(tmp_path):
    """a has finished both instances and b one: they are ranked on that one, by what they are to run."""
    with live_study(tmp_path / "study", kernels=("berthold",), instances={"i1": 10.0, "i2": 10.0}) as study:
        study.run("a/i1/1", [(0.0, 9.0)])
        study.run("a/i2/1", [(0.0, 12.0)])
        study.run("b/i1/1", [(0.0, 12.0)])
        state = LiveStudy(study.path, clock=still).look()
    assert state["ranking"]["cells"] == 1
    assert ranks_of(state, "berthold") == {"a": None, "b": None}
    assert state["bounds"]["berthold"]["pairs"] == []


def test_one_arm_has_no_rank_and_nothing_is_said_of_it(tmp_path):
    with live_study(tmp_path / "study", arms=("a",)) as study:
        study.run("a/i1/1", [(0.0, 12.0)])
        state = LiveStudy(study.path, clock=still).look()
    assert state["ranking"] | {"planned": 0} == {"cells": 0, "planned": 0, "arms": {}, "words": ""}


def allot(study, arm, line):
    """Give an arm instances or seeds of its own."""
    contract = study.path / "study.toml"
    contract.write_text(contract.read_text().replace(f'name = "{arm}"', f'name = "{arm}"\n{line}'))


def test_an_arm_of_other_instances_is_neither_ranked_nor_decided(tmp_path):
    with live_study(tmp_path / "study", arms=("a", "b", "c"), instances={"i": 10.0, "j": 10.0, "k": 10.0}) as study:
        for arm, names in (("a", "ij"), ("b", "ij"), ("c", "k")):
            allot(study, arm, f"instances = {list(names)}")
        for cell in study.cells:
            study.run(str(cell.key), [(1.0, 20.0 - ord(cell.arm.name) % 7)])
        state = LiveStudy(study.path, clock=still).look()
    assert sorted(ranks_of(state)) == ["a", "b"]
    assert state["ranking"]["words"] == "ranked on all 2 cells; other instances, not ranked: c"
    assert [(pair["a"], pair["b"]) for pair in state["bounds"]["squeezed"]["pairs"]] == [("a", "b")]


def test_runs_that_have_not_ended_rank_nobody(tmp_path):
    with live_study(tmp_path / "study", instances={"i": 10.0}) as study:
        for arm, objective in (("a", 20.0), ("b", 15.0)):
            study.begin(f"{arm}/i/1")
            study.say(f"{arm}/i/1", 1.0, objective)
        state = LiveStudy(study.path, clock=still).look()
    assert ranks_of(state) == {}
    assert state["ranking"]["words"] == "no rank yet: both arms have finished no cell in common"


def test_no_two_arms_on_the_same_instances_rank_nobody(tmp_path):
    with live_study(tmp_path / "study", instances={"i": 10.0, "j": 10.0}) as study:
        allot(study, "a", 'instances = ["i"]')
        allot(study, "b", 'instances = ["j"]')
        study.run("a/i/1", [(1.0, 20.0)])
        study.run("b/j/1", [(1.0, 12.0)])
        state = LiveStudy(study.path, clock=still).look()
    assert state["ranking"]["words"] == "no rank: no two arms ran the same instances"
    assert state["bounds"]["squeezed"]["pairs"] == []


def test_where_an_arm_has_fewer_seeds_the_ranks_in_the_end_are_those_of_score(tmp_path):
    """Nothing is to come: a seed that an arm never had is noted there, and leaves out nothing here."""
    with live_study(tmp_path / "study", instances={"i": 10.0}, seeds=(1, 2)) as study:
        allot(study, "b", "seeds = [1]")
        study.run("a/i/1", [(0.0, 20.0)])
        study.run("b/i/1", [(0.0, 15.0)])
        study.begin("a/i/2")
        study.say("a/i/2", 0.0, 11.0)
        live = LiveStudy(study.path, clock=still)
        state = live.look()
        assert (ranks_of(state), state["ranking"]["cells"]) == ({"a": 2, "b": 1}, 1)
        assert state["ranking"]["words"] == "ranked on 1 of 2 cells, those that both arms have finished so far"
        study.end("a/i/2")
        state = live.look()
        order = order_arms(open_study(str(study.path)).summary)
    assert ranks_of(state) == order.ranks == {"a": 1, "b": 2}
    assert state["ranking"]["arms"]["squeezed"]["a"]["mean"] == state["arms"][0]["scores"]["squeezed"]
    assert (state["ranking"]["cells"], state["ranking"]["words"]) == (2, "ranked on all 2 cells")

"""Ladders: what each step delivers, and that the campaign itself is counted without them."""

import polars as pl
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.study.analyse import analyse
from gapline.study.ladders import study_ladders
from study.ladder_study import TRACES, ladder_study


@pytest.fixture
def study(tmp_path):
    return ladder_study(tmp_path)


def test_steps_stand_in_the_order_of_their_settings_with_their_counts(study):
    """Half of the runs of 96 slices are valid by 3 s; of 5 slices none ever is, of 24 the one that was run at 6 s."""
    (ladder,) = study_ladders(study).values()
    names = ("slices", "arm", "runs", "instances", "captured", "rejected", "terminal_invalid", "empty", "first_valid")
    assert ladder.frame.select(names).rows() == [
        (5, "sliced 5", 2, 1, 2, 2, 1, 2, None),
        (24, "sliced 24", 1, 1, 1, 0, 0, 0, 6.0),
        (96, "sliced 96", 2, 1, 3, 1, 1, 0, 3.0),
    ]
    assert str(ladder.reading.coverage) == "5 of 6 planned runs, 1 missing"
    assert ladder.name == "slices"


def test_means_are_those_of_the_table_of_scores(study):
    (ladder,) = study_ladders(study).values()
    scores = {row["arm"]: row for row in study.summary.frame.to_dicts()}
    for row in ladder.frame.to_dicts():
        for name in ("squeezed", "final_gap", "attainment:0.2"):
            assert row[name] == scores[row["arm"]][name]
    assert ladder.frame["squeezed"][0] == 1.0


def test_half_of_the_runs_counts_empty_ones_as_never():
    """One of three is valid at 1 s: half of them are not. With two of three, the later of the two decides."""
    for valid, half in (([1.0], None), ([1.0, 4.0], 4.0)):
        traces = [[(time, 12.0)] for time in valid] + [[]] * (3 - len(valid))
        runs = [
            {
                "arm": f"a{k % 2}",
                "instance": f"i{k}",
                "seed": seed,
                "horizon": 10,
                "slices": 5 * (1 + k % 2),
                "trace": t,
            }
            for k in range(2)
            for seed, t in enumerate(traces)
        ]
        snapshot = gl.Snapshot.from_values({"i0": 10.0, "i1": 10.0}, name="mine")
        study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], draws=50)
        assert study_ladders(study)["slices"].frame["first_valid"].to_list() == [half, half]


def test_a_step_without_any_run_is_shown_as_such(tmp_path, monkeypatch):
    monkeypatch.delitem(TRACES, ("sliced 24", "i", 1))
    (ladder,) = study_ladders(ladder_study(tmp_path)).values()
    assert ladder.frame.select("slices", "runs", "empty", "squeezed").rows()[1] == (24, 0, 0, None)
    assert str(ladder.reading.coverage) == "4 of 6 planned runs, 2 missing"


def test_the_campaign_is_read_without_ladders_of_tier_two(study):
    analysis = analyse(study)
    assert set(analysis.apart) == {"sliced 5", "sliced 24", "sliced 96"}
    assert set(analysis.metrics.pooled["arm"]) == {"mine", "other"}
    assert analysis.metrics.signs["of"].unique().to_list() == [8]
    assert analysis.complementarity.pairs.height == 1
    assert set(analysis.main_health.frame["arm"]) == {"mine", "other"}
    assert set(analysis.health.frame["arm"]) == {arm for arm, _, _ in TRACES}
    assert analysis.main_words == "8 of 8 planned runs; 5 runs of ladders stand in tables of their own"


def test_a_ladder_of_tier_one_is_in_every_table_and_on_its_own_instances_ranked_in_its_own(tmp_path):
    analysis = analyse(ladder_study(tmp_path, tier=1))
    assert analysis.study.ranked_arms == ("mine", "other")
    assert [other.arm for other in analysis.study.instance_set.others] == ["sliced 24", "sliced 5", "sliced 96"]
    assert analysis.ladders["slices"].frame["rank"].to_list() == [3, 2, 1]
    assert analysis.ladders["slices"].reading.instance_set.arms == ("sliced 24", "sliced 5", "sliced 96")
    assert analysis.apart == ()
    assert set(analysis.metrics.pooled["arm"]) == {arm for arm, _, _ in TRACES}
    assert list(analysis.ladders) == ["slices"]
    assert analysis.main_words == str(analysis.study.coverage)


def test_a_ladder_of_which_no_step_found_a_solution_ranks_none(tmp_path, monkeypatch):
    for key in [key for key in TRACES if key[0].startswith("sliced")]:
        monkeypatch.setitem(TRACES, key, [])
    (ladder,) = study_ladders(ladder_study(tmp_path)).values()
    assert ladder.frame["rank"].to_list() == [None, None, None]
    assert "no run found a solution" in ladder.caption()


def test_berthold_ranks_the_steps_that_are_compared_where_only_another_one_beats_its_reference(tmp_path, monkeypatch):
    """By the rule of every ranking (`Scores.why_unranked`): of runs that are not ranked it asks nothing."""
    monkeypatch.setitem(TRACES, ("sliced 24", "j", 1), [(6, 19.0, True)])
    study = ladder_study(tmp_path, kernels=["berthold"])
    assert study_ladders(study)["slices"].frame["rank"].to_list() == [2, None, 1]
    monkeypatch.setitem(TRACES, ("sliced 96", "i", 1), [(3, 9.0, True)])
    study = ladder_study(tmp_path, kernels=["berthold"])
    assert study_ladders(study)["slices"].frame["rank"].to_list() == [None, None, None]


def test_a_study_of_ladders_alone_is_the_campaign(tmp_path):
    assert ladder_study(tmp_path, wanted={"arm": ("sliced*",)}).apart == ()


def test_without_a_contract_columns_tell_and_a_wrong_one_is_refused(study):
    assert list(analyse(study, ladders=["tier"]).ladders) == ["tier"]
    assert analyse(study, ladders=["slices"]).ladders["slices"].arms == ("sliced 5", "sliced 24", "sliced 96")
    with pytest.raises(UsageError, match="expected ladders or columns of the runs table, got slides"):
        study_ladders(study, ["slides"])


def test_a_column_that_tells_steps_apart_is_the_ladder_of_these_steps_alone():
    """Other arms have the column too, at one value: they are no steps."""
    traces = [("step", 2), ("step", 10), ("step", 1), ("other", 1)]
    rows = [(arm, f"i{k}", 1, time, 20.0 - time, 10.0, s) for arm, s in traces for k in range(2) for time in (1.0, 5.0)]
    names = ["arm", "instance", "seed", "time", "objective", "horizon", "slices"]
    snapshot = gl.Snapshot.from_values({"i0": 10.0, "i1": 10.0}, name="mine")
    study = gl.open_study(gl.read(pl.DataFrame(rows, names, orient="row")), snapshots=[snapshot], draws=50)
    (ladder,) = study_ladders(study).values()
    steps = [("step slices=1", 1), ("step slices=2", 2), ("step slices=10", 10)]
    assert ladder.frame.select("arm", "slices").rows() == steps
    assert ladder.reading.instance_set.arms == ("step slices=1", "step slices=10", "step slices=2")
    assert set(study.ranked_arms) == {"other", *ladder.arms}


def test_the_design_counts_what_is_done_and_what_a_filter_leaves(tmp_path):
    analysis = analyse(ladder_study(tmp_path))
    names = ("evidence", "runs_each", "runs", "done")
    assert analysis.design.select(names).rows() == [("tier 1", "4", 8, 8), ("slices ladder", "2", 6, 5)]
    alone = analyse(ladder_study(tmp_path, wanted={"arm": ("mine",)}))
    assert alone.design.select(names).rows() == [("tier 1", "4", 4, 4)]
    assert alone.ladders == {}


def test_without_a_plan_there_is_no_design():
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 12.0)]}]
    study = gl.open_study(
        gl.Campaign.from_runs(runs), snapshots=[gl.Snapshot.from_values({"i": 10.0}, name="mine")], draws=50
    )
    assert analyse(study).design is None
    assert analyse(study).document()["design"] is None

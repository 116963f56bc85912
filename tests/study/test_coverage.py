"""Which planned cells are there, what becomes of the others, and how all are counted."""

import polars as pl
import pytest

import gapline as gl
from gapline.contract.reading import Coverage
from gapline.errors import GaplineError, UsageError
from gapline.study.coverage import absent_cells, count_cells, plan_cells
from study.ruled_study import CELLS, campaign_of

STATES = ["done", "running", "interrupted", "missing", "missing"]


@pytest.fixture
def cells():
    names = {"arm": list("abcde"), "panel": "p", "instance": "i", "seed": 1, "state": STATES}
    return pl.DataFrame(names)


def test_without_a_plan_a_table_is_made_only_where_some_arm_lacks_a_cell():
    assert plan_cells(campaign_of(), None, {}) is None
    made = plan_cells(campaign_of(CELLS[1:]), None, {})
    assert made.filter(pl.col("state") == "missing").select("arm", "instance", "seed").rows() == [CELLS[0]]


def test_cells_without_a_whole_attempt_are_left_out_filled_or_refused(cells):
    for rule in ("leave-out", "empty"):
        assert absent_cells(cells, rule)["arm"].to_list() == list("bcde")
    with pytest.raises(GaplineError, match=r"got 4 of 5 running, interrupted or missing: b/i/1 \(running\), c/i/1"):
        absent_cells(cells, "refuse")
    assert absent_cells(cells[:1], "refuse").height == 0
    assert absent_cells(None, "refuse").height == 0
    with pytest.raises(UsageError, match="missing: expected leave-out, common, empty, refuse, got 'drop'"):
        absent_cells(cells, "drop")


def test_each_state_is_counted_under_its_own_name(cells):
    runs = campaign_of(CELLS[:1]).runs.with_columns(steps=pl.lit(1))
    label = type("Label", (), {"unreferenced": ()})()
    whole = {"runs": 1, "running": 1, "interrupted": 1, "missing": 2, "removed": 3}
    counted = count_cells(runs, cells, label, planned=True, filled=False, removed=3)
    assert counted == Coverage(planned=5, **whole)
    filled = count_cells(runs, cells, label, planned=False, filled=True, removed=3)
    assert filled == Coverage(filled=4, **whole)
    assert count_cells(runs, cells, label, planned=False, filled=False, removed=3, unscorable=2) == Coverage(
        runs=1, unscorable=2
    )


def test_an_arm_of_which_no_run_is_on_a_common_instance_is_named():
    """It is in no table any more: a descriptive arm, or a step of a ladder, does not decide what is common."""
    ran = {"a": ("i", "j"), "b": ("j",), "c": ("i",)}
    runs = [
        {"arm": arm, "instance": name, "seed": 1, "horizon": 9, "tier": 1 + (arm == "c"), "trace": [(1, 12.0)]}
        for arm, names in ran.items()
        for name in names
    ]
    snapshot = gl.Snapshot.from_values({"i": 10.0, "j": 10.0}, name="known")
    study = gl.open_study(gl.Campaign.from_runs(runs), snapshots=[snapshot], missing="common")
    assert study.summary.frame["arm"].to_list() == ["a", "b"]
    assert "c has no run on an instance that every compared arm ran: left out" in study.notes()

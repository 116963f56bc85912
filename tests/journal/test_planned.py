"""What of the plan is there: done, interrupted, missing; and what was never asked for."""

from dataclasses import replace
from itertools import product

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
from gapline.contract.row_groups import Numbered
from gapline.contract.study_file import load_contract
from gapline.contract.tables import CELL, RUN_KEY, RunKey
from gapline.errors import GaplineError
from gapline.generate.study import Panel, write_study
from gapline.journal.plan_coverage import (
    every_arm_has_every_cell,
    expected_cells,
    planned_cells,
    runs_of_contract,
    with_empty_runs,
)


@pytest.fixture
def contract(tmp_path):
    """Two arms, two instances and one seed: four cells."""
    return load_contract(write_study(tmp_path, "cvrp", seeds=[1], horizon=20, panels=[Panel(4, 2)]))


def campaign_of(*cells):
    return gl.Campaign.from_runs(
        [
            {"arm": arm, "instance": instance, "seed": 1, "panel": "cvrp-n4", "horizon": 20.0, "trace": [(1.0, 9.0)]}
            for arm, instance in cells
        ]
    )


def test_without_a_plan_every_arm_should_have_what_any_arm_has():
    runs = campaign_of(("a", "i"), ("a", "j"), ("b", "i")).runs
    assert expected_cells(runs).select("arm", "instance").rows() == [("a", "i"), ("a", "j"), ("b", "i"), ("b", "j")]


def test_every_cell_of_the_plan_has_a_state(contract):
    campaign = campaign_of(("pyvrp", "cvrp-n4-1"), ("pyvrp", "cvrp-n4-2"))
    begun = (RunKey("ortools", "cvrp-n4-1", 1), RunKey("pyvrp", "cvrp-n4-2", 1))
    states = planned_cells(replace(campaign, interrupted=begun), contract, {})
    assert states.select("arm", "instance", "state").rows() == [
        ("ortools", "cvrp-n4-1", "interrupted"),
        ("ortools", "cvrp-n4-2", "missing"),
        ("pyvrp", "cvrp-n4-1", "done"),
        # A whole attempt counts, whatever became of another one.
        ("pyvrp", "cvrp-n4-2", "done"),
    ]
    cut = planned_cells(campaign, contract, {"arm": ("py*",), "instance": ("cvrp-n4-2",)})
    assert cut.select("arm", "instance", "state").rows() == [("pyvrp", "cvrp-n4-2", "done")]


def test_runs_that_nobody_asked_for_are_left_out_and_counted(contract):
    campaign = campaign_of(("pyvrp", "cvrp-n4-1"), ("removed", "cvrp-n4-1"), ("pyvrp", "other"))
    kept, left_out = runs_of_contract(campaign, contract, cells=True)
    assert (list(map(str, kept.keys())), left_out) == (["pyvrp/cvrp-n4-1/1"], 2)
    assert runs_of_contract(campaign, contract, cells=False)[1] == 1
    assert runs_of_contract(campaign, None, cells=True) == (campaign, 0)
    with pytest.raises(GaplineError, match=r"got 1 others \(arms x\)"):
        runs_of_contract(campaign_of(("x", "y")), contract, cells=True)


def test_absent_cells_become_runs_that_found_nothing(contract):
    campaign = campaign_of(("pyvrp", "cvrp-n4-1"))
    absent = planned_cells(campaign, contract, {"arm": ("ortools",)})
    whole = with_empty_runs(campaign, absent, contract)
    assert whole.runs.select("arm", "count", "status", "horizon").rows() == [
        ("pyvrp", 1, "unknown", 20.0),
        ("ortools", 0, "lost", 20.0),
        ("ortools", 0, "lost", 20.0),
    ]


KEYS = st.sets(st.tuples(st.sampled_from("ab"), st.sampled_from("ij"), st.integers(1, 3)), min_size=1)


@given(done=KEYS, begun=KEYS)
def test_states_equal_those_of_looking_up_every_cell(done, begun):
    """Also where a cell was begun twice, once of it to the end; the cells come in order of their names."""

    def campaign_of(keys):
        return gl.Campaign.from_runs(
            [{"arm": a, "instance": i, "seed": s, "horizon": 9, "trace": []} for a, i, s in sorted(keys, reverse=True)]
        )

    campaign = replace(campaign_of(done), interrupted=tuple(RunKey(*key) for key in begun))
    known = {instance for _, instance, _ in done}
    cells = planned_cells(campaign, None, {})
    assert cells.equals(cells.sort(CELL))
    whole = campaign_of(done | {key for key in begun if key[1] in known})
    assert cells.select(CELL).equals(expected_cells(whole.runs))
    for *key, state in cells.select(*RUN_KEY, "state").iter_rows():
        wanted = "done" if tuple(key) in done else "interrupted" if tuple(key) in begun else "missing"
        assert state == wanted


@pytest.mark.parametrize("lacking", [None, ("b", "j", 2)])
def test_cells_that_are_listed_late_are_those_that_are_compared(lacking):
    """A study lists its cells when it is asked: the same ones, whether every arm has all of them or not."""
    keys = [key for key in product("ab", "ij", (1, 2)) if key != lacking]
    runs = [{"arm": a, "instance": i, "seed": s, "horizon": 9.0, "trace": [(1, 5.0)]} for a, i, s in keys]
    campaign = gl.Campaign.from_runs(runs[::-1])
    assert every_arm_has_every_cell(Numbered(campaign.runs)) == (lacking is None)
    study = gl.open_study(campaign, policy="analysis")
    assert study.cells.equals(planned_cells(campaign, None, {}))
    assert study.cells.filter(pl.col("state") != "done").height == (lacking is not None)

"""What of the plan is there: done, interrupted, missing; and what was never asked for."""

from dataclasses import replace

import pytest

import gapline as gl
from gapline.capture.planned import expected_cells, planned_cells, runs_of_contract, with_empty_runs
from gapline.errors import GaplineError
from gapline.generate.study import Panel, write_study
from gapline.model.contract import load_contract
from gapline.model.tables import RunKey


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

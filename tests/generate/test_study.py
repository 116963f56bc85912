"""A generated study is a contract that loads, with instances that are there."""

import pytest

from gapline.contract.study_file import load_contract
from gapline.errors import UsageError
from gapline.generate.study import PROBLEMS, Panel, write_study


@pytest.mark.parametrize("problem", PROBLEMS)
def test_the_contract_loads_and_names_what_was_written(tmp_path, problem):
    path = write_study(tmp_path / "s", problem, horizon=3, seeds=[4, 5], panels=[Panel(6, 2)])
    contract = load_contract(path)
    assert (contract.study.name, contract.seeds, contract.time.horizon) == (problem, [4, 5], 3.0)
    assert contract.objective.checker == problem
    assert contract.reference.policy == "analysis"
    families = ["setcover", "knapsack"] if problem == "mip" else [""]
    panels = ["-".join(filter(None, [problem, family, "n6"])) for family in families]
    assert [(one.panel, one.size) for one in contract.instances] == [(panel, 6) for panel in panels for _ in range(2)]
    assert all((tmp_path / "s" / one.path).is_file() for one in contract.instances)


def test_arms_that_plan_with_a_mean_are_of_tier_2(tmp_path):
    contract = load_contract(write_study(tmp_path, "tdvrptw", panels=[Panel(4, 1)]))
    assert {arm.name: arm.tier for arm in contract.arms} == {
        "kayros-ils": 1,
        "kayros-aco": 1,
        "pyvrp-mean": 2,
        "ortools-mean": 2,
    }


def test_a_snapshot_makes_the_reference_frozen(tmp_path):
    contract = load_contract(write_study(tmp_path, "cvrp", panels=[Panel(4, 1)], snapshot="references/a.json"))
    assert (contract.reference.policy, contract.reference.snapshot) == ("frozen", "references/a.json")


def test_a_study_that_is_there_and_a_problem_that_is_not_are_refused(tmp_path):
    write_study(tmp_path, "cvrp", panels=[Panel(4, 1)])
    with pytest.raises(UsageError, match=r"expected a directory without study\.toml"):
        write_study(tmp_path, "cvrp")
    with pytest.raises(UsageError, match="did you mean 'cvrp'"):
        write_study(tmp_path / "new", "cvrpp")

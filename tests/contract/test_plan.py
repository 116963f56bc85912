"""Cells and their order."""

from collections import Counter

from gapline.contract.plan import Plan, default_order_seed, shuffle_cells
from gapline.contract.study_file import load_contract
from gapline.contract.tables import RunKey


def test_cells_are_ordered_so_that_a_campaign_cut_short_is_balanced(make_study):
    study = make_study({"x": ["silent"], "y": ["silent"]})
    keys = [cell.key for cell in Plan.of(load_contract(study.path)).cells]
    assert keys[:4] == [RunKey("x", "one", 1), RunKey("y", "one", 1), RunKey("x", "two", 1), RunKey("y", "two", 1)]
    assert len(set(keys)) == 8


def test_the_order_is_random_inside_a_seed_and_the_same_every_time(make_study):
    contract = load_contract(make_study({f"arm-{k}": ["silent"] for k in range(6)}, seeds=(3, 1, 2)).path)
    cells = Plan.of(contract).cells
    shuffled = shuffle_cells(cells, 7)
    within = sorted(cells, key=lambda cell: (3, 1, 2).index(cell.seed) * 100 - hash(cell.arm.name) % 100)
    assert shuffle_cells(within, 7) == shuffled
    assert sorted(cell.key for cell in shuffled) == sorted(cell.key for cell in cells)
    assert [cell.seed for cell in shuffled] == [3] * 12 + [1] * 12 + [2] * 12
    assert [cell.position for cell in shuffled] == list(range(1, 37))
    blocks = [[(cell.arm.name, cell.instance.name) for cell in shuffled if cell.seed == seed] for seed in (1, 2, 3)]
    assert len({tuple(block) for block in blocks}) == 3
    assert [cell.key for cell in shuffle_cells(cells, 8)] != [cell.key for cell in shuffled]


def test_an_order_is_as_likely_as_another(make_study):
    """Over many seeds each arm comes first about equally often: of 4,000 draws among 4, 1,000 with deviation 27."""
    cells = Plan.of(load_contract(make_study({"a": ["silent"], "b": ["silent"]}, seeds=(1,)).path)).cells
    first = Counter(shuffle_cells(cells, seed)[0].key for seed in range(4000))
    assert len(first) == 4
    assert all(abs(count - 1000) < 6 * 27.4 for count in first.values())


def test_the_order_follows_from_the_name_of_the_study(make_study):
    contract = load_contract(make_study({"a": ["silent"]}).path)
    assert default_order_seed(contract) == int("f4e1a209", 16)  # printf scripted | sha256sum


def test_a_plan_is_every_cell_and_its_digest_does_not_depend_on_the_order_of_the_contract(make_study):
    contract = load_contract(make_study({"x": ["silent"], "y": ["silent"]}, seeds=(1, 2)).path)
    plan = Plan.of(contract)
    assert plan.keys() == {
        RunKey(arm, instance, seed) for arm in "xy" for instance in ("one", "two") for seed in (1, 2)
    }
    turned = contract.model_copy(update={"arms": contract.arms[::-1], "seeds": [2, 1]})
    assert Plan.of(turned).digest == plan.digest
    fewer = contract.model_copy(update={"seeds": [1]})
    longer = contract.model_copy(update={"time": contract.time.model_copy(update={"horizon": 61.0})})
    assert len({plan.digest, Plan.of(fewer).digest, Plan.of(longer).digest}) == 3

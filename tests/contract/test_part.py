"""The part of a contract that a replication runs."""

import pytest

from campaign.contracts import SMALL, mistakes_of, write
from gapline.contract.plan import Plan, planned_seeds
from gapline.contract.study_file import load_contract

ORIGIN = f'name = "old.zip"\nsha256 = "sha256:{"0" * 64}"\nswhid = "swh:1:dir:{"0" * 40}"\n'
TWO_ARMS = (
    SMALL.replace("tier = 2\n", "")
    + """
[[where]]
arm = "mine"
horizon = 3
seeds = 2
"""
)


def part_of(folder, *lines, text=TWO_ARMS):
    return load_contract(write(folder, text + "\n[replicates]\n" + ORIGIN + "\n".join(lines)))


def cells_of(contract):
    return {(*cell.key, cell.horizon) for cell in Plan.of(contract).cells}


def test_without_a_part_everything_is_run(tmp_path):
    whole = cells_of(load_contract(write(tmp_path, TWO_ARMS)))
    assert cells_of(part_of(tmp_path)) == whole
    assert len(whole) == 8


def test_arms_panels_and_seeds_are_kept_by_name_and_pattern(tmp_path):
    found = cells_of(part_of(tmp_path, 'arms = ["i*"]', 'panels = ["large"]', "seeds = [2]"))
    assert found == {("ils", "bee", 2, 5.5)}


def test_every_horizon_is_scaled_wherever_it_is_stated(tmp_path):
    """The study's, the instance's, and that of a `[[where]]`."""
    whole = cells_of(load_contract(write(tmp_path, TWO_ARMS)))
    assert {cell[3] for cell in whole} == {2.0, 5.5, 3.0}
    assert cells_of(part_of(tmp_path, "horizon_scale = 0.5")) == {(*cell[:3], cell[3] / 2) for cell in whole}


def test_seeds_are_kept_where_a_rule_has_its_own(tmp_path):
    found = cells_of(part_of(tmp_path, "seeds = [1]"))
    assert {cell[2] for cell in found} == {1}
    assert planned_seeds(load_contract(write(tmp_path, TWO_ARMS))) == {1, 2}


def test_a_contrast_with_an_arm_that_is_not_run_is_none(tmp_path):
    text = TWO_ARMS + '\n[aggregate]\ncontrasts = [["ils", "mine"]]\n'
    assert part_of(tmp_path, text=text).aggregate.contrasts == [["ils", "mine"]]
    assert part_of(tmp_path, 'arms = ["ils"]', text=text).aggregate.contrasts == []


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ('arms = ["mein"]', "replicates.arms: expected the name of an arm, got 'mein', which none fits; did you mean"),
        ('panels = ["small"]', "replicates.panels: expected the name of a panel, got 'small', which none fits"),
        ("seeds = [3]", "replicates.seeds: expected seeds of the contract (1, 2), got 3"),
        ("horizon_scale = 0", "replicates.horizon_scale: expected greater than 0, got 0"),
    ],
)
def test_a_part_that_nothing_fits_is_a_mistake(tmp_path, line, said):
    (found,) = mistakes_of(tmp_path, TWO_ARMS + "\n[replicates]\n" + ORIGIN + line)
    assert found.startswith(said)


def test_a_weight_that_begins_after_the_scaled_horizon_is_a_mistake(tmp_path):
    text = TWO_ARMS + '\n[score]\nweight = "early-log:1.5"\n'
    assert part_of(tmp_path, text=text).score.weight == "early-log:1.5"
    (found,) = mistakes_of(tmp_path, text + "\n[replicates]\n" + ORIGIN + "horizon_scale = 0.5")
    assert found.startswith("replicates.horizon_scale: ")


def test_a_transform_of_a_panel_that_is_not_run_is_left_out(tmp_path):
    rules = '["none", "panel:large=shift:2", "a=shift:1"]'
    text = TWO_ARMS.replace('checker = "tdvrptw"', f'checker = "tdvrptw"\ntransform = {rules}')
    assert part_of(tmp_path, 'panels = ["all"]', text=text).objective.transform == ["none", "a=shift:1"]

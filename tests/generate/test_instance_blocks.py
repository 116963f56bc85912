"""The instances of a contract, in patterns or as a list, expand to what was found."""

import tomllib

import pytest

from gapline.contract.contract import ContractFile
from gapline.contract.expansion import expand_contract
from gapline.generate.instance_files import FoundInstance
from gapline.generate.instance_study import instance_blocks, panels_of

HEAD = """
seeds = 1
study.name = "s"
objective.checker = "cvrp"
time.horizon = 1
arms = [{name = "a", solver = "pyvrp"}]
"""


def found(*named, suffix=".vrp", sense="min"):
    return [FoundInstance(name, f"{name}{suffix}", "cvrp", size, sense=sense) for name, size in named]


def expanded(folder, instances, base="instances", **choices):
    """Return the blocks, whether there is a list, and what both stand for in a study."""
    panels = panels_of(instances)
    blocks, rows = instance_blocks(instances, panels, base=base, **choices)
    for one in instances:
        file = folder / base / f"{one.name}{one.suffix}"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.touch()
    if rows is not None:
        (folder / "instances.csv").write_text(rows)
    contract, mistakes = expand_contract(ContractFile.model_validate(tomllib.loads(HEAD + blocks)), folder)
    assert contract is not None
    assert mistakes == []
    facts = {one.name: (one.path, one.panel, one.size) for one in contract.instances}
    meant = {one.name: (f"{base}/{one.name}{one.suffix}", panels[one.name], one.size) for one in instances}
    assert facts == meant
    return blocks, rows is not None, contract


def test_folders_of_sizes_are_one_pattern(tmp_path):
    blocks, listed, _ = expanded(tmp_path, found(("n=3/a", 3), ("n=10/a", 10), suffix=".vrp.json"))
    assert blocks == (
        '[[instances]]\npath = "instances/n=*/*.vrp.json"\npanel = "{parent}"\nname = "{parent}/{stem}"\nsize = "{1}"\n'
    )
    assert not listed


def test_each_family_has_a_pattern_of_its_own(tmp_path):
    blocks, listed, _ = expanded(tmp_path, found(("A/n=3/a", 3), ("A/n=4/a", 4), ("B/C/n=3/a", 3)))
    assert 'path = "instances/A/n=*/*.vrp"\npanel = "A/{parent}"\nname = "A/{parent}/{stem}"' in blocks
    assert (blocks.count("[[instances]]"), listed) == (2, False)


def test_folders_below_the_size_are_of_the_name_and_not_of_the_panel(tmp_path):
    blocks, listed, _ = expanded(tmp_path, found(("F/n=3/a/x/p", 3), ("F/n=3/b/y/p", 3), ("F/n=4/a/x/p", 4)))
    assert 'path = "instances/F/n=*/*/*/*.vrp"\npanel = "F/n={1}"\nname = "F/n={1}/{2}/{3}/{stem}"' in blocks
    assert (blocks.count("[[instances]]"), listed) == (1, False)


def test_a_folder_of_one_size_states_it(tmp_path):
    blocks, listed, _ = expanded(tmp_path, found(("a", 25), ("b", 25), ("F/c", 7)), base="data")
    assert 'path = "data/*.vrp"\npanel = "n=25"\nsize = 25\n' in blocks
    assert 'path = "data/F/*.vrp"\npanel = "F/n=7"\nname = "F/{stem}"\nsize = 7\n' in blocks
    assert not listed


@pytest.mark.parametrize(
    "instances",
    [
        found(("a", 25), ("b", 26)),
        found(("n=20/a", 21), ("n=20/b", 20)),
        found(("a [1]", 5), ("b", 5)),
        found(("{stem}", 5), ("b", 5)),
        found(('q"', 5), ("b,c", 5)),
        found(("A.lp", 5), suffix=".vrp.json"),
    ],
    ids=["sizes", "folder", "brackets", "braces", "quotes", "suffix"],
)
def test_what_no_pattern_says_is_listed(tmp_path, instances):
    assert expanded(tmp_path, instances)[1]


def test_a_list_can_be_asked_for_and_holds_the_sense(tmp_path):
    blocks, listed, contract = expanded(tmp_path, found(("a", 5), sense="max"))
    assert (blocks.splitlines()[1:], listed) == (["[[instances]]", 'csv = "instances.csv"'], True)
    assert contract.instances[0].sense == "max"
    assert expanded(tmp_path / "other", found(("a", 5)), listed=True)[1]

"""Which arms are ranked, and on which instances."""

import polars as pl
import pytest

from gapline.contract.instance_set import common_instances, decide_instance_set, instance_groups

WHOLE, EASY, HARD = "ijkl", "ij", "kl"


def table(sets, panel="p"):
    """Return a runs table of arms and the letters that are their instances."""
    rows = [(arm, panel, instance) for arm, instances in sets.items() for instance in instances]
    return pl.DataFrame(rows, schema=["arm", "panel", "instance"], orient="row")


@pytest.mark.parametrize(
    ("sets", "choices", "arms", "words"),
    [
        ({"a": WHOLE, "b": WHOLE}, {}, ("a", "b"), ""),
        ({"a": WHOLE}, {}, (), ""),
        ({"a": WHOLE, "b": EASY}, {"tier_two": ["b"]}, (), ""),
        (
            {"a": WHOLE, "b": EASY, "c": WHOLE, "d": "jm"},
            {},
            ("a", "c"),
            "ranked on 4 instances: a, c; other instances, not ranked: b (2 of these 4), d (1 of these 4 and 1 other)",
        ),
        # More arms before more instances; of as many arms those with more instances.
        ({"a": WHOLE, "b": WHOLE, "c": EASY, "d": EASY, "e": EASY}, {}, ("c", "d", "e"), None),
        ({"a": WHOLE, "b": WHOLE, "c": EASY, "d": EASY}, {}, ("a", "b"), None),
        (
            {"a": EASY, "b": EASY, "c": HARD, "d": HARD},
            {},
            (),
            "no arm is ranked: 2 groups of 2 arms ran 2 instances each, and not the same ones",
        ),
        ({"a": WHOLE, "b": EASY}, {}, (), "no arm is ranked: no two arms ran the same instances"),
        (
            {"a": EASY, "b": HARD},
            {"rule": "common"},
            (),
            "no arm is ranked: no instance was run by every compared arm",
        ),
        (
            {"a": EASY, "b": EASY},
            {"rule": "common", "left_out": 2},
            ("a", "b"),
            "ranked on 2 instances that every compared arm ran (2 left out)",
        ),
        # The steps of a ladder on instances of its own are one solver; on those of the others they are ranked.
        (
            {"a": WHOLE, "b": WHOLE, "s1": EASY, "s2": EASY, "s3": EASY},
            {"ladders": [["s1", "s2", "s3"]]},
            ("a", "b"),
            None,
        ),
        ({"a": WHOLE, "s1": WHOLE, "s2": WHOLE}, {"ladders": [["s1", "s2"]]}, ("a", "s1", "s2"), ""),
        ({"s1": WHOLE, "s2": WHOLE, "s3": EASY}, {"ladders": [["s1", "s2", "s3"]]}, ("s1", "s2"), None),
        (
            {"a": WHOLE, "s1": EASY, "s2": EASY},
            {"ladders": [["s1", "s2"]]},
            (),
            "no arm is ranked: no two solvers ran the same instances",
        ),
        # A descriptive ladder beside two arms makes no solvers of them.
        (
            {"a": WHOLE, "b": EASY, "s1": EASY, "s2": EASY},
            {"ladders": [["s1", "s2"]], "tier_two": ["s1", "s2"]},
            (),
            "no arm is ranked: no two arms ran the same instances",
        ),
    ],
)
def test_the_largest_group_of_arms_with_the_same_instances_is_ranked(sets, choices, arms, words):
    found = decide_instance_set(table(sets), **choices)
    assert found.arms == arms
    assert words is None or str(found) == words
    assert found.document()["arms"] == list(arms)
    assert found.instances == (len(sets[arms[0]]) if arms else 0)


def test_ladders_are_those_that_the_runs_record():
    steps = {"s1": '{"slices": 1}', "s2": '{"slices": 2}'}
    runs = table({"a": WHOLE, "s1": EASY, "s2": EASY}).with_columns(
        ladder=pl.when(pl.col("arm") != "a").then(pl.lit("s{slices}")),
        ladder_step=pl.col("arm").replace_strict(steps, default=None, return_dtype=pl.String),
    )
    assert decide_instance_set(runs).arms == ()
    assert decide_instance_set(runs, ladders=[]).arms == ("s1", "s2")


def test_an_instance_of_another_panel_is_another_instance():
    runs = pl.concat([table({"a": EASY}), table({"b": EASY}, panel="q")])
    assert decide_instance_set(runs).arms == ()
    assert instance_groups(runs) == {"a": 0, "b": 1}


def test_common_instances_are_those_of_every_compared_arm():
    runs = table({"a": WHOLE, "b": "jk", "c": "i", "s": "i"})
    keep, lacking = common_instances(runs, tier_two=["c"], ladders=[["s"]])
    assert runs.filter(keep)["instance"].to_list() == ["j", "k", "j", "k"]
    assert lacking == 2
    keep, lacking = common_instances(runs)
    assert keep.all(), "nothing in common: every run is kept"
    assert lacking == 0


def test_what_a_descriptive_arm_found_ranks_no_arms_that_found_nothing():
    found = pl.when(pl.col("arm") == "t").then(3).otherwise(0)
    runs = table({"a": EASY, "b": EASY, "t": EASY}).with_columns(steps=found)
    why = "no run of a compared arm found a solution"
    assert decide_instance_set(runs, tier_two=["t"]).reason == why
    assert decide_instance_set(runs).arms == ("a", "b", "t")
    assert decide_instance_set(runs.with_columns(steps=0), tier_two=["t"]).reason == "no run found a solution"

"""Under which transform each instance is scored."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import gapline as gl
from gapline.campaign.scale import Scale, choose_scale, instance_senses
from gapline.contract.transforms import Transform
from gapline.errors import ObjectiveError, UsageError


def campaign(*rows):
    """Build a campaign of one-candidate runs from (arm, instance, panel, sense, objective)."""
    runs = [
        {"arm": arm, "instance": instance, "panel": panel, "seed": 1, "horizon": 10.0, "sense": sense}
        | {"trace": [(1.0, objective)]}
        for arm, instance, panel, sense, objective in rows
    ]
    return gl.Campaign.from_runs(runs)


MIXED = [("a", "low", "p", "min", 5.0), ("a", "high", "p", "max", 5.0), ("a", "other", "q", "min", -5.0)]


def test_the_sense_is_that_of_the_runs_then_of_the_campaign_then_of_the_caller():
    given = campaign(("a", "i", "p", None, 1.0), ("b", "i", "p", "max", 1.0), ("a", "j", "p", None, 1.0))
    assert instance_senses(given) == {"i": "max", "j": None}
    assert instance_senses(given, "min") == {"i": "max", "j": "min"}
    assert instance_senses(given, {"j": "max", "k": "min"}) == {"i": "max", "j": "max"}
    assert instance_senses(replace(given, facts={"sense": "min"}), "max") == {"i": "max", "j": "min"}
    plain = replace(given, runs=given.runs.drop("sense"))
    assert instance_senses(plain, "max") == {"i": "max", "j": "max"}


def test_arms_that_disagree_on_an_instance_are_named():
    given = campaign(("a", "i", "p", "min", 1.0), ("b", "i", "p", "max", 1.0))
    with pytest.raises(ObjectiveError, match=r"i: expected one sense, got min \(arm a\) and max \(arm b\)") as caught:
        choose_scale(given)
    assert "--negate b" in caught.value.hint
    with pytest.raises(ObjectiveError, match=r"i: expected sense min or max, got 'up' \(arm a\)"):
        choose_scale(campaign(("a", "i", "p", "up", 1.0)))


def test_maximised_instances_are_read_through_the_reciprocal_and_negated_where_any_sign_counts():
    scale = choose_scale(campaign(*MIXED))
    assert {name: str(scale.of(name)) for name in ("low", "high", "other")} == {
        "low": "none", "high": "reciprocal:1", "other": "none"
    }  # fmt: skip
    assert str(scale) == "none (2 instances), reciprocal:1 (1 instances)"
    signed = choose_scale(campaign(*MIXED), signed=True)
    assert signed.apply(["low", "high", "other"], [5.0, 5.0, -5.0]).tolist() == [5.0, -5.0, -5.0]
    assert str(signed) == "negate-shift:0 (1 instances), none (2 instances), any sign"


def test_a_rule_for_an_instance_goes_before_one_for_its_panel_and_that_before_the_one_for_all():
    rules = ["shift:1", "panel:q=shift:2", "o*=shift:3", "high=negate-shift:9"]
    scale = choose_scale(campaign(*MIXED, ("a", "n=20/x", "q", "min", 1.0)), rules)
    assert {name: str(t) for name, t in scale.by_instance.items()} == {
        "low": "shift:1", "high": "negate-shift:9", "other": "shift:3", "n=20/x": "shift:2"
    }  # fmt: skip
    named = choose_scale(campaign(("a", "n=20/x", "q", "min", 1.0)), "n=20/x=shift:4")
    assert str(named) == "shift:4"


@pytest.mark.parametrize(
    ("rules", "message"),
    [
        (["lw=shift:1"], "transform shift:1: 'lw' matches no instance"),
        (["panel:r=shift:1"], "transform shift:1: 'panel:r' matches no instance"),
        (["low=hierarchical:5"], "expected a hierarchical one for all instances or none"),
        (["shift:1", "shift:2"], "expected one for all instances, got shift:1, shift:2"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(rules, message):
    with pytest.raises(UsageError, match=message):
        choose_scale(campaign(*MIXED), rules)


def test_a_transform_of_the_wrong_direction_is_refused_with_its_instances():
    with pytest.raises(ObjectiveError, match=r"got 2 others: low \(min, reciprocal:1\), other \(min, reciprocal:1\)"):
        choose_scale(campaign(*MIXED), "reciprocal")
    with pytest.raises(ObjectiveError, match=r"got 1 others: high \(max, shift:7\)"):
        choose_scale(campaign(*MIXED), "high=shift:7")


def test_a_column_is_transformed_slice_by_slice_and_untouched_where_nothing_is():
    scale = Scale(Transform(), {"i": Transform(), "j": Transform.parse("shift:10")})
    runs = pl.DataFrame({"instance": ["i", "j"], "first": [0, 2], "count": [2, 1]})
    column = np.array([1.0, 2.0, 3.0])
    assert scale.apply_column(runs, column).tolist() == [1.0, 2.0, 13.0]
    assert Scale().apply_column(runs, column) is column
    assert Scale(Transform(), {"i": Transform()}).uniform
    assert not scale.uniform

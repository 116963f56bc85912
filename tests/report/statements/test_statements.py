import pytest

import gapline as gl
from gapline.report.facts import make_statements
from report.report_studies import by_hand, report_of, synthetic_said


@pytest.mark.parametrize("names", [("a", "b"), ("b", "a")])
def test_of_a_whole_study_the_better_arm_is_ahead_whatever_its_name(names):
    """The first name is better by about the same amount on every instance; contrasts are stored by name."""
    runs = [
        {"arm": arm, "instance": f"i{k}", "seed": 1, "horizon": 9, "trace": [(0, z + k / 100)]}
        for arm, z in zip(names, (11.0, 13.0), strict=True)
        for k in range(4)
    ]
    campaign = gl.Campaign.from_runs(runs)
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 for k in range(4)}, name="known")
    study = report_of(campaign, snapshot)
    assert make_statements(study).headline.text.startswith(f"{names[0]} is ahead of {names[1]} by ")
    descriptive = make_statements(report_of(campaign, snapshot, tier_two=[names[0]])).headline.text
    assert descriptive.startswith(f"{names[1]}: mean squeezed score")


def test_order_facts_and_headline_name_the_same_arms():
    said = synthetic_said()
    assert said.order.descriptive == said.facts.descriptive == ("sliced",)
    assert sorted(said.order.compared) == list(said.facts.compared)
    assert said.headline.text.startswith(said.order.compared[0])


def test_one_missing_score_withholds_no_other_statement():
    """Arm b has an empty run: it scores 1 and is ranked, and the facts count it."""
    said = make_statements(by_hand())
    assert said.order.ranks == {"a": 1, "b": 2}
    assert said.facts.study.coverage.empty == 1

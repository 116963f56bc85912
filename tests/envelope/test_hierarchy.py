"""Hierarchical objectives M·K + C: the condition on M, and the components of what was accepted."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
from gapline.contract.transforms import Transform
from gapline.envelope.hierarchy import check_hierarchy
from gapline.errors import ObjectiveError

TEN = Transform.parse("hierarchical:10")


def hierarchical_campaign(solutions, *, size=10, valid=True):
    records = [
        {
            "arm": "a", "instance": "i", "seed": 1, "horizon": 30, "size": size, "time": float(k), "objective": 1.0,
            "primary": float(k_units), "secondary": float(cost), "valid": valid,
        }
        for k, (k_units, cost) in enumerate(solutions)
    ]  # fmt: skip
    return gl.read(records)


@given(st.lists(st.tuples(st.integers(1, 5), st.integers(0, 400)), min_size=1, max_size=8))
def test_the_condition_is_checked_on_every_observed_pair(solutions):
    campaign = hierarchical_campaign(solutions)
    transform = Transform.parse("hierarchical:10n")
    check = check_hierarchy(campaign, transform)
    values = sorted({k for k, _ in solutions})
    assert check.pairs == len(values) * (len(values) - 1) // 2
    assert check.holds == oracle.order_is_kept(solutions, 100.0)
    for _, k, over, needed, multiplier in check.violations.iter_rows():
        worst = max(c for kk, c in solutions if kk == k) - min(c for kk, c in solutions if kk == over)
        assert (needed * (over - k), multiplier) == (pytest.approx(worst), 100.0)
    assert ("breaks" in gl.build_envelopes(campaign, transform=transform).notes[-1]) == (not check.holds)


def test_two_units_more_may_break_the_order_where_one_more_was_never_seen():
    """M = 10: K = 3, C = 100 scores 130; K = 5, C = 70 scores 120, and nobody saw K = 4."""
    envelopes = gl.build_envelopes(hierarchical_campaign([(3, 100), (5, 70)]), transform="hierarchical:10")
    assert envelopes.hierarchy.violations.rows() == [("i", 3.0, 5.0, 15.0, 10.0)]
    assert envelopes.hierarchy.needed == 15.0
    assert "breaks the lexicographic order in 1 of 1 observed pair" in envelopes.notes[-1]
    assert "K=3 against 5: needs M > 15, has 10" in envelopes.notes[-1]
    assert envelopes.select([0]).hierarchy is envelopes.hierarchy


def test_equal_scores_of_two_values_of_k_break_the_order():
    """M = 10: K = 3, C = 100 and K = 4, C = 90 both score 130, so the better one does not win."""
    check = check_hierarchy(hierarchical_campaign([(3, 100), (4, 90)]), TEN)
    assert (check.holds, check.needed) == (False, 10.0)
    assert check_hierarchy(hierarchical_campaign([(3, 100), (4, 91)]), TEN).holds


def test_unchecked_candidates_are_compared_where_they_count():
    campaign = hierarchical_campaign([(3, 100), (5, 70)], valid=None)
    trusted = gl.build_envelopes(campaign, transform=TEN, unchecked="solver")
    assert not trusted.hierarchy.holds
    left_out = gl.build_envelopes(campaign, transform=TEN, unchecked="leave-out")
    assert (left_out.hierarchy.pairs, left_out.hierarchy.needed) == (0, None)
    assert "M was not tested" in left_out.notes[-1]


def test_the_all_clear_counts_what_it_rests_on():
    envelopes = gl.build_envelopes(hierarchical_campaign([(3, 10), (4, 5), (6, 2)]), transform=TEN)
    assert (envelopes.hierarchy.holds, envelopes.hierarchy.pairs, envelopes.hierarchy.needed) == (True, 3, 5.0)
    assert "keeps the lexicographic order in all 3 observed pairs" in envelopes.notes[-1]
    assert gl.build_envelopes(hierarchical_campaign([(3, 10)])).hierarchy is None


def test_hierarchical_components_are_reported_beside_the_score():
    campaign = hierarchical_campaign([(3, 250), (2, 300), (2, 260)])
    envelopes = gl.build_envelopes(campaign, transform="hierarchical:10n")
    assert list(zip(*map(list, envelopes.steps(0)), strict=True)) == [(0.0, 550.0), (1.0, 500.0), (2.0, 460.0)]
    row = gl.score(envelopes, gl.Snapshot.from_values({"i": 460.0}, name="mine")).frame.row(0, named=True)
    assert (row["best_primary"], row["best_secondary"], row["final_gap"]) == (2.0, 260.0, 0.0)
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "trace": [(1, 9.0)]}
    with pytest.raises(ObjectiveError, match="expected columns primary and secondary"):
        gl.build_envelopes(gl.Campaign.from_runs([run]), transform="hierarchical:10")
    sizeless = replace(campaign, runs=campaign.runs.drop("size"))
    with pytest.raises(ObjectiveError, match="`size` column"):
        gl.build_envelopes(sizeless, transform="hierarchical:10n")

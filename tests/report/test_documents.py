import math

import pytest

from gapline.report.numbers import number_or_overflow
from gapline.report.tables.means import score_document
from report.report_studies import by_hand, hierarchical, synthetic, synthetic_said


def test_arms_have_their_tier_and_rank_where_an_order_is_given():
    study = synthetic()
    arms = score_document(study.scores[0], study.summary, per_run=False, order=synthetic_said().order)["arms"]
    assert {arm["arm"]: arm["tier"] for arm in arms} == {"early": 1, "late": 1, "steady": 1, "sliced": 2}
    assert {arm["arm"] for arm in arms if arm["rank"] is None} == {"sliced"}
    plain = score_document(study.scores[0], study.summary, per_run=False)
    assert "runs" not in plain
    assert not {"tier", "rank"} & set(plain["arms"][0])


def test_runs_by_hand():
    """Arm a on i, seed 1: 1/3 for half of the horizon, then at the reference."""
    study = by_hand()
    runs = score_document(study.scores[0], study.summary, per_run=True)["runs"]
    first = next(run for run in runs if (run["arm"], run["instance"], run["seed"]) == ("a", "i", 1))
    assert first["scores"]["squeezed"] == pytest.approx(1 / 6, abs=1e-15)
    assert (first["best"], first["final_gap"], first["hitting_times"]["0.01"]) == (10.0, 0.0, 5.0)
    empty = next(run for run in runs if (run["arm"], run["instance"], run["seed"]) == ("b", "i", 2))
    assert (empty["best"], empty["final_gap"], empty["hitting_times"]["0.01"]) == (None, None, None)


def test_both_parts_of_a_hierarchical_objective_are_in_the_runs():
    study = hierarchical()
    runs = score_document(study.scores[0], study.summary, per_run=True)["runs"]
    assert [(run["best_primary"], run["best_secondary"]) for run in runs] == [(2, 50), (2, 40), (3, 20)]


def test_json_has_no_infinity():
    assert [number_or_overflow(value) for value in (0.5, None, math.inf)] == [0.5, None, "overflow"]

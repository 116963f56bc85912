"""Other shift constants and multipliers: by hand, and what cannot be scored under them."""

import json

import pytest

import gapline as gl
from gapline.errors import UsageError
from study.edge_runs import run

# Of 10 s: `early` is at 20 from 0 on, `late` at 0 (the reference) from 5 on. Shifted by C against 0 + C:
# early scores 20 / (20 + 2C), late 1/2 whatever C is. Early is better where C > 10.
TRACES = {"early": [(0, 20.0)], "late": [(5, 0.0)]}


def shifted(*transforms, declared="shift:30", **more):
    campaign = gl.Campaign.from_runs([run(arm, i, 1, trace) for arm, trace in TRACES.items() for i in "ij"])
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 0.0), name="zero")
    study = gl.open_study(campaign, snapshots=[snapshot], transform=declared, **more)
    return gl.analyse(study, transforms=transforms or None)


def scores(found, transform):
    rows = found.pooled.filter(found.pooled["transform"] == transform)
    return dict(rows.select("arm", "score").iter_rows())


def test_a_smaller_constant_turns_the_order_and_says_so():
    analysis = shifted("shift:5", "shift:100")
    found = analysis.transforms
    assert found.base == "shift:30"
    assert scores(found, "shift:30") == pytest.approx({"early": 20 / 80, "late": 0.5})
    assert scores(found, "shift:5") == pytest.approx({"early": 20 / 30, "late": 0.5})
    assert scores(found, "shift:100") == pytest.approx({"early": 20 / 220, "late": 0.5})
    assert [(r.transform, r.panel, r.a, r.b) for r in found.reversals] == [("shift:5", "p", "early", "late")]
    assert (found.pairs, found.unscored) == (1, ())
    row = found.pooled.filter((found.pooled["transform"] == "shift:5") & (found.pooled["arm"] == "early"))
    assert row.select("rank", "shift").row(0) == (2, pytest.approx(20 / 30 - 20 / 80))
    verdicts = analysis.robustness.verdicts.filter(analysis.robustness.verdicts["factor"] == "transform")
    assert verdicts.select("choice", "verdict").rows() == [
        ("transform shift:5", "flips"), ("transform shift:100", "holds"),
    ]  # fmt: skip
    assert "transform shift:5" in analysis.robustness.summary["text"][0]


def test_half_and_twice_the_declared_constant_stand_in_for_a_question_that_nobody_asked():
    assert list(dict.fromkeys(shifted().transforms.pooled["transform"])) == ["shift:30", "shift:15", "shift:60"]
    # Without a constant there is nothing to vary, and the robustness is what it was.
    campaign = gl.Campaign.from_runs([run(arm, "i", 1, [(1, 20.0)]) for arm in "ab"])
    plain = gl.analyse(gl.open_study(campaign, snapshots=[gl.Snapshot.from_values({"i": 10.0}, name="ten")]))
    assert plain.transforms is None
    assert "transform" not in plain.robustness.verdicts["factor"].to_list()
    assert plain.document()["transforms"] is None


def test_what_cannot_be_scored_is_said_and_not_dropped():
    analysis = shifted("shift:0", "shift:-25", "reciprocal", "shift:10")
    found = analysis.transforms
    assert [one.transform for one in found.unscored] == ["shift:0", "shift:-25", "reciprocal"]
    assert "2 of 2 instances cannot be scored: i (" in found.unscored[0].reason
    assert "does not fit the sense" in found.unscored[2].reason
    assert list(analysis.robustness.left_out[-3:]) == [
        f"transform {name}: cannot be scored" for name in ("shift:0", "shift:-25", "reciprocal")
    ]
    # At 10 both arms score 1/2: a tie is no reversal.
    assert found.reversals == ()
    assert json.loads(json.dumps(found.document(), allow_nan=False))["unscored"][0]["transform"] == "shift:0"


def test_a_rule_varies_its_instances_alone_and_the_same_scale_is_read_once():
    found = shifted("i=shift:5", "shift:30", "x1").transforms
    assert list(dict.fromkeys(found.pooled["transform"])) == ["shift:30", "i=shift:5"]
    assert scores(found, "i=shift:5")["early"] == pytest.approx((20 / 30 + 20 / 80) / 2)


def test_the_horizon_and_the_fold_are_those_of_the_study():
    # Scored up to 4 s, where late has nothing; folded, the best of these runs at 4 s is 20 itself.
    found = shifted("shift:5", horizon=4.0, policy="analysis").transforms
    assert scores(found, "shift:5")["late"] == 1.0
    assert scores(found, "shift:5")["early"] == pytest.approx(20 / 30)


def test_a_transform_that_nobody_can_read_is_a_mistake_of_the_call():
    for text in ("shift", "x", "x-2", "nobody=shift:5"):
        with pytest.raises(UsageError, match="transform"):
            _ = shifted(text).transforms


ROWS = [
    {"arm": arm, "instance": "i", "seed": 1, "horizon": 10.0, "time": 0.0, "objective": 1.0, "valid": True,
     "primary": float(k), "secondary": c}
    for arm, k, c in (("few", 2, 90.0), ("cheap", 3, 60.0))
]  # fmt: skip


def hierarchical(*transforms, components=True):
    """One instance: `few` ends at K=2, C=90, `cheap` at K=3, C=60; the reference is K=2, C=60."""
    parts = {"primary": 2.0, "secondary": 60.0} if components else {}
    snapshot = gl.Snapshot.from_entries({"i": {"value": 260.0, **parts}}, name="best", store={"name": "mine"})
    return gl.analyse(
        gl.open_study(gl.read(ROWS), snapshots=[snapshot], transform="hierarchical:100"), transforms=transforms or None
    ).transforms


def test_another_multiplier_prices_references_anew_and_says_where_it_breaks_the_order():
    found = hierarchical("hierarchical:20")
    # M = 100: 290 and 360 against 260. M = 20: 130 and 120 against 100.
    assert scores(found, "hierarchical:100") == pytest.approx({"few": 30 / 550, "cheap": 100 / 620})
    assert scores(found, "hierarchical:20") == pytest.approx({"few": 30 / 230, "cheap": 20 / 220})
    assert [r.transform for r in found.reversals] == ["hierarchical:20"]
    assert "hierarchical:20 breaks the lexicographic order" in found.notes[0]
    assert "needs M > 30" in found.notes[0]


def test_a_reference_without_components_cannot_be_priced_under_another_multiplier():
    found = hierarchical("hierarchical:20", components=False)
    assert "no components" in found.unscored[0].reason
    assert list(dict.fromkeys(found.pooled["transform"])) == ["hierarchical:100"]
    assert "no M" not in found.unscored[0].reason
    assert "expected M" in hierarchical("shift:5").unscored[0].reason


def test_under_the_policy_analysis_the_best_of_the_runs_is_found_anew():
    study = gl.open_study(gl.read(ROWS), policy="analysis", transform="hierarchical:100")
    found = gl.analyse(study, transforms=["hierarchical:20"]).transforms
    # M = 100: few is the best, 290 against 360. M = 20: cheap is, 120 against 130.
    assert scores(found, "hierarchical:100") == pytest.approx({"few": 0.0, "cheap": 70 / 650})
    assert scores(found, "hierarchical:20") == pytest.approx({"few": 10 / 250, "cheap": 0.0})

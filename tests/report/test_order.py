import gapline as gl
from gapline.report.order import order_arms


def summary_of(finals, kernels=("squeezed",), tier_two=()):
    """One run per arm against 10, feasible from the start on."""
    runs = [
        {
            "arm": arm,
            "instance": "i",
            "seed": 1,
            "horizon": 9,
            "tier": 1 + (arm in tier_two),
            "trace": [(0, z)] if z else [],
        }
        for arm, z in finals.items()
    ]
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="known")
    return gl.summarise(gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot, kernels=kernels))


def test_compared_arms_come_best_first_and_ties_share_the_better_rank():
    order = order_arms(summary_of({"d": 12.0, "c": 11.0, "b": 12.0, "a": 14.0}))
    assert order.arms == ("c", "b", "d", "a")
    assert order.ranks == {"c": 1, "b": 2, "d": 2, "a": 4}
    assert order.notes() == []


def test_a_descriptive_arm_comes_last_without_a_rank_and_leaves_no_gap_in_the_ranks():
    order = order_arms(summary_of({"best": 10.0, "a": 11.0, "b": 12.0}), tier_two=["best"])
    assert order.arms == ("a", "b", "best")
    assert [order.rank(arm) for arm in order.arms] == ["1", "2", "–"]
    assert order.notes() == ["Descriptive, not compared: best."]


def test_an_arm_without_a_mean_is_listed_last_and_unranked():
    order = order_arms(summary_of({"a": None, "b": 12.0}, kernels=["raw"]))
    assert order.arms == ("b", "a")
    assert order.ranks == {"b": 1}


def test_berthold_ranks_nothing_where_a_reference_is_beaten():
    summary = summary_of({"a": 8.0, "b": 12.0}, kernels=["berthold", "squeezed"])
    order = order_arms(summary)
    assert (order.ranks, order.outside) == ({}, {"berthold"})
    assert order.notes() == ["Berthold counts beating the reference as a loss, and 1 run beat it: shown, not ranked."]
    # A reference that a descriptive arm alone beats says nothing against the order of the others.
    assert order_arms(summary_of({"a": 8.0, "b": 12.0, "c": 11.0}, kernels=["berthold"], tier_two=["a"])).ranks == {
        "c": 1,
        "b": 2,
    }

"""The campaign: columns that are shared and read-only, runs that cannot disappear, a digest of the content."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import strategies
from campaign.small_campaigns import arrays, table
from gapline.contract.tables import RunKey
from gapline.errors import TraceError, UsageError


def test_columns_are_shared_not_copied_and_read_only():
    time = np.array([1.0, 2.0, 1.5])
    campaign = arrays(time=time)
    assert np.shares_memory(campaign.time, time)
    with pytest.raises(ValueError, match="read-only"):
        campaign.time[0] = 5.0
    time[0] = 1.25  # The caller's own array stays writable.


def test_missing_run_columns_are_filled_and_further_ones_carried():
    campaign = arrays(table(slices=[10, 60]))
    assert campaign.runs.select("panel", "horizon", "status", "slices").rows() == [
        ("all", None, "unknown", 10),
        ("all", None, "unknown", 60),
    ]
    assert campaign.diagnostics.rejected == {"declared invalid": 1}
    assert campaign.diagnostics.unchecked == 1


@pytest.mark.parametrize(
    ("runs", "message"),
    [
        (table().drop("seed"), "got no seed"),
        (table(arm=["a", None]), "expected a value in every arm"),
        (table(arm=["a", "a"]), "duplicates: a/i/1"),
        (table(count=[2, 2]), "slices inside 0:3"),
        (table(count=[2, -1]), "slices inside 0:3"),
        (table(first=[0, 1]), "cover 3 candidates once"),
        (table(count=[1, 1]), "cover 3 candidates once"),
        (table(status=["done", "lost"]), "got 'done'"),
        (table(horizon=[0.0, 1.0]), "positive finite seconds, got a/i/1 0.0"),
        (table(horizon=[math.nan, 1.0]), "positive finite seconds"),
        (table(seed=["x", "y"]), "runs table: expected"),
    ],
)
def test_a_bad_runs_table_is_refused(runs, message):
    with pytest.raises(TraceError, match=message):
        arrays(runs)


def test_bad_columns_are_refused():
    with pytest.raises(TraceError, match="expected columns of one length"):
        arrays(time=np.zeros(2))
    with pytest.raises(TraceError, match="expected one dimension in time"):
        arrays(time=np.zeros((3, 1)))
    with pytest.raises(UsageError, match="expected columns among claimed"):
        arrays(bounds=np.zeros(3))


def test_filter_takes_names_and_patterns_and_refuses_those_that_match_nothing():
    campaign = arrays(table(instance=["X-n101", "Y[1]"]))
    assert campaign.filter(instance="X-n*").runs["arm"].to_list() == ["a"]
    assert campaign.filter(instance="Y[1]").runs["arm"].to_list() == ["b"]
    assert campaign.filter(arm=["a", "b"], panel="all").candidates == 3
    assert campaign.filter(arm="b").time is campaign.time
    with pytest.raises(UsageError, match="--instance X-n10: matches no run") as caught:
        campaign.filter(instance="X-n10")
    assert "did you mean 'X-n101'?" in caught.value.hint


def test_a_filtered_campaign_scores_and_compacts_like_one_read_alone():
    whole = gl.Campaign.from_runs(
        [
            {"arm": a, "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, z), (2, z / 2)]}
            for a, z in (("a", 8.0), ("b", 6.0))
        ]
    )
    alone = gl.Campaign.from_runs(
        [{"arm": "b", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 6.0), (2, 3.0)]}]
    )
    part = whole.filter(arm="b")
    assert part.candidates == 2
    assert part.digest() == alone.digest()
    assert len(part.compact().time) == 2
    assert gl.build_envelopes(part).objective.tolist() == [6.0, 3.0]


@given(strategies.campaigns(), st.randoms(use_true_random=False))
def test_the_digest_does_not_depend_on_the_order_of_the_runs(drawn, random):
    runs, _ = drawn
    shuffled = list(runs)
    random.shuffle(shuffled)
    assert gl.Campaign.from_runs(runs).digest() == gl.Campaign.from_runs(shuffled).digest()


def test_the_digest_depends_on_everything_else():
    run = {"arm": "a", "instance": "i", "seed": 1, "panel": "p", "horizon": 9, "trace": [(1, 5.0, True)]}
    others = [
        run | {"arm": "b"}, run | {"instance": "j"}, run | {"seed": 2}, run | {"panel": "q"}, run | {"horizon": 8},
        run | {"trace": [(1, 5.0, False)]}, run | {"trace": [(1, math.nextafter(5, 6), True)]}, run | {"threads": 2},
        run | {"trace": [(math.nextafter(1, 2), 5.0, True)]}, run | {"trace": []}, run | {"status": "crashed"},
    ]  # fmt: skip
    digests = {gl.Campaign.from_runs([other]).digest() for other in [run, *others]}
    assert len(digests) == len(others) + 1


def test_a_notebook_sees_a_table():
    campaign = arrays()
    assert repr(campaign) == "Campaign(2 runs of 2 arms on 1 instances, 3 candidates)"
    assert "<table" in campaign._repr_html_()
    assert "0x" not in repr(gl.build_envelopes(campaign, horizon=9, unchecked="leave-out"))


def test_interrupted_cells_are_no_runs_but_are_filtered_and_digested_with_them():
    cells = [RunKey("b", "j", 2), RunKey("a", "j", 1), RunKey("a", "i", 2)]
    runs = table(instance=["i", "j"], panel=["p", "q"])
    whole = arrays(runs, interrupted=cells)
    assert len(whole) == 2
    assert whole.interrupted == (("a", "i", 2), ("a", "j", 1), ("b", "j", 2))
    assert whole.filter(arm="a*").interrupted == (("a", "i", 2), ("a", "j", 1))
    assert whole.filter(arm="b", instance="j").interrupted == (("b", "j", 2),)
    # A cell that never ran has no panel of its own: it is where the runs on its instance are.
    assert whole.filter(panel="p").interrupted == (("a", "i", 2),)
    assert whole.digest() != arrays(runs).digest()
    assert whole.digest() == arrays(runs, interrupted=reversed(cells)).digest()

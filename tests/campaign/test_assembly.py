"""Loose events become a campaign: runs by key, events by time, what has no number rejected, everything counted."""

import numpy as np
import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import gapline as gl
from gapline.campaign import assembly as module
from gapline.campaign.assembly import RunTrace, assemble, campaign_from_traces
from gapline.contract.tables import VerdictCode
from gapline.files.memory import limited_memory
from traces.neutral_traces import write


def test_runs_are_ordered_by_key_and_events_by_time():
    """Of seven events two are out of order, one is late, one has no stamp, one no objective, and one stands twice."""
    nan, inf = float("nan"), float("inf")
    late = RunTrace([5.0, 2.0, nan, 9.0], [10.0, 12.0, 1.0, 3.0], arm="b", instance="i", seed=1, horizon=8.0)
    other = RunTrace([1.0, 1.0, inf], [7.0, 7.0, nan], arm="a", instance="i", seed=1, carried={"threads": 4})
    empty = RunTrace([], [], arm="a", instance="h", seed=2, status="crashed")
    campaign = campaign_from_traces([late, other, empty])
    assert list(map(str, campaign.keys())) == ["a/h/2", "a/i/1", "b/i/1"]
    assert campaign.runs["count"].to_list() == [0, 3, 4]
    assert campaign.runs["threads"].to_list() == [None, 4, None]
    np.testing.assert_array_equal(campaign.time, [1.0, 1.0, nan, 2.0, 5.0, 9.0, nan])
    np.testing.assert_array_equal(campaign.objective, [7.0, 7.0, nan, 12.0, 10.0, 3.0, 1.0])
    found = campaign.diagnostics
    assert (found.runs, found.empty, found.candidates) == (3, 1, 7)
    assert (found.unordered, found.duplicate, found.late) == (1, 1, 1)
    assert found.rejected == {"time not finite": 2}


def test_optional_columns_are_blank_where_a_run_has_none():
    first = RunTrace([1.0], [5.0], arm="a", instance="i", seed=1, bound=[4.0])
    second = RunTrace([2.0], [6.0], [VerdictCode.INVALID], arm="a", instance="i", seed=2, reason=["too heavy"])
    campaign = campaign_from_traces([second, first])
    np.testing.assert_array_equal(campaign.bound, [4.0, float("nan")])
    assert [campaign.reasons[code] for code in campaign.reason] == ["", "too heavy"]
    assert campaign.claimed is None
    assert campaign.diagnostics.rejected == {"too heavy": 1}


def test_no_runs_are_a_campaign_of_none():
    assert len(campaign_from_traces([])) == 0


def test_stamps_that_go_backwards_are_sorted_and_counted(tmp_path):
    path = write(tmp_path, ["a,i,1,5,20,true,30", "a,i,1,2,30,true,30", "a,i,1,5,20,true,30", "a,i,1,31,5,true,30"])
    campaign = gl.read(path)
    assert campaign.time.tolist() == [2.0, 5.0, 5.0, 31.0]
    found = campaign.diagnostics
    assert (found.unordered, found.duplicate, found.late) == (1, 1, 1)
    assert gl.build_envelopes(campaign).objective.tolist() == [30.0, 20.0]


def test_runs_scattered_over_a_file_are_gathered(tmp_path):
    rows = ["b,i,1,1,20,true,30", "a,i,1,1,30,true,30", "b,i,1,2,10,true,30", "a,i,1,2,25,true,30"]
    campaign = gl.read(write(tmp_path, rows))
    assert campaign.runs.select("arm", "count").rows() == [("a", 2), ("b", 2)]
    assert campaign.objective.tolist() == [30.0, 25.0, 20.0, 10.0]


def test_more_reasons_than_codes_are_folded_not_lost(tmp_path):
    rows = [f"a,i,1,{k},20,false,reason {k}" for k in range(400)]
    campaign = gl.read(write(tmp_path, rows, header="arm,instance,seed,time,objective,valid,reason"), allow_empty=True)
    assert campaign.diagnostics.rejected_count == 400
    assert campaign.diagnostics.rejected["other reasons"] >= 1


STAMPS = st.sampled_from([0.0, -0.0, 1.0, 1.0, 2.0, 3.0, float("nan")])


def assembled(run, time):
    """Return the events of a campaign by their numbers in the source; in place they are the same campaign."""
    runs = pl.DataFrame({"arm": "a", "instance": "i", "seed": np.arange(int(run.max()) + 1), "horizon": 2.0})
    columns = {"time": time, "objective": np.arange(len(run), dtype=float), "verdict": np.ones(len(run), np.uint8)}
    campaign = assemble(runs, run=run, columns=dict(columns))
    in_place = assemble(runs, run=run, columns=dict(columns), in_place=True)
    assert in_place.digest() == campaign.digest()
    assert in_place.diagnostics == campaign.diagnostics
    return campaign.objective.astype(int)


@pytest.mark.parametrize("long", [1, 3, 1000])
@given(data=st.data())
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_events_are_ordered_as_one_sort_by_run_and_time_would(long, data, monkeypatch):
    """Runs in blocks, in turns or scattered; equal stamps, zeros of both signs and none at all."""
    monkeypatch.setattr(module, "_LONG", long)
    size = data.draw(st.integers(1, 40))
    run = data.draw(arrays(np.int32, size, elements=st.integers(0, 5)))
    time = data.draw(arrays(np.float64, size, elements=STAMPS))
    if data.draw(st.booleans()):
        time = np.sort(time)
    if data.draw(st.booleans()):
        # Blocks: each run in order, the runs in any.
        place = np.lexsort((time, (run * 3 + 2) % 5))
        run, time = run[place], time[place]
    np.testing.assert_array_equal(assembled(run, time), np.lexsort((time, run)))


@pytest.mark.parametrize("most", [3, 0xFFFF, 0x10000, 300_000])
def test_numbers_of_runs_beyond_16_bits_are_ordered_too(most):
    run = np.random.default_rng(most).integers(0, most + 1, 3000).astype(np.int32)
    run[:2] = most, most - 1
    np.testing.assert_array_equal(assembled(run, np.ones(3000)), np.argsort(run, kind="stable"))


def test_columns_beyond_the_budget_are_ordered_in_scratch_files():
    run, time = np.array([1, 0, 1, 0, 1], np.int32), np.array([4.0, 3.0, 2.0, 1.0, 0.0])
    with limited_memory(16):
        np.testing.assert_array_equal(assembled(run, time), [3, 1, 4, 2, 0])
        np.testing.assert_array_equal(assembled(run[::-1].copy(), np.sort(time)), [1, 3, 0, 2, 4])


def test_long_runs_that_lie_whole_stay_where_they_are():
    """Run 2, then run 0 in two tables of its file, then run 1; run 3 is empty. A copy in order scores the same."""
    runs = pl.DataFrame({"arm": "a", "instance": "i", "seed": range(4), "horizon": 99.0})
    time = np.concatenate([np.arange(100.0), np.arange(200.0) / 2, np.arange(100.0)])
    columns = {"time": time, "objective": np.arange(400.0, 0.0, -1.0), "verdict": np.ones(400, np.uint8)}
    run = np.repeat(np.array([2, 0, 0, 1], np.int32), [100, 120, 80, 100])
    campaign = assemble(runs, run=run, columns=dict(columns), in_place=True)
    assert np.shares_memory(campaign.time, time)
    assert campaign.runs.select("seed", "first", "count").rows()[:3] == [(0, 100, 200), (1, 300, 100), (2, 0, 100)]
    assert campaign.diagnostics.late == 1
    copied = campaign.compact()
    assert copied.runs["first"].to_list() == [0, 200, 300, 400]
    here, there = (gl.build_envelopes(one) for one in (campaign, copied))
    for row in range(4):
        for mine, theirs in zip(here.steps(row), there.steps(row), strict=True):
            np.testing.assert_array_equal(mine, theirs)


def test_a_candidate_that_stands_twice_is_counted_within_a_run():
    runs = pl.DataFrame({"arm": "a", "instance": "i", "seed": [1, 2]})
    columns = {"time": np.ones(4), "objective": np.array([5.0, 5.0, 5.0, 4.0]), "verdict": np.ones(4, np.uint8)}
    found = assemble(runs, run=np.array([0, 0, 1, 1], np.int32), columns=columns).diagnostics
    assert (found.duplicate, found.unordered) == (1, 0)


def test_runs_with_bounds_alone_are_empty_wherever_they_lie():
    runs = pl.DataFrame({"arm": "a", "instance": "i", "seed": range(3)})
    verdict = np.repeat([VerdictCode.VALID, VerdictCode.BOUND, VerdictCode.VALID], 100).astype(np.uint8)
    columns = {"time": np.tile(np.arange(100.0), 3), "objective": np.ones(300), "verdict": verdict}
    run = np.repeat(np.array([2, 0, 1], np.int32), 100)
    for in_place in (True, False):
        found = assemble(runs, run=run, columns=dict(columns), in_place=in_place).diagnostics
        assert (found.empty, found.candidates) == (1, 200)

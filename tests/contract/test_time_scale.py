"""Time on different machines: every time of a run is multiplied, nothing beyond what was observed is scored."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gapline as gl
from gapline.campaign.time_scale import parse_factors, scale_times, settle_time_scale
from gapline.contract.time_scale import DECLARED, TimeScale, join_time_scales, time_scale_of
from gapline.errors import HorizonError, MixedScoresError, UsageError
from oracle import integral

REFERENCE = gl.Snapshot.from_values({"i": 10.0}, name="known")


def run(arm, trace, **facts):
    return {"arm": arm, "instance": "i", "seed": 1, "horizon": 60.0, "trace": trace} | facts


def two_hosts(**facts):
    """The same work on two hosts, of which node2 is twice as fast."""
    steps = [(8.0, 40.0), (20.0, 15.0), (55.0, 11.0)]
    fast = [(time / 2, value) for time, value in steps]
    slow = {"host": "node1", "machine": "old, 4 cores"}
    return gl.Campaign.from_runs(
        [run("slow", steps, **slow, **facts), run("fast", fast, host="node2", machine="new, 8 cores", **facts)]
    )


def opened(campaign, **choices):
    return gl.open_study(campaign, snapshots=[REFERENCE], **choices)


@pytest.mark.parametrize(
    "given",
    ["node2=2", ["node2=2.0"], {"node2": 2}, "node2*=2", "new*=2", ["node2=2", "node1=1"], ["new, 8 cores=2"]],
)
def test_the_same_work_on_a_faster_host_has_the_same_score(given):
    study = opened(two_hosts(), time_scale=given)
    exact = integral([(8, 40), (20, 15), (55, 11)], 10, 60)
    slow, fast = study.scores[0].frame.sort("arm", descending=True).iter_rows(named=True)
    assert slow["squeezed"] == fast["squeezed"] == pytest.approx(float(exact))
    assert (slow["horizon"], slow["announced"]) == (fast["horizon"], fast["announced"]) == (60.0, 60.0)
    assert slow["first_time"] == fast["first_time"] == 8.0
    assert (slow["time_scale"], fast["time_scale"]) == (1.0, 2.0)
    assert study.reading.time_scale == TimeScale((("node2", 2.0),), DECLARED)
    # Without being asked for, nothing is scaled.
    assert opened(two_hosts()).reading.time_scale is None


@given(
    factor=st.floats(0.01, 100),
    own=st.floats(1, 1000),
    times=st.lists(st.floats(0, 1), min_size=1, max_size=6, unique=True),
)
@example(factor=1 / 1.25, own=75.0, times=[1.0])
def test_a_scaled_score_is_that_of_the_scaled_trace(factor, own, times):
    """Independent of our code: the trace is multiplied by hand and scored unscaled."""
    trace = [(time * own, 20.0 - k) for k, time in enumerate(sorted(times))]
    scored = own * factor * 0.75
    by_hand = [(time * factor, value) for time, value in trace]
    mine = opened(
        gl.Campaign.from_runs([run("a", trace, horizon=own, host="x")]), time_scale=f"x={factor!r}", horizon=scored
    )
    theirs = opened(gl.Campaign.from_runs([run("a", by_hand, horizon=own * factor)]), horizon=scored)
    names = ["squeezed", "late", "steps", "first_time", "final_gap", "hit:0.01"]
    assert mine.scores[0].frame.select(names).rows() == theirs.scores[0].frame.select(names).rows()


def test_resolution_and_bounds_are_in_reference_seconds_too():
    campaign = two_hosts(resolution=0.5)
    scaled = scale_times(campaign, settle_time_scale("node2=2", [campaign]))
    assert dict(scaled.runs.select("host", "resolution").iter_rows()) == {"node1": 0.5, "node2": 1.0}
    assert sorted(scaled.time.tolist()) == sorted([8.0, 20.0, 55.0] * 2)
    # The campaign itself is what the solvers said: it does not change.
    assert "time_scale" not in campaign.runs.columns
    assert sorted(campaign.time.tolist()) == [4.0, 8.0, 10.0, 20.0, 27.5, 55.0]
    notes = opened(campaign, time_scale="node2=2").notes()
    assert any(note.startswith("stamps may be off by up to 1:") for note in notes)


def test_a_dual_bound_moves_with_its_stamp():
    campaign = gl.read(
        [
            {
                "arm": "a",
                "instance": "i",
                "seed": 1,
                "horizon": 10.0,
                "host": "x",
                "time": t,
                "objective": z,
                "bound": b,
            }
            for t, z, b in ((1.0, 30.0, 5.0), (4.0, 20.0, 9.0))
        ]
    )
    scaled = scale_times(campaign, TimeScale((("x", 3.0),), DECLARED))
    assert dict(zip(scaled.time.tolist(), scaled.bound.tolist(), strict=True)) == {3.0: 5.0, 12.0: 9.0}


def test_a_slower_host_was_not_watched_long_enough_and_the_largest_horizon_is_named():
    with pytest.raises(HorizonError) as error:
        opened(two_hosts(), time_scale="node1=0.7")
    assert "horizon 60: expected at most each run's budget in seconds of the reference machine" in error.value.message
    assert "slow/i/1 (42)" in error.value.message
    assert error.value.hint.endswith("the largest that works is --horizon 42")
    study = opened(two_hosts(), time_scale="node1=0.7", horizon=42)
    late = dict(study.scores[0].frame.select("arm", "late").iter_rows())
    # 55 s on node1 are 38.5 s; on node2, which is not scaled, all stamps are before 42.
    assert late == {"slow": 0, "fast": 0}
    assert study.reading.horizons == (42.0,)
    assert study.reading.announced == (60.0,)
    with pytest.raises(HorizonError):
        opened(two_hosts(), time_scale="node1=0.7", horizon=42.1)


@given(st.floats(0.05, 0.999))
def test_the_horizon_that_the_error_names_works(factor):
    with pytest.raises(HorizonError) as error:
        opened(two_hosts(), time_scale=f"node1={factor!r}")
    horizon = float(error.value.hint.rpartition(" ")[2])
    assert opened(two_hosts(), time_scale=f"node1={factor!r}", horizon=horizon).reading.horizons == (horizon,)
    # Six digits at most below the exact one.
    assert horizon == pytest.approx(60 * factor, rel=1e-5)


def test_candidates_of_a_fast_host_after_the_scored_horizon_are_late():
    study = opened(two_hosts(), time_scale="node2=4")
    row = study.scores[0].frame.filter(arm="fast").row(0, named=True)
    # 27.5 s there are 110 s here.
    assert (row["steps"], row["late"]) == (2, 1)


def test_a_scaled_run_has_to_say_what_its_budget_was():
    campaign = gl.Campaign.from_runs([run("a", [(1.0, 20.0)], host="x", horizon=None)])
    with pytest.raises(HorizonError, match="budget of every run that is scaled"):
        opened(campaign, time_scale="x=2", horizon=10)
    # A run that is not scaled is as before: --horizon fills it.
    both = gl.Campaign.from_runs([run("a", [(1.0, 20.0)], horizon=None, host="y"), run("b", [(1.0, 20.0)], host="x")])
    assert opened(both, time_scale="x=2", horizon=10).reading.horizons == (10.0,)


@pytest.mark.parametrize(
    ("given", "message", "hint"),
    [
        ("node3=2", "--time-scale node3: matches no run", "did you mean 'node"),
        ("node2", "expected HOST=FACTOR with a positive factor, got 'node2'", "HOST=1.37"),
        ("node2=0", "got 'node2=0'", "HOST=1.37"),
        ("node2=nan", "got 'node2=nan'", "HOST=1.37"),
        ("node2=-1", "got 'node2=-1'", "HOST=1.37"),
        ("=2", "got '2'", "HOST=1.37"),
        (["node2=2", "node2=3"], "expected each host once, got node2 again", ""),
        (["node2=2", "new*=3"], "expected one factor for node2, got 2, 3", ""),
        ("measured", "expected HOST=FACTOR with a positive factor, got 'measured'", "HOST=1.37"),
        ("measured:node1", "expected HOST=FACTOR with a positive factor, got 'measured:node1'", "HOST=1.37"),
    ],
)
def test_what_cannot_be_meant_is_refused(given, message, hint):
    with pytest.raises(UsageError) as error:
        opened(two_hosts(), time_scale=given)
    assert message in error.value.message
    assert hint in (error.value.hint or "")


def test_a_source_that_names_no_host_says_so_and_one_that_counts_evaluations_is_no_time():
    with pytest.raises(UsageError) as error:
        opened(gl.Campaign.from_runs([run("a", [(1.0, 20.0)])]), time_scale="x=2")
    assert "column `host`" in error.value.hint
    with pytest.raises(UsageError, match="count evaluations"):
        opened(gl.Campaign.from_runs([run("a", [(1.0, 20.0)], host="x", clock="evaluations")]), time_scale="x=2")
    scaled = scale_times(two_hosts(), TimeScale((("node2", 2.0),), DECLARED))
    with pytest.raises(UsageError, match="scaled already"):
        opened(scaled, time_scale="node2=2")
    # Whatever was scaled says so, whoever did it.
    assert str(opened(scaled).reading.time_scale) == "node2 × 2, other hosts × 1 (declared)"


def test_a_column_of_a_file_that_is_only_called_so_scales_nothing():
    campaign = gl.Campaign.from_runs([run("a", [(1.0, 20.0)], time_scale=2.0, own_horizon=30.0, host="x")])
    study = opened(campaign)
    assert study.reading.time_scale is None
    assert study.reading.horizons == (60.0,)
    assert opened(campaign, time_scale="x=2").reading.time_scale is not None


def test_hosts_are_looked_for_before_a_filter_takes_their_runs_away():
    study = opened(two_hosts(), time_scale="node2=2", arm="slow")
    assert study.reading.time_scale == TimeScale((), DECLARED)


@pytest.mark.slow
def test_missing_cells_that_count_as_empty_are_scored_at_the_stated_horizon():
    campaign = two_hosts()
    more = gl.Campaign.from_runs([run("slow", [(1.0, 20.0)], host="node1", seed=2)])
    study = opened(gl.merge([campaign, more]), time_scale="node1=2", missing="empty")
    frame = study.scores[0].frame.sort("arm", "seed")
    assert frame.select("arm", "seed", "horizon", "steps").rows()[:2] == [("fast", 1, 60.0, 3), ("fast", 2, 60.0, 0)]


def test_parts_of_one_reading_are_put_together_and_others_refused():
    a, b = TimeScale((("x", 2.0),), DECLARED), TimeScale((("y", 3.0),), DECLARED)
    assert join_time_scales([a, b]) == TimeScale((("x", 2.0), ("y", 3.0)), DECLARED)
    assert join_time_scales([None, None]) is None
    for other in (None, TimeScale((("x", 2.5),), DECLARED), TimeScale((("y", 2.0),), "measured by mix against x")):
        with pytest.raises(MixedScoresError, match="one time scale"):
            join_time_scales([a, other])
    parts = [opened(two_hosts(), time_scale="node2=2", arm=arm).scores[0] for arm in ("slow", "fast")]
    assert gl.summarise(parts).reading.time_scale == TimeScale((("node2", 2.0),), DECLARED)
    with pytest.raises(MixedScoresError, match="one time scale"):
        gl.summarise([opened(two_hosts(), arm="slow").scores[0], parts[1]])


def test_it_stands_in_every_caption_and_in_json():
    study = opened(two_hosts(), time_scale="node2=1.37", horizon=30)
    said = "time scaled: node2 × 1.37, other hosts × 1 (declared)"
    tables = [study.scores[0], study.summary, study.ranking]
    assert all(said in table.caption() for table in tables if table is not None)
    document = study.reading.document()["time_scale"]
    assert document == {"factors": {"node2": 1.37}, "source": "declared"}
    assert time_scale_of(study.envelopes.runs) == study.reading.time_scale
    assert parse_factors({"a": 1.0}) == {"a": 1.0}


def test_scaling_keeps_columns_read_only():
    scaled = scale_times(two_hosts(), TimeScale((("node2", 2.0),), DECLARED))
    with pytest.raises(ValueError, match="read-only"):
        scaled.time[0] = 1.0
    assert np.array_equal(scaled.objective, two_hosts().objective)

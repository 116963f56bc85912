"""Envelopes: what is accepted, against the rational oracle, and what is counted."""

import math
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from envelope.single_runs import one_run, steps_of
from gapline.contract.transforms import Transform
from gapline.errors import HorizonError, ObjectiveError, TraceError, UncheckedError, UsageError


def exact_steps(steps):
    return [(float(t), float(z)) for t, z in steps]


@given(strategies.runs())
def test_envelope_is_the_oracles(run):
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    assert steps_of(envelopes) == exact_steps(oracle.envelope(run["trace"], run["horizon"]))


@given(strategies.runs(verdicts=(True, False, None)))
def test_unchecked_candidates_are_refused_left_out_or_trusted_as_asked(run):
    campaign = gl.Campaign.from_runs([run])
    left_out = gl.build_envelopes(campaign, unchecked="leave-out")
    trusted = gl.build_envelopes(campaign, unchecked="solver")
    assert steps_of(left_out) == exact_steps(oracle.envelope(run["trace"], run["horizon"]))
    assert steps_of(trusted) == exact_steps(oracle.envelope(run["trace"], run["horizon"], trust_unchecked=True))
    counted = strategies.verdict_counts(run["trace"])
    # Without a single third element the trace has no verdicts at all, so an empty one is checked by nobody's absence.
    if counted[None]:
        assert trusted.validation == "solver"
        with pytest.raises(UncheckedError, match=f"got {counted[None]} unchecked in 1 runs"):
            gl.build_envelopes(campaign)
    else:
        gl.build_envelopes(campaign)


@given(strategies.runs(verdicts=(True, False, None)))
def test_counts_are_the_candidates_counted_one_by_one(run):
    row = gl.build_envelopes(gl.Campaign.from_runs([run]), unchecked="leave-out").runs.row(0, named=True)
    trace, horizon = run["trace"], run["horizon"]
    counted = strategies.verdict_counts(trace)
    accepted = oracle.envelope(trace, horizon)
    assert row["captured"] == len(trace)
    assert row["rejected"] == counted[False]
    assert row["unchecked"] == counted[None]
    assert row["late"] == sum(t > horizon for t, _, _ in trace)
    assert row["steps"] == row["count"] == len(accepted)
    assert row["best"] == (float(accepted[-1][1]) if accepted else None)
    assert row["best_raw"] == row["best"]
    assert row["best_time"] == (float(accepted[-1][0]) if accepted else None)


@given(strategies.campaigns(objectives=strategies.positives))
def test_runs_do_not_mix(drawn):
    runs, _ = drawn
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    by_key = {(r["arm"], r["instance"], r["seed"]): r for r in runs}
    assert len(envelopes) == len(runs)
    for row, key in enumerate(envelopes.runs.select("arm", "instance", "seed").iter_rows()):
        run = by_key[key]
        assert steps_of(envelopes, row) == exact_steps(oracle.envelope(run["trace"], run["horizon"]))


@given(strategies.runs(), st.data())
def test_an_invalid_candidate_changes_nothing_but_the_counts(run, data):
    extra = data.draw(st.tuples(strategies.stamps(run["horizon"]), strategies.positives))
    place = data.draw(st.integers(0, len(run["trace"])))
    more = [*run["trace"][:place], (*extra, False), *run["trace"][place:]]
    before = gl.build_envelopes(gl.Campaign.from_runs([run]))
    after = gl.build_envelopes(gl.Campaign.from_runs([run | {"trace": more}]))
    assert steps_of(before) == steps_of(after)
    assert after.runs["rejected"][0] == before.runs["rejected"][0] + 1


@given(strategies.runs(), st.randoms(use_true_random=False))
def test_the_order_of_the_file_does_not_matter(run, random):
    shuffled = list(run["trace"])
    random.shuffle(shuffled)
    before = gl.build_envelopes(gl.Campaign.from_runs([run]))
    after = gl.build_envelopes(gl.Campaign.from_runs([run | {"trace": shuffled}]))
    assert steps_of(before) == steps_of(after)


@given(strategies.runs())
def test_a_shorter_horizon_is_the_envelope_cut_off(run):
    campaign = gl.Campaign.from_runs([run])
    shorter = run["horizon"] / 2
    envelopes = gl.build_envelopes(campaign, horizon=shorter)
    assert steps_of(envelopes) == exact_steps(oracle.envelope(run["trace"], shorter))
    assert envelopes.runs["horizon"][0] == shorter
    assert envelopes.runs["announced"][0] == run["horizon"]
    assert any("shorter horizon" in note for note in envelopes.notes)


@given(st.lists(strategies.runs(), min_size=1, max_size=4), st.data())
def test_each_run_can_have_a_shorter_horizon_of_its_own(runs, data):
    named = [run | {"seed": seed} for seed, run in enumerate(runs)]
    shares = [data.draw(st.sampled_from([0.25, 0.5, 1.0])) for _ in runs]
    horizons = np.array([share * run["horizon"] for share, run in zip(shares, runs, strict=True)])
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(named), horizon=horizons)
    assert envelopes.runs["horizon"].to_list() == horizons.tolist()
    assert envelopes.runs["announced"].to_list() == [run["horizon"] for run in runs]
    for row, run in enumerate(runs):
        assert steps_of(envelopes, row) == exact_steps(oracle.envelope(run["trace"], horizons[row]))


def test_a_horizon_of_its_own_is_refused_beyond_what_was_seen_or_where_it_is_none():
    campaign = one_run([(1, 9.0)])
    longer = campaign.runs["horizon"].to_numpy() * 2
    with pytest.raises(HorizonError):
        gl.build_envelopes(campaign, horizon=longer)
    with pytest.raises(UsageError, match="expected positive finite seconds"):
        gl.build_envelopes(campaign, horizon=longer * 0)


@pytest.mark.parametrize("bad", [0.0, -1.0, -5e-324])
def test_a_valid_objective_that_is_not_positive_is_refused_and_the_transforms_are_named(bad):
    with pytest.raises(ObjectiveError) as caught:
        gl.build_envelopes(one_run([(1, 9.0), (2, bad)]))
    assert "a/i/1" in str(caught.value)
    assert repr(bad) in str(caught.value)
    assert "shift:C" in str(caught.value)
    assert "negate-shift:C" in str(caught.value)


def test_a_bad_objective_that_is_invalid_or_late_is_no_error():
    envelopes = gl.build_envelopes(one_run([(1, -4.0, False), (2, None, False), (3, 9.0, True), (31, -1.0, True)]))
    assert steps_of(envelopes) == [(3.0, 9.0)]
    assert envelopes.runs.select("captured", "rejected", "late").row(0) == (4, 2, 1)


@pytest.mark.parametrize("horizon", [0.0, -1.0, math.nan, math.inf])
def test_a_horizon_that_is_no_positive_number_is_refused(horizon):
    with pytest.raises(UsageError, match="horizon: expected positive finite seconds"):
        gl.build_envelopes(one_run([]), horizon=horizon)


def test_horizon_fills_runs_without_one_and_is_refused_beyond_a_runs_own():
    silent = one_run([(1, 9.0)], horizon=None)
    with pytest.raises(HorizonError, match="got none for 1: a/i/1"):
        gl.build_envelopes(silent)
    assert gl.build_envelopes(silent, horizon=12.0).runs["horizon"].to_list() == [12.0]
    # A run's own horizon is the longest at which it can be scored.
    assert steps_of(gl.build_envelopes(one_run([(30, 9.0)]), horizon=30.0)) == [(30.0, 9.0)]
    with pytest.raises(HorizonError, match=r"got 1 runs with less: a/i/1 \(30\)"):
        gl.build_envelopes(one_run([(1, 9.0)]), horizon=31.0)


def test_columns_that_go_backwards_are_refused_not_sorted_silently():
    runs = pl.DataFrame({"arm": ["a"], "instance": ["i"], "seed": [1], "horizon": [9.0], "first": [0], "count": [3]})
    for time in ([1.0, 3.0, 2.0], [1.0, math.nan, 2.0], [math.nan, 1.0, 2.0]):
        campaign = gl.Campaign.from_arrays(
            runs=runs, time=np.array(time), objective=np.array([9.0, 8.0, 7.0]),
            verdict=np.where(np.isnan(time), 0, 1).astype(np.uint8),
        )  # fmt: skip
        with pytest.raises(TraceError, match="backwards in a/i/1"):
            gl.build_envelopes(campaign)


def test_missing_stamps_at_the_end_of_a_run_are_rejected_and_counted():
    campaign = one_run([(math.nan, 5.0), (1, 9.0), (math.inf, 4.0), (2, 8.0)])
    envelopes = gl.build_envelopes(campaign)
    assert steps_of(envelopes) == [(1.0, 9.0), (2.0, 8.0)]
    assert envelopes.runs.select("captured", "rejected", "late").row(0) == (4, 2, 0)


def test_envelopes_are_read_only_and_select_shares_them():
    envelopes = gl.build_envelopes(one_run([(1, 9.0)]))
    with pytest.raises(ValueError, match="read-only"):
        envelopes.objective[0] = 1.0
    assert envelopes.select([0]).time is envelopes.time
    assert len(envelopes.select(pl.col("arm") == "none")) == 0


def test_an_empty_campaign_has_no_envelopes():
    campaign = one_run([]).filter(arm="a")
    nothing = gl.Campaign.from_arrays(
        runs=campaign.runs.head(0), time=np.empty(0), objective=np.empty(0), verdict=np.empty(0, np.uint8)
    )
    assert len(gl.build_envelopes(nothing)) == 0


@pytest.mark.parametrize(
    ("transform", "trace", "steps"),
    [
        ("shift:10", [(1, -4.0), (2, -5.0)], [(1.0, 6.0), (2.0, 5.0)]),
        ("negate-shift:100", [(1, 30.0), (2, 40.0), (3, 35.0)], [(1.0, 70.0), (2.0, 60.0)]),
        ("reciprocal", [(1, 4.0), (2, 8.0), (3, 2.0)], [(1.0, 0.25), (2.0, 0.125)]),
        ("reciprocal:100", [(1, 4.0), (2, 8.0)], [(1.0, 25.0), (2.0, 12.5)]),
    ],
)
def test_transforms_apply_to_objectives_and_references_alike(transform, trace, steps):
    envelopes = gl.build_envelopes(one_run(trace), transform=transform)
    assert steps_of(envelopes) == steps
    assert envelopes.runs["best_raw"][0] == min(trace, key=lambda c: Transform.parse(transform).apply(c[1]))[1]
    # A reference equal to the last captured best is met exactly: the gap there is zero, not nearly zero.
    snapshot = gl.Snapshot.from_values({"i": envelopes.runs["best_raw"][0]}, name="own best")
    assert gl.score(envelopes, snapshot).frame["final_gap"].to_list() == [0.0]


def test_a_source_that_maximises_is_read_through_its_reciprocal_or_a_transform_that_fits():
    campaign = replace(one_run([(1, 4.0), (2, 2.0), (3, 8.0)]), facts={"sense": "max"})
    assert steps_of(gl.build_envelopes(campaign)) == [(1.0, 0.25), (3.0, 0.125)]
    with pytest.raises(ObjectiveError, match=r"fit the sense of their instance, got 1 others: i \(max, shift:1\)"):
        gl.build_envelopes(campaign, transform="shift:1")
    campaign = replace(one_run([(1, 4.0)]), facts={"sense": "max"})
    assert steps_of(gl.build_envelopes(campaign, transform="negate-shift:10")) == [(1.0, 6.0)]

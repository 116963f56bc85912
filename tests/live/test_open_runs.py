"""Runs under way are accepted as whole ones are."""

import copy

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from torture.crowd import apply

from gapline.contract.study_file import load_contract
from gapline.live.channel import difference
from gapline.live.journal_follower import Follower
from gapline.live.open_runs import MOST_STEPS, best_possible, open_run, read_views, thin_steps
from live_studies import live_study


def views_of(study):
    follower = Follower(study.path, study.cells, checked=False)
    follower.look()
    return read_views(follower.running(), load_contract(study.path), frozenset())


def test_rejected_late_and_worse_candidates_are_no_steps(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.begin("a/i1/1")
        for time, objective in [(1.0, 30.0), (1.0, 25.0), (2.0, "x"), (3.0, 40.0), (4.0, 20.0), (11.0, 5.0)]:
            study.say("a/i1/1", time, objective)
        ((view,), campaign, envelopes) = views_of(study)
        assert (view.time.tolist(), view.raw.tolist()) == ([1.0, 4.0], [25.0, 20.0])
        assert (view.captured, view.rejected, view.late, dict(view.reasons)) == (
            6, 1, 1, {"objective not a number": 1},
        )  # fmt: skip
        assert len(campaign) == len(envelopes) == 1


def test_what_is_better_than_can_be_does_not_bound_itself_away(tmp_path):
    with live_study(tmp_path / "study") as study:
        study.begin("a/i1/1")
        study.say("a/i1/1", 1.0, 8.0)
        ((view,), _, _) = views_of(study)
        run = open_run(view, known=20.0, reference=10.0, best=10.0 - 1e-8, certified=True)
        assert (run.best, run.known) == (8.0, 10.0)


def test_the_best_that_is_possible_is_certified_or_bounded_or_unknown():
    assert best_possible("i", 10.0, certified=True, bounds={"i": 9.0}, tolerance=0.0) == 10.0
    assert best_possible("i", 10.0, certified=False, bounds={"i": 9.0}, tolerance=0.0) == 9.0
    assert best_possible("i", 10.0, certified=False, bounds={}, tolerance=0.0) is None


def test_a_long_trace_is_thinned_and_keeps_its_ends():
    found = thin_steps(np.arange(10_000.0))
    assert len(found) <= MOST_STEPS
    assert (found[0], found[-1]) == (0.0, 9999.0)
    assert thin_steps(np.array([1.0, 2.0])) == [1.0, 2.0]
    assert thin_steps(np.empty(0)) == []


@given(st.integers(1, 5000), st.lists(st.integers(1, 300), min_size=1, max_size=20))
def test_a_trace_that_grows_is_sent_by_what_was_added(first, more):
    """The state after the changes is the whole one; besides what is new, its last step alone is said again."""
    size, state = first, {"trace": thin_steps(np.arange(float(first)))}
    for added in more:
        size += added
        now = {"trace": thin_steps(np.arange(float(size)))}
        assert MOST_STEPS / 2 <= len(now["trace"]) <= MOST_STEPS or size == len(now["trace"])
        distance = now["trace"][1] if size > 1 else 1.0
        found = difference(state, now)
        if len(state["trace"]) == 1 or distance == state["trace"][1]:
            assert found["set"] == []
            assert sum(len(values) for _, values in found["append"]) <= added / distance + 2
        state = apply(copy.deepcopy(state), found)
        assert state == now


def test_what_is_read_bit_by_bit_is_what_is_read_at_once(tmp_path, monkeypatch):
    """Events that were no steps are let go of; steps, counts and the strongest bound stay."""
    monkeypatch.setattr("gapline.live.open_runs.SLACK", -1000)
    events = [
        (0.5, 50.0),
        (1.0, "x"),
        (1.0, 45.0),
        (1.0, 44.0),
        (2.0, 48.0),
        (3.0, 30.0),
        (3.0, 31.0),
        (9.0, 12.0),
        (11.0, 5.0),
    ]
    with live_study(tmp_path / "study") as study:
        follower = Follower(study.path, study.cells, checked=False)
        contract = load_contract(study.path)
        study.begin("a/i1/1")
        for number, (time, objective) in enumerate(events):
            study.say("a/i1/1", time, objective)
            if number % 3 == 1:
                study.bound("a/i1/1", time, 3.0 + number % 4)
            follower.look()
            ((view,), _, _) = read_views(follower.running(), contract, frozenset())
            at_once = Follower(study.path, study.cells, checked=False)
            at_once.look()
            ((whole,), _, _) = read_views(at_once.running(), contract, frozenset())
            for name in ("captured", "rejected", "late", "reasons", "checked", "bound"):
                assert getattr(view, name) == getattr(whole, name), name
            for name in ("time", "objective", "raw"):
                assert getattr(view, name).tolist() == getattr(whole, name).tolist(), name
            (one,) = follower.running()
            assert one.growing.stamp == time
            # The steps, and where the strongest bound is no step the bound.
            assert len(one.growing.journal.events) - len(view.time) in (0, 1)

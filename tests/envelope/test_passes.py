"""Passes over the steps of runs, span by span."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gapline.campaign.campaign import Campaign
from gapline.envelope.build import build_envelopes
from gapline.envelope.passes import bring, per_run, per_run_at_once, run_spans
from gapline.files.memory import limited_memory

RUNS = [
    {"arm": "a", "instance": "i", "seed": s, "horizon": 99, "trace": [(t, 50.0 - t) for t in range(s)]}
    for s in range(6)
]


@given(st.lists(st.integers(0, 9), max_size=20), st.integers(1, 12))
def test_spans_cover_the_runs_in_order_and_hold_what_fits(counts, most):
    with limited_memory(128 * most):
        found = list(run_spans(np.array(counts, np.int64)))
    assert found[0][0] == 0
    assert found[-1][1] == len(counts)
    assert all(before[1] == after[0] for before, after in pairwise(found))
    assert all(sum(counts[low:high]) <= most or high - low == 1 for low, high in found)


def _sums(envelopes, offsets, *, times):
    first, count = envelopes.runs["first"], envelopes.runs["count"]
    return np.array(
        [times * envelopes.time[f : f + c].sum() + o for f, c, o in zip(first, count, offsets, strict=True)]
    )


@pytest.mark.parametrize("most", [1, 3, 100])
def test_rows_come_back_in_the_order_of_the_runs(most):
    envelopes = build_envelopes(Campaign.from_runs(RUNS)).select([4, 0, 5, 2])
    with limited_memory(128 * most):
        found = per_run(_sums, envelopes, np.array([1.0, 2.0, 3.0, 4.0]), times=10)
    assert found.tolist() == [61.0, 2.0, 103.0, 14.0]


def test_a_pass_that_holds_nothing_for_a_step_sees_all_runs_at_once():
    envelopes = build_envelopes(Campaign.from_runs(RUNS)).select([4, 0, 5, 2])
    seen = []

    def work(part, *columns, **shared):
        seen.append(len(part))
        return _sums(part, *columns, **shared)

    with limited_memory(128):
        found = per_run_at_once(work, envelopes, np.array([1.0, 2.0, 3.0, 4.0]), times=10)
    assert found.tolist() == [61.0, 2.0, 103.0, 14.0]
    assert seen == [4]


@pytest.mark.parametrize("most", [1, 3, 100])
def test_steps_are_brought_side_by_side_and_left_where_they_are(most):
    envelopes = build_envelopes(Campaign.from_runs(RUNS))
    assert bring(envelopes) is envelopes
    with limited_memory(128 * most):
        chosen = bring(envelopes.select([4, 0, 2]))
    assert chosen.runs["first"].to_list() == [0, 4, 4]
    assert chosen.time.tolist() == [0.0, 1.0, 2.0, 3.0, 0.0, 1.0]
    assert chosen.objective.tolist() == [50.0, 49.0, 48.0, 47.0, 50.0, 49.0]

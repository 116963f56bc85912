"""Slices of rows, one per thread."""

import subprocess
import sys
import threading
from itertools import accumulate, product
from unittest.mock import Mock, patch

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import gapline as gl
import strategies
from gapline.campaign import threads as threads_module
from gapline.campaign.threads import at_once, in_slices
from gapline.files.memory import limited_memory
from patience import PATIENCE


def large_campaign():
    """Runs of very different lengths, enough candidates for the passes to be cut into slices."""
    generator = np.random.default_rng(1)
    count = generator.integers(0, 900, 240)
    first = np.concatenate(([0], np.cumsum(count)[:-1]))
    total = int(count.sum())
    time = generator.random(total) * 33
    for f, c in zip(first, count, strict=True):
        time[f : f + c].sort()
    runs = pl.DataFrame({
        "arm": [f"arm{k % 3}" for k in range(240)], "instance": [f"i{k // 12}" for k in range(240)],
        "panel": [f"p{k // 60}" for k in range(240)], "seed": list(range(240)), "horizon": [30.0] * 240,
        "first": first, "count": count,
    })  # fmt: skip
    verdict = (generator.random(total) < 0.9).astype(np.uint8)
    return gl.Campaign.from_arrays(runs=runs, time=time, objective=10 + 100 * generator.random(total), verdict=verdict)


@pytest.mark.slow
def test_neither_threads_nor_pieces_change_a_bit(monkeypatch):
    campaign = large_campaign()
    snapshot = gl.Snapshot.from_values({f"i{k}": 10.0 + k for k in range(20)}, name="mine")
    # Of 32 bytes for a candidate: a first piece that is divided among threads, and a second one.
    budget = 32 * 55_000
    assert campaign.candidates > 55_000
    results = []
    for threads, memory in product((1, 2, 5), (None, budget)):
        monkeypatch.setattr(threads_module, "thread_count", lambda threads=threads: threads)
        with limited_memory(memory):
            envelopes = gl.build_envelopes(campaign)
            scores = gl.score(envelopes, snapshot, kernels=strategies.KERNELS, goals=[0.5])
            curve = gl.mean_curve(envelopes, snapshot, by=[])
        results.append(
            (envelopes.time.tobytes(), envelopes.objective.tobytes(), envelopes.runs, scores.frame, curve.frame)
        )
    for other in results[1:]:
        assert other[:2] == results[0][:2]
        assert all(mine.equals(theirs) for mine, theirs in zip(other[2:], results[0][2:], strict=True))


@given(st.lists(st.integers(0, 40_000), min_size=1, max_size=40), st.integers(1, 6))
def test_slices_cover_every_row_once(weights, threads):
    seen = np.zeros(len(weights), int)

    def work(low, high):
        seen[low:high] += 1

    slices = in_slices(np.array(weights, np.int64), work, threads=threads)
    assert np.all(seen == 1)
    assert slices[0][0] == 0
    assert slices[-1][1] == len(weights)


@given(
    st.lists(st.integers(0, 40_000), min_size=12, max_size=60), st.integers(2, 6), st.integers(0, 5_000),
    st.integers(1, 9),
)  # fmt: skip
def test_slices_end_where_their_share_of_the_weight_is_reached(weights, threads, each, block):
    whole = np.array(weights, np.int64) + each
    assume(whole.sum() >= 50_000)
    with patch.object(threads_module, "_BLOCK", block):
        slices = in_slices(np.array(weights, np.int64), Mock(), each=each, threads=threads)
    shares = np.linspace(0, whole.sum(), threads + 1)[1:-1]
    ends = [next(k for k, reached in enumerate(accumulate(whole.tolist())) if reached >= share) for share in shares]
    assert {high for _, high in slices} == {*(end + 1 for end in ends), len(weights)}


_TWO_PASSES = """
import os, threading
import numpy as np
from gapline.campaign.threads import in_slices
def threads_of_two_passes():
    seen = set()
    for _ in range(2):
        in_slices(np.full(4, 60_000), lambda low, high: seen.add(threading.get_ident()), threads=2)
    return len(seen)
assert threads_of_two_passes() == 2
child = os.fork()
if child == 0:
    os._exit(threads_of_two_passes())
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


def test_threads_stay_from_pass_to_pass_and_a_forked_child_makes_its_own():
    command = [sys.executable, "-c", _TWO_PASSES]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=True)
    assert done.stdout == "2\n"


def test_whoever_fails_is_told_of_after_everybody_has_ended():
    began, ended = threading.Event(), threading.Event()

    def work(low, _high):
        if low == 0:
            began.wait()
            raise ValueError("mine")
        began.set()
        sum(range(300_000))
        ended.set()

    with pytest.raises(ValueError, match="mine"):
        in_slices(np.full(4, 60_000), work, threads=2)
    assert ended.is_set()

    def other(low, _high):
        if low:
            raise ValueError("theirs")

    with pytest.raises(ValueError, match="theirs"):
        in_slices(np.full(4, 60_000), other, threads=2)


@pytest.mark.parametrize("threads", [1, 2])
def test_calls_at_once_are_all_made_and_what_one_raises_is_raised(threads, monkeypatch):
    monkeypatch.setattr(threads_module, "thread_count", lambda: threads)
    made = []
    at_once(lambda: made.append("a"), lambda: made.append("b"))
    assert sorted(made) == ["a", "b"]
    with pytest.raises(ZeroDivisionError):
        at_once(lambda: made.append("c"), lambda: made.append(1 // 0))

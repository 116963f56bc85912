"""The cutoff sweep: by hand, against integrals of single runs, and exact swaps against a fine grid."""

import json
import math

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import gapline as gl
from gapline.errors import UsageError
from gapline.scoring.curve import evaluate_steps
from gapline.statistics.cells import TIE
from gapline.study.cutoff_sweep import KINDS, CutoffSwap, default_cutoffs, find_cutoff_swaps
from gapline.study.horizon_sweep import horizon_sweep
from profiles import examples
from study.edge_runs import run

# Squeezed against 10 over 10 s: early is 1 up to 1 s, then 1/2; late is 1 up to 4 s, then 0.
TRACES = {"early": [(1, 30.0)], "late": [(4, 10.0)]}


def analysed(*, horizons=(10.0, 10.0), **choices):
    rows = [
        run(arm, i, 1, trace, horizon=horizon)
        for arm, trace in TRACES.items()
        for i, horizon in zip("ij", horizons, strict=True)
    ]
    snapshot = gl.Snapshot.from_values(dict.fromkeys("ij", 10.0), name="ten")
    return gl.analyse(gl.open_study(gl.Campaign.from_runs(rows), snapshots=[snapshot], draws=5), **choices)


def at(found, kind, cutoff):
    rows = found.scores.filter((pl.col("kind") == kind) & (pl.col("cutoff") == cutoff))
    return dict(rows.select("arm", "score").iter_rows())


def test_scores_and_swaps_by_hand():
    found = analysed(cutoffs=[0.1, 1.0]).cutoffs
    # Early at a cutoff of 0.1: (1 · ln 10 + ½ · ln 10) / ln 100; late: ln 40 / ln 100.
    assert at(found, "early-log", 0.1) == pytest.approx({"early": 0.75, "late": math.log(40) / math.log(100)})
    assert at(found, "early-log", 1.0) == pytest.approx({"early": 0.5, "late": math.log(4) / math.log(10)})
    # Of remaining time: early is ½ up to 9 s left, 1 from there on; late is 0 up to 6 s left.
    assert at(found, "end-log", 1.0) == pytest.approx(
        {"early": (0.5 * math.log(9) + math.log(10 / 9)) / math.log(10), "late": math.log(10 / 6) / math.log(10)}
    )
    # Above 1 s: ½·ln(10/C) of early against ln(4/C) of late, equal at C = 1.6. Of remaining time early is behind by ½
    # up to 6 s and ahead by ½ from there to 9 s: ½·ln(6/C) = ½·ln(9/6) at C = 4.
    assert [(s.kind, s.below, s.above) for s in found.swaps] == [
        ("early-log", "early", "late"), ("end-log", "late", "early"),
    ]  # fmt: skip
    assert [s.cutoff for s in found.swaps] == pytest.approx([1.6, 4.0], rel=1e-12)
    # Uniform: 0.55 and 0.4, so that every cutoff of the grid has early first and the declared weight late.
    assert found.flips.rows() == [("early-log", 0.1, "early", "late"), ("early-log", 1.0, "early", "late")]
    assert found.baseline == pytest.approx({"early": 0.55, "late": 0.4})
    document = json.loads(json.dumps(found.document(), allow_nan=False))
    assert document["swaps"][0]["above"] == "late"
    assert "sweep" not in document


@pytest.mark.slow
def test_runs_with_other_horizons_are_integrated_one_by_one_and_have_no_exact_swap():
    found = analysed(horizons=(10.0, 20.0), cutoffs=[0.5]).cutoffs
    assert found.swaps is None
    for kind in KINDS:
        wanted = {
            arm: np.mean(
                [
                    gl.primal_integral(*zip(*trace, strict=True), reference=10, horizon=h, weight=f"{kind}:0.5")
                    for h in (10.0, 20.0)
                ]
            )
            for arm, trace in TRACES.items()
        }
        assert at(found, kind, 0.5) == pytest.approx(wanted, rel=1e-12)
    assert found.fine().equals(found.scores)


def test_the_grid_is_read_from_the_horizon_and_what_lies_beyond_it_is_refused():
    assert default_cutoffs(10.0) == (0.001, 0.01, 0.1, 1.0)
    assert default_cutoffs(20.0) == (0.01, 0.1, 1.0, 10.0)
    assert analysed().cutoffs.cutoffs == (0.001, 0.01, 0.1, 1.0)
    assert analysed(cutoffs=[5, 0.1, 5.0]).cutoffs.cutoffs == (0.1, 5.0)
    for wrong in (0.0, -1.0, 10.0, math.nan):
        with pytest.raises(UsageError, match="cutoffs: expected positive ones below every horizon"):
            _ = analysed(cutoffs=[wrong]).cutoffs


def test_the_fine_curve_runs_through_the_table():
    found = analysed(cutoffs=[0.1, 1.0]).cutoffs
    ends = found.fine().filter(pl.col("cutoff").is_in([0.1, 1.0])).sort("kind", "cutoff", "arm")
    assert ends["score"].to_list() == pytest.approx(found.scores.sort("kind", "cutoff", "arm")["score"].to_list())


steps = st.lists(
    st.tuples(st.floats(0, 9.9).map(lambda t: round(t, 2)), st.integers(11, 60)), min_size=1, max_size=6
)  # fmt: skip


@settings(max_examples=examples(60))
@given(steps, steps)
def test_between_two_swaps_the_order_does_not_change(one, other):
    """At a thousand cutoffs the sign of the difference is what the swaps say, ties and rounding apart."""
    runs = [run(arm, "i", 1, sorted(trace)) for arm, trace in (("a", one), ("b", other))]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    sweep = horizon_sweep(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="ten"))
    grid = np.geomspace(0.01, 9.9, 1000)
    for kind in KINDS:
        swaps = find_cutoff_swaps(sweep.curves["a"], sweep.curves["b"], kind, 10.0, 0.01)
        end = kind == "end-log"
        a, b = (sweep.curves[arm].log_weighted(10.0, grid.tolist(), end=end) for arm in "ab")
        edges = np.array([0.0, *(swap.cutoff for swap in swaps), 10.0])
        assert np.all(np.diff(edges) >= 0)
        piece = np.searchsorted(edges, grid) - 1
        near = np.min(np.abs(grid[:, None] / edges[None, 1:] - 1), axis=1) < 1e-6
        judged = (np.abs(a - b) > 1e-9) & ~near
        for k in range(len(edges) - 1):
            signs = set(np.sign(a - b)[judged & (piece == k)].tolist())
            assert len(signs) <= 1
            if signs and swaps:
                leader = swaps[k].below if k < len(swaps) else swaps[-1].above
                assert signs == {-1.0 if leader == "a" else 1.0}


def slow_swaps(one, other, kind, horizon, least):
    """Walk down from the horizon, one piece after the other, and remember who leads."""
    times = np.union1d(one.time, other.time)
    times = times[times < horizon]
    apart = evaluate_steps(one.time, one.value, times) - evaluate_steps(other.time, other.value, times)
    edges = np.append(times, horizon)
    if kind == "end-log":
        edges, apart = (horizon - edges)[::-1], apart[::-1]
    edges = np.maximum(edges, least)
    widths = np.log(edges[1:] / edges[:-1])
    total = np.append(np.cumsum((apart * widths)[::-1])[::-1], 0.0)
    found, leader, names = [], 0, {-1: one.arm, 1: other.arm}
    for k in range(len(edges) - 2, -1, -1):
        tie = TIE * np.log(horizon / edges[k])
        side = 1 if total[k] > tie else -1 if total[k] < -tie else 0
        if widths[k] <= 0 or side == 0:
            continue
        if side * leader < 0:
            cutoff = np.clip(edges[k + 1] * np.exp(total[k + 1] / apart[k]), edges[k], edges[k + 1])
            found.append(CutoffSwap(kind, float(cutoff), names[side], names[leader]))
        leader = side
    return tuple(reversed(found))


@settings(max_examples=examples(60))
@given(steps, steps)
def test_swaps_equal_those_of_a_walk_over_every_piece(one, other):
    runs = [run(arm, "i", 1, sorted(trace)) for arm, trace in (("a", one), ("b", other))]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    curves = horizon_sweep(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="ten")).curves
    for kind in KINDS:
        asked = (curves["a"], curves["b"], kind, 10.0, 0.01)
        found, slow = find_cutoff_swaps(*asked), slow_swaps(*asked)
        assert [(swap.kind, swap.below, swap.above) for swap in found] == [(s.kind, s.below, s.above) for s in slow]
        # Logarithms of NumPy and of compiled code may differ in their last bit.
        assert [swap.cutoff for swap in found] == pytest.approx([swap.cutoff for swap in slow], rel=1e-12)

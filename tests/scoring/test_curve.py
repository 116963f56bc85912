"""Mean curves: exact on the union of breakpoints, mergeable without loss, and their area is the mean of the scores."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from gapline.errors import HorizonError, UsageError
from gapline.files.memory import limited_memory
from gapline.scoring.curve import CurveSum, curve_sum, evaluate_steps, step_area
from gapline.scoring.kernels import parse_kernel

ONE_HORIZON = strategies.campaigns(horizon=30.0)
# Quarters keep the oracle's denominators small; the area identity holds the curves of other numbers to the integral.
QUARTERS = strategies.campaigns(horizon=30.0, objectives=st.integers(1, 240).map(lambda k: k / 4), max_runs=6)


def prepared(drawn):
    runs, references = drawn
    return gl.build_envelopes(gl.Campaign.from_runs(runs)), gl.Snapshot.from_values(references, name="mine")


def oracle_runs(envelopes, references, runs):
    """Return ((steps, reference) per row of the envelopes, with its cell (arm, panel, instance))."""
    by_key = {(r["arm"], r["instance"], r["seed"]): r for r in runs}
    rows = []
    for arm, panel, instance, seed in envelopes.runs.select("arm", "panel", "instance", "seed").iter_rows():
        run = by_key[arm, instance, seed]
        rows.append(((arm, panel, instance), (oracle.envelope(run["trace"], run["horizon"]), references[instance])))
    return rows


def exact_weights(cells, weighting):
    """Return the weight of each (panel, instance) cell by asking the oracle for the mean of an indicator."""
    return [
        oracle.mean([(p, i, Fraction(int(k == row))) for k, (p, i) in enumerate(cells)], weighting=weighting)
        for row in range(len(cells))
    ]


@given(QUARTERS, st.sampled_from(strategies.KERNELS), st.sampled_from(["panel", "instance", "run"]))
def test_mean_curve_is_the_oracles(drawn, kernel, weighting):
    envelopes, snapshot = prepared(drawn)
    curves = gl.mean_curve(envelopes, snapshot, kernel=kernel, weighting=weighting)
    rows = oracle_runs(envelopes, drawn[1], drawn[0])
    for (arm,), time, value in curves.groups():
        mine = [(cell, run) for cell, run in rows if cell[0] == arm]
        weights = exact_weights([cell[1:] for cell, _ in mine], weighting)
        exact = oracle.mean_curve([run for _, run in mine], weights, kernel=kernel)
        assert time.tolist() == [float(t) for t, _ in exact]
        assert all(oracle.close(got, v) for got, (_, v) in zip(value.tolist(), exact, strict=True))


@given(ONE_HORIZON, st.sampled_from(strategies.KERNELS), st.sampled_from(["panel", "instance", "run"]))
def test_area_identity(drawn, kernel, weighting):
    envelopes, snapshot = prepared(drawn)
    curves = gl.mean_curve(envelopes, snapshot, kernel=kernel, weighting=weighting)
    means = gl.summarise(gl.score(envelopes, snapshot, kernels=[kernel]), weighting=weighting).frame
    for (arm,), time, value in curves.groups():
        mean = dict(zip(means["arm"], means[kernel], strict=True))[arm]
        assert step_area(time, value, 30.0) / 30.0 == pytest.approx(mean, abs=1e-12)


@given(strategies.campaigns())
def test_area_identity_on_relative_time_where_horizons_differ(drawn):
    envelopes, snapshot = prepared(drawn)
    curves = gl.mean_curve(envelopes, snapshot, relative=True)
    means = gl.summarise(gl.score(envelopes, snapshot)).frame
    for (arm,), time, value in curves.groups():
        assert step_area(time, value, 1.0) == pytest.approx(
            dict(zip(means["arm"], means["squeezed"], strict=True))[arm], abs=1e-12
        )
        assert time.max() <= 1.0


@given(ONE_HORIZON, st.data())
def test_the_order_of_the_runs_shows_in_no_bit(drawn, data):
    envelopes, _ = prepared(drawn)
    size = len(envelopes)
    weights = np.array(data.draw(st.lists(st.floats(0.001, 10), min_size=size, max_size=size)))
    references = np.array([drawn[1][i] for i in envelopes.runs["instance"]])
    kernel = parse_kernel("squeezed")
    whole = curve_sum(envelopes, references, weights, kernel=kernel).curve()
    order = data.draw(st.permutations(range(size)))
    other = curve_sum(envelopes.select(order), references[order], weights[order], kernel=kernel).curve()
    assert other[0].tobytes() == whole[0].tobytes()
    assert other[1].tobytes() == whole[1].tobytes()


@given(ONE_HORIZON)
def test_relabelling_and_file_order_change_no_bit(drawn):
    runs, references = drawn
    renamed = {name: f"z{len(references) - k} {name}" for k, name in enumerate(references)}
    other = [run | {"instance": renamed[run["instance"]]} for run in reversed(runs)]
    mine = gl.mean_curve(*prepared(drawn)).frame
    theirs = gl.mean_curve(*prepared((other, {renamed[k]: v for k, v in references.items()}))).frame
    assert mine["time"].to_list() == theirs["time"].to_list()
    assert np.allclose(mine["value"], theirs["value"], rtol=0, atol=1e-15)


def test_a_curve_by_hand():
    """Two runs with weight 1/2: gaps 1/2 from 1 s and 1/3 from 2 s; the third stamp is at the horizon."""
    runs = [
        {"arm": "a", "instance": "i", "seed": 1, "horizon": 4, "trace": [(1, 30.0)]},
        {"arm": "a", "instance": "i", "seed": 2, "horizon": 4, "trace": [(2, 20.0), (4, 10.0)]},
    ]
    curve = gl.mean_curve(*prepared((runs, {"i": 10.0}))).frame
    assert curve["time"].to_list() == [0.0, 1.0, 2.0, 4.0]
    assert curve["value"].to_list() == pytest.approx([1.0, 0.75, 5 / 12, 1 / 4], abs=1e-15)
    time, value = curve["time"].to_numpy(), curve["value"].to_numpy()
    assert evaluate_steps(time, value, np.array([0.0, 0.999, 1.0, 4.0])).tolist() == [1.0, 1.0, 0.75, value[3]]


def test_empty_runs_stay_in_and_a_curve_of_nothing_else_is_flat():
    runs: list[dict[str, object]] = [
        {"arm": "a", "instance": "i", "seed": s, "horizon": 4, "trace": []} for s in (1, 2)
    ]
    curve = gl.mean_curve(*prepared((runs, {"i": 10.0})))
    assert curve.frame.rows() == [("a", 0.0, 1.0)]


def test_differing_horizons_need_relative_time():
    runs = [{"arm": "a", "instance": f"i{h}", "seed": 1, "horizon": h, "trace": [(h / 2, 20.0)]} for h in (10, 40)]
    envelopes, snapshot = prepared((runs, {"i10": 10.0, "i40": 10.0}))
    with pytest.raises(HorizonError, match="expected one horizon, got 10, 40") as caught:
        gl.mean_curve(envelopes, snapshot)
    assert "relative" in caught.value.hint
    assert gl.mean_curve(envelopes, snapshot, relative=True).frame["time"].to_list() == [0.0, 0.5]


def test_the_raw_curve_exists_only_where_every_run_starts_feasible():
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 4, "trace": [(s, 20.0)]} for s in (0, 1)]
    envelopes, snapshot = prepared((runs, {"i": 10.0}))
    with pytest.raises(UsageError, match="feasible at time 0"):
        gl.mean_curve(envelopes, snapshot, kernel="raw")
    assert gl.mean_curve(envelopes.select([0]), snapshot, kernel="raw").frame.rows() == [("a", 0.0, 1.0)]


def test_curve_of_a_registered_kernel_begins_at_its_value_before():
    gl.register_kernel("test thirds", lambda z, ref: (z - ref) / 30, before=3.0)
    runs = [{"arm": "a", "instance": "i", "seed": 1, "horizon": 4, "trace": [(1, 40.0)]}]
    assert gl.mean_curve(*prepared((runs, {"i": 10.0})), kernel="test thirds").frame["value"].to_list() == [3.0, 1.0]


def test_many_equal_stamps_are_one_breakpoint():
    runs = [
        {"arm": "a", "instance": "i", "seed": s, "horizon": 4, "trace": [(1, 11.0 + s), (math.nextafter(1, 2), 10.0)]}
        for s in range(50)
    ]
    assert gl.mean_curve(*prepared((runs, {"i": 10.0}))).frame["time"].to_list() == [0.0, 1.0, math.nextafter(1, 2)]


def test_steps_too_small_to_show_one_by_one_show_together():
    """Each step lowers 1 by 2**-54, which a plain sum rounds away; 4096 of them are 2**-42."""
    size = 4096
    total = CurveSum(1.0, np.ones(1), np.arange(1.0, size + 1), np.full(size, -(2.0**-54)), horizon=5000.0)
    _, value = total.curve()
    assert value[-1] == 1 - 2.0**-42


def test_the_order_of_equal_stamps_shows_in_no_bit():
    """Steps so unlike that even what a compensated sum keeps beside it is rounded."""
    steps = [1e40, 1e20, 1.0, -1e40, -1e20]
    sums = [CurveSum(1.0, np.ones(1), np.ones(5), np.array(p), horizon=2.0) for p in itertools.permutations(steps)]
    assert len({total.curve()[1].tobytes() for total in sums}) == 1


@pytest.mark.parametrize("wrong", [1e-9, float("nan")])
def test_a_curve_whose_area_is_not_the_mean_of_the_scores_is_refused(monkeypatch, wrong):
    """The area identity is checked whenever a curve is made: here the scores are falsified behind its back."""
    from gapline.errors import GaplineError
    from gapline.scoring import curve as module

    honest = module.integrate_envelopes
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": [(s, 30.0)]} for s in (1, 2)]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    assert len(gl.mean_curve(envelopes, snapshot)) == 3
    monkeypatch.setattr(module, "integrate_envelopes", lambda *given, **more: honest(*given, **more) + wrong)
    with pytest.raises(GaplineError, match="area identity broken"):
        gl.mean_curve(envelopes, snapshot)


def test_the_tolerance_of_a_curve_is_the_callers():
    """109.95 is below 1.1 · 100, but not by a hundredth of it."""
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(0, 109.95)]}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    snapshot = gl.Snapshot.from_values({"i": 100.0}, name="mine")
    for tolerance, gap in ((1e-9, 0.0995), (0.01, 0.1)):
        curve = gl.mean_curve(envelopes, snapshot, kernel="dimacs:1.1", tolerance=tolerance)
        assert curve.frame["value"].to_list() == [pytest.approx(gap)]


@pytest.mark.parametrize("budget", [128, 7 * 128, None])
def test_a_curve_at_moments_is_the_whole_curve_there(budget):
    rng = np.random.default_rng(3)
    runs = [
        {
            "arm": "ab"[k % 2],
            "instance": f"i{k % 5}",
            "seed": k,
            "horizon": 10.0,
            "trace": [(float(t), 40.0 - j) for j, t in enumerate(np.sort(rng.integers(0, 12, 8)))],
        }
        for k in range(30)
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({f"i{k}": 33.0 for k in range(5)}, name="drawn")
    whole = gl.mean_curve(envelopes, snapshot)
    with limited_memory(budget):
        shown = gl.mean_curve(envelopes, snapshot, points=41)
    assert "exact at 41 moments" in shown.caption()
    for (arm, time, value), (again, moments, values) in zip(whole.groups(), shown.groups(), strict=True):
        assert arm == again
        assert values.tolist() == value[np.searchsorted(time, moments, side="right") - 1].tolist()


def test_a_curve_is_exact_at_any_times_that_are_asked_for():
    """One of two runs has 5 from 1 s on, the other from 4 s on; against 5 the mean halves at 1 s and ends at 4 s."""
    runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 9, "trace": [(s, 5.0)]} for s in (1, 4)]
    envelopes, snapshot = gl.build_envelopes(gl.Campaign.from_runs(runs)), {"i": 5.0}
    found = gl.mean_curve(envelopes, snapshot, points=[0.5, 1.0, 3.999, 4.0, 9.0])
    assert found.frame["value"].to_list() == [1.0, 0.5, 0.5, 0.0, 0.0]
    assert found.points == 5
    ends = gl.mean_curve(envelopes, snapshot, points=lambda end: np.array([0.0, end]))
    assert ends.frame.rows() == [("a", 0.0, 1.0), ("a", 9.0, 0.0)]
    for wrong in ([1.0, 9.5], [-1.0], [math.nan], []):
        with pytest.raises(UsageError, match="points: expected times from 0 to 9, got"):
            gl.mean_curve(envelopes, snapshot, points=wrong)
    with pytest.raises(UsageError, match="moments that rise"):
        gl.mean_curve(envelopes, snapshot, points=[2.0, 1.0])

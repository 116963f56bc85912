"""The integral: against the oracle, and its laws on hostile numbers."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from gapline.errors import UsageError
from gapline.scoring.kernels import parse_kernel, squeezed_gap

WEIGHTS = ("uniform", "early-log:0.001", "end-log:0.001", "steps:0=1,3=0.25,20=2")


def score_run(run, reference, *, kernels=strategies.KERNELS, weight="uniform", **choices):
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]), **choices)
    snapshot = gl.Snapshot.from_values({run["instance"]: reference}, name="mine")
    return gl.score(envelopes, snapshot, kernels=kernels, weight=weight).frame.row(0, named=True)


@given(strategies.runs(), strategies.positives, st.sampled_from(WEIGHTS))
def test_scores_are_the_oracles(run, reference, weight):
    row = score_run(run, reference, weight=weight)
    steps = oracle.envelope(run["trace"], run["horizon"])
    for kernel in strategies.KERNELS:
        exact = oracle.integral(steps, reference, run["horizon"], kernel=kernel, weight=weight)
        assert oracle.close(row[kernel], exact), kernel


@given(strategies.runs(objectives=strategies.ordinary), strategies.ordinary, st.sampled_from(WEIGHTS))
def test_raw_scores_exist_only_for_runs_feasible_at_time_zero(run, reference, weight):
    row = score_run(run, reference, kernels=["raw"], weight=weight)
    steps = oracle.envelope(run["trace"], run["horizon"])
    exact = oracle.integral(steps, reference, run["horizon"], kernel="raw", weight=weight)
    assert (row["raw"] is None) == (not steps or steps[0][0] > 0)
    assert oracle.close(row["raw"], exact)


@given(strategies.runs(objectives=strategies.hostile), strategies.hostile)
def test_bounded_scores_never_leave_their_range(run, reference):
    row = score_run(run, reference)
    for kernel in strategies.BOUNDED:
        assert -1 <= row[kernel] <= 1
    assert row["dimacs:1.1"] <= math.nextafter(0.1, 1) + 1e-12


def test_an_empty_run_scores_exactly_the_value_before():
    before = {kernel: {"dimacs:1.1": 1.1 - 1, "dimacs:2": 1.0}.get(kernel, 1.0) for kernel in strategies.KERNELS}
    for weight, horizon in product(WEIGHTS, [0.1, 30.0, 3600.0, 5e307]):
        run = {"arm": "a", "instance": "i", "seed": 1, "horizon": horizon, "trace": [(1, 5.0, False)]}
        scores = score_run(run, 10.0, kernels=strategies.KERNELS, weight=weight)
        assert {kernel: scores[kernel] for kernel in before} == before, (weight, horizon)


@given(st.floats(0.1, 1e6), strategies.positives)
def test_meeting_the_reference_at_once_scores_exactly_zero(horizon, z):
    scores = score_run({"arm": "a", "instance": "i", "seed": 1, "horizon": horizon, "trace": [(0, z)]}, z,
                       kernels=[*strategies.KERNELS, "raw"])  # fmt: skip
    assert all(scores[kernel] == 0.0 for kernel in (*strategies.KERNELS, "raw"))


@given(strategies.runs(objectives=st.floats(1e-50, 1e50)), st.floats(1e-50, 1e50), st.integers(-300, 300))
def test_scaling_objectives_and_reference_by_a_power_of_two_changes_no_bit(run, reference, exponent):
    scaled = run | {"trace": [(t, math.ldexp(z, exponent), v) for t, z, v in run["trace"]]}
    mine, theirs = score_run(run, reference), score_run(scaled, math.ldexp(reference, exponent))
    assert all(mine[kernel] == theirs[kernel] for kernel in strategies.KERNELS)


@given(strategies.runs(objectives=strategies.ordinary), strategies.ordinary, st.floats(0.001, 1000))
def test_scaling_by_any_factor_changes_nothing_visible(run, reference, factor):
    scaled = run | {"trace": [(t, z * factor, v) for t, z, v in run["trace"]]}
    mine, theirs = score_run(run, reference), score_run(scaled, reference * factor)
    assert all(mine[kernel] == pytest.approx(theirs[kernel], abs=1e-12) for kernel in strategies.KERNELS)


@given(strategies.runs(), strategies.positives, st.integers(-20, 20), st.sampled_from(["uniform"]))
def test_the_unit_of_time_does_not_matter(run, reference, exponent, weight):
    scaled = run | {
        "horizon": math.ldexp(run["horizon"], exponent),
        "trace": [(math.ldexp(t, exponent), z, v) for t, z, v in run["trace"] if t == 0 or t > 1e-200],
    }
    same = run | {"trace": [c for c in run["trace"] if c[0] == 0 or c[0] > 1e-200]}
    mine, theirs = score_run(same, reference, weight=weight), score_run(scaled, reference, weight=weight)
    assert all(mine[kernel] == theirs[kernel] for kernel in strategies.KERNELS)


@given(strategies.positives, strategies.positives)
def test_log_symmetry_of_a_constant_run(z, reference):
    """A run held at z against z*, and one held at z* against z, have opposite scores."""
    for kernel in ("squeezed", "maxform"):
        one = gl.primal_integral([0], [z], reference=reference, horizon=30, kernel=kernel)
        other = gl.primal_integral([0], [reference], reference=z, horizon=30, kernel=kernel)
        assert one == -other


@given(strategies.runs(), strategies.positives, st.data())
def test_later_is_not_better(run, reference, data):
    """Delaying one candidate never lowers a score; back-filling the first incumbent to time zero would break this."""
    if not run["trace"]:
        return
    place = data.draw(st.integers(0, len(run["trace"]) - 1))
    time, z, verdict = run["trace"][place]
    later = data.draw(st.floats(time, max(time, 1.5 * run["horizon"])))
    delayed = run | {"trace": [*run["trace"][:place], (later, z, verdict), *run["trace"][place + 1 :]]}
    weight = data.draw(st.sampled_from(WEIGHTS))
    before, after = score_run(run, reference, weight=weight), score_run(delayed, reference, weight=weight)
    for kernel in ("squeezed", "maxform", "dimacs:1.1", "dimacs:2"):
        assert after[kernel] >= before[kernel] - 1e-12


@given(strategies.runs(), strategies.positives, strategies.positives)
def test_a_better_candidate_never_hurts(run, reference, z):
    better = run | {"trace": [*run["trace"], (run["horizon"] / 3, z, True)]}
    before, after = score_run(run, reference), score_run(better, reference)
    for kernel in ("squeezed", "maxform", "dimacs:1.1", "dimacs:2"):
        assert after[kernel] <= before[kernel] + 1e-12


@given(strategies.runs(verdicts=(True,)), strategies.positives, st.sampled_from(WEIGHTS))
def test_stopping_early_equals_holding_the_last_incumbent_explicitly(run, reference, weight):
    steps = oracle.envelope(run["trace"], run["horizon"])
    if not steps:
        return
    best, horizon = float(steps[-1][1]), run["horizon"]
    held = [(k / 10 * horizon, best, True) for k in range(11) if k / 10 * horizon >= steps[-1][0]]
    mine, theirs = (
        score_run(run, reference, weight=weight),
        score_run(run | {"trace": run["trace"] + held}, reference, weight=weight),
    )
    assert all(mine[kernel] == theirs[kernel] for kernel in strategies.KERNELS)


@given(
    st.lists(st.tuples(st.integers(0, 64), strategies.ordinary, st.just(True)), max_size=10),
    strategies.ordinary,
    st.integers(1, 31),
    st.sampled_from(strategies.KERNELS),
)
def test_cutting_the_horizon_in_two_adds_up(trace, reference, cut, kernel):
    """Λ(Γ)·Γ = Λ(H)·H + Λ'(Γ - H)·(Γ - H), where the second part starts from the incumbent held at H."""
    steps = oracle.envelope(trace, 32)
    head = [(t, z) for t, z in steps if t <= cut]
    tail = [(t - cut, z) for t, z in steps if t > cut]
    if head:
        tail = [(Fraction(0), head[-1][1]), *tail]

    def integral(part, horizon):
        times, objectives = [float(t) for t, _ in part], [float(z) for _, z in part]
        return gl.primal_integral(times, objectives, reference=reference, horizon=horizon, kernel=kernel) * horizon

    assert integral(head, cut) + integral(tail, 32 - cut) == pytest.approx(integral(steps, 32), abs=1e-12 * 32)


@given(strategies.runs(), strategies.positives, st.floats(0.01, 0.99))
def test_a_step_weight_of_equal_values_is_the_uniform_one(run, reference, cut):
    weight = gl.step_weight("split", [0.0, cut * run["horizon"]], [2.0, 2.0])
    uniform, split = score_run(run, reference), score_run(run, reference, weight=weight)
    assert all(split[kernel] == pytest.approx(uniform[kernel], abs=1e-13) for kernel in strategies.KERNELS)


TWINS = {
    "squeezed": (squeezed_gap, 1.0),
    "maxform": (parse_kernel("maxform"), 1.0),
    "berthold": (parse_kernel("berthold"), 1.0),
    "dimacs:1.1": (parse_kernel("dimacs:1.1"), 1.1 - 1),
    "dimacs:2": (parse_kernel("dimacs:2"), 1.0),
}


@given(strategies.campaigns(objectives=strategies.positives), st.sampled_from(WEIGHTS))
def test_registered_kernels_agree_with_their_built_in_twins(drawn, weight):
    runs, references = drawn
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    names = []
    for name, (function, before) in TWINS.items():
        gl.register_kernel(f"my {name}", function, before=before)
        names += [name, f"my {name}"]
    frame = gl.score(envelopes, gl.Snapshot.from_values(references, name="mine"), kernels=names, weight=weight).frame
    for name in TWINS:
        assert np.allclose(frame[name], frame[f"my {name}"], rtol=0, atol=1e-13)


def test_a_million_tiny_steps_cost_no_digits():
    """Objectives that fall by the same ratio at each of a million steps, against exact sums of the same doubles."""
    size = 1_000_000
    time = np.arange(size) * 2.0**-20 + 1e9
    assert np.all(np.diff(time) > 0)
    objective = 20.0 - np.arange(size) / size
    got = gl.primal_integral(time, objective, reference=10.0, horizon=1.5e9)
    terms = [1.0 * time[0], *((objective - 10) / (objective + 10) * np.diff(np.append(time, 1.5e9))).tolist()]
    assert got == pytest.approx(math.fsum(terms) / 1.5e9, abs=2.3e-16)


def test_every_lane_of_the_sum_keeps_what_it_loses():
    """Four terms of a million in four lanes, then a thousand for each lane that are less than half of its last bit."""
    large, size = 4, 4000
    time = np.concatenate([np.arange(large) * 2.0**20, large * 2.0**20 + np.arange(size) * 2.0**-20])
    horizon = 2.0**22 + size * 2.0**-20
    gaps = np.concatenate([1.0 + (large - np.arange(large)) * 2.0**-20, (size - np.arange(size)) * 2.0**-26])
    widths = np.diff(np.append(time, horizon))
    exact = sum(Fraction(g) * Fraction(w) for g, w in zip(gaps, widths, strict=True)) / Fraction(horizon)
    got = gl.primal_integral(time, 1.0 + gaps, reference=1.0, horizon=horizon, kernel="raw")
    assert abs(Fraction(got) - exact) <= Fraction(2) ** -52


def test_the_sum_of_the_lanes_is_compensated_too():
    """A term of 9/8 and three of half its last bit, each in a lane of its own: 1.5 bits that plain sums would drop."""
    time, gaps = [0.0, 1.125, 1.25, 1.5], [1.0, 2.0**-50, 2.0**-51, 2.0**-52]
    got = gl.primal_integral(time, [1.0 + g for g in gaps], reference=1.0, horizon=2.0, kernel="raw")
    assert got == float((Fraction(9, 8) + 3 * Fraction(2) ** -53) / 2)
    assert got > 9 / 16


def test_a_score_never_leaves_the_range_of_its_gaps_by_rounding():
    """0.3 + (0.9 - 0.3) is more than 0.9, in doubles, and so is 0.2 + (0.6 - 0.2) + (1.7 - 0.6) than 1.7."""
    assert 0.3 + (0.9 - 0.3) > 0.9
    assert gl.primal_integral([0.3], [1e300], reference=1.0, horizon=0.9) == 1.0
    lowest = gl.primal_integral([0.0, 0.2, 0.6], [1e-300, 1e-301, 1e-302], reference=1.0, horizon=1.7)
    assert lowest == -1.0


def test_a_raw_mean_is_finite_where_only_gaps_times_seconds_are_not():
    assert gl.primal_integral([0], [1e308], reference=1.0, horizon=1000.0, kernel="raw") == pytest.approx(1e308)
    assert gl.primal_integral([0], [1e308], reference=1e-5, horizon=1.0, kernel="raw") == math.inf
    # An infinite gap that has no weight is no number, neither infinite nor to be left out.
    weightless = {"reference": 1e-5, "horizon": 10.0, "kernel": "raw", "weight": "steps:0=0,5=1"}
    assert gl.primal_integral([0, 1], [1e308, 1.0], **weightless) is None


def test_the_sum_is_compensated_where_a_plain_one_is_not():
    """Tiny contributions beside a huge one: they survive only in a compensated sum."""
    size = 1_000_000
    time = np.append(0.0, 1e6 + np.arange(1, size) * 2.0**-20)
    objective = 1e6 - np.arange(size) * 2.0**-20
    horizon = 1e6 + size * 2.0**-20
    gaps = (objective - 10) / (objective + 10)
    terms = gaps * np.diff(np.append(time, horizon))
    exact = math.fsum(terms.tolist()) / horizon
    plain = 0.0
    for term in terms.tolist():
        plain += term
    got = gl.primal_integral(time, objective, reference=10.0, horizon=horizon)
    assert abs(got - exact) <= 2.3e-16
    assert abs(plain / horizon - exact) > 2.3e-16


def test_raw_scores_that_overflow_are_infinite_not_missing():
    for steps in (([0], [1e308]), ([0, 1], [1e308, 1e307])):
        assert gl.primal_integral(*steps, reference=1e-308, horizon=30, kernel="raw") == math.inf
    # Here each gap is finite, only gap × seconds is not.
    assert gl.primal_integral([0], [1e306], reference=1.0, horizon=3600, kernel="raw") == pytest.approx(1e306)


@pytest.mark.parametrize(
    ("time", "objective"),
    [([1, 1], [9, 8]), ([2, 1], [9, 8]), ([1, 2], [8, 8]), ([1, 2], [8, 9]), ([-1], [9]), ([31], [9]), ([1], [9, 8]),
     ([1], [0]), ([1], [-3]), ([math.nan], [9]), ([1], [math.nan]), ([1], [math.inf])],
)  # fmt: skip
def test_what_is_no_envelope_is_refused(time, objective):
    with pytest.raises(UsageError, match="primal_integral: expected"):
        gl.primal_integral(time, objective, reference=10, horizon=30)


@pytest.mark.parametrize("reference", [0.0, -1.0, math.nan, math.inf])
def test_a_reference_that_is_not_positive_is_refused(reference):
    with pytest.raises(UsageError, match="positive finite objectives and reference"):
        gl.primal_integral([1], [9], reference=reference, horizon=30)


@pytest.mark.parametrize("horizon", [0.0, -1.0, math.nan, math.inf])
def test_a_horizon_that_is_not_positive_is_refused(horizon):
    with pytest.raises(UsageError, match="primal_integral: expected"):
        gl.primal_integral([], [], reference=10.0, horizon=horizon)


def test_an_empty_run_scores_exactly_theta_minus_one_at_every_horizon():
    """(θ - 1) · W / W was off by rounding at 144 of these thousand horizons."""
    horizons = [k / 7 for k in range(1, 1001)]
    scores = [gl.primal_integral([], [], reference=10, horizon=h, kernel="dimacs:1.1") for h in horizons]
    assert set(scores) == {1.1 - 1}


@given(st.floats(0.1, 1e5), st.lists(st.floats(0, 1), unique=True, max_size=6), st.sampled_from(WEIGHTS))
def test_a_run_of_which_nothing_is_accepted_scores_exactly_theta_minus_one(horizon, shares, weight):
    times = sorted({share * horizon for share in shares})
    objectives = [20.0 - k for k in range(len(times))]
    got = gl.primal_integral(times, objectives, reference=10, horizon=horizon, kernel="dimacs:1.1", weight=weight)
    assert got == 1.1 - 1
    # Two pieces whose weighted sum rounds down.
    late = gl.primal_integral([4.413528623116857], [20], reference=10, horizon=262 / 7, kernel="dimacs:1.1")
    assert late == 1.1 - 1


def test_a_first_step_at_the_horizon_leaves_the_value_before():
    for horizon in (0.3, 0.7, 4.9):
        assert gl.primal_integral([horizon], [5], reference=10, horizon=horizon, kernel="dimacs:1.1") == 1.1 - 1


@pytest.mark.parametrize("kernel", [*strategies.KERNELS, "raw", "test minus", "test tiny"])
def test_zero_is_the_positive_one(kernel):
    """A negative gap of zero width, a negative zero of one's own, and a mean that underflows from below."""
    gl.register_kernel("test minus", lambda z, ref: -0.0 * z * ref, before=-0.0, replace=True)
    gl.register_kernel("test tiny", lambda z, ref: -5e-324 * (z < ref), before=0.0, replace=True)
    for time in ([0, 29], [0, 30]):
        got = gl.primal_integral(time, [10, 10 * (1 - 1e-15)], reference=10, horizon=30, kernel=kernel)
        if time == [0, 30] or kernel.startswith("test"):
            assert (got, math.copysign(1, got)) == (0.0, 1.0)
    empty = gl.primal_integral([], [], reference=10, horizon=30, kernel="test minus")
    assert math.copysign(1, empty) == 1.0


def test_a_registered_kernel_sees_its_own_runs_alone_with_their_references():
    seen = []

    def spy(z, reference):
        seen.append(list(zip(z.tolist(), reference.tolist(), strict=True)))
        return z - reference

    gl.register_kernel("test spy", spy, before=100.0, replace=True)
    runs = [
        {"arm": "a", "instance": f"i{k}", "seed": 1, "horizon": 10, "trace": [(0, 20.0 + k), (5, 10.0 + k)]}
        for k in range(4)
    ]
    envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    snapshot = gl.Snapshot.from_values({"i1": 1.0, "i3": 13.0}, name="mine")
    some = envelopes.select([3, 1])
    assert gl.score(some, snapshot, kernels=["test spy"]).frame["test spy"].to_list() == [5.0, 15.0]
    assert seen == [[(23.0, 13.0), (13.0, 13.0), (21.0, 1.0), (11.0, 1.0)]]
    assert gl.mean_curve(some, snapshot, kernel="test spy").frame["value"].to_list() == [15.0, 5.0]
    assert gl.resolution_bound(some, np.array([13.0, 1.0]), kernel="test spy").tolist() == [0.0, 0.0]
    # Side by side, but not at the beginning: these are left where they are.
    middle = envelopes.select([1, 2])
    beside = gl.Snapshot.from_values({"i1": 1.0, "i2": 12.0}, name="mine")
    assert gl.score(middle, beside, kernels=["test spy"]).frame["test spy"].to_list() == [15.0, 5.0]


def test_a_registered_kernel_that_has_no_number_is_an_error_not_a_null():
    gl.register_kernel("test root", lambda z, ref: np.sqrt(z - ref), before=1.0)
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(0, 9.0)]}
    with np.errstate(invalid="ignore"), pytest.raises(UsageError, match=r"got nan for objective 9\.0 against 10\.0"):
        score_run(run, 10.0, kernels=["test root"])

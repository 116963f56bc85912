"""The paper's worked example: every printed cell, and each again at 1e-12 of the exact rational."""

from fractions import Fraction

import numpy as np
import pytest

import gapline as gl
import oracle
from gapline.scoring.convert import score_of_raw_gap
from gapline.scoring.kernels import parse_kernel, raw_gap, squeezed_gap

maxform_gap = parse_kernel("maxform")

REFERENCE, HORIZON = 10, 30
TRACES = {
    1: [],
    2: [(5, 30), (7, 29), (11, 22), (14, 18), (19, 15), (24, 14), (27, 13)],
    3: [(0, 14), (2, 12), (3, 11), (5, 10), (8, 9), (15, 8), (18, 7), (23, 6), (26, 5)],
}
KERNELS = ["squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw"]
# As printed, the DIMACS columns times 100 with one decimal.
TABLE = {
    1: ["1.00", "1.00", "1.00", "10.0", "100.0", None],
    2: ["0.41", "0.53", "0.53", "10.0", "75.3", None],
    3: ["-0.10", "-0.17", "0.23", "-18.3", "-16.0", "-0.16"],
}
CUTOFFS = ["0.01", "0.1", "1"]


@pytest.fixture(scope="module")
def envelopes():
    runs = [
        {"arm": "paper", "instance": "i", "seed": seed, "horizon": HORIZON, "trace": trace}
        for seed, trace in TRACES.items()
    ]
    return gl.build_envelopes(gl.Campaign.from_runs(runs))


@pytest.fixture(scope="module")
def snapshot():
    return gl.Snapshot.from_values({"i": float(REFERENCE)}, name="paper")


def score_of(envelopes, snapshot, seed, kernel, weight="uniform"):
    frame = gl.score(envelopes, snapshot, kernels=[kernel], weight=weight).frame
    return dict(zip(frame["seed"], frame[kernel], strict=True))[seed]


@pytest.mark.parametrize("seed", TRACES)
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_cell_of_the_table(envelopes, snapshot, seed, kernel):
    got = score_of(envelopes, snapshot, seed, kernel)
    printed = TABLE[seed][KERNELS.index(kernel)]
    assert oracle.close(got, oracle.integral(TRACES[seed], REFERENCE, HORIZON, kernel=kernel))
    if printed is None:
        assert got is None
    elif kernel.startswith("dimacs"):
        assert f"{100 * got:.1f}" == printed
    else:
        assert f"{got:.2f}" == printed


def test_the_exact_sums_worked_out_by_hand():
    """Run 3 under the raw gap: 14·2 + 12·1 + 11·2 + 10·3 + 9·7 + 8·3 + 7·5 + 6·3 + 5·4 = 252; 252/300 - 1 = -0.16."""
    assert oracle.integral(TRACES[3], REFERENCE, HORIZON, kernel="raw") == Fraction(-16, 100)
    assert oracle.integral(TRACES[1], REFERENCE, HORIZON) == 1


def test_one_call_scores_all_kernels_like_six_calls(envelopes, snapshot):
    together = gl.score(envelopes, snapshot, kernels=KERNELS).frame
    for kernel in KERNELS:
        alone = gl.score(envelopes, snapshot, kernels=[kernel]).frame
        assert together[kernel].to_list() == alone[kernel].to_list()


def test_companions_of_the_three_runs(envelopes, snapshot):
    frame = gl.score(envelopes, snapshot, goals=[0.0, 0.5, -0.4]).frame
    assert frame["final_gap"].to_list() == [None, pytest.approx(0.3, abs=1e-15), -0.5]
    assert frame["final_squeezed"].to_list() == [
        1.0,
        pytest.approx(3 / 23, abs=1e-15),
        pytest.approx(-1 / 3, abs=1e-15),
    ]
    assert frame["first_time"].to_list() == [None, 5.0, 0.0]
    assert frame["hit:0"].to_list() == [np.inf, np.inf, 5.0]
    assert frame["hit:0.5"].to_list() == [np.inf, 19.0, 0.0]
    assert frame["hit:-0.4"].to_list() == [np.inf, np.inf, 23.0]
    assert frame["steps"].to_list() == [0, 7, 9]
    assert frame["beaten"].to_list() == [False, False, True]


def test_run_2_is_saturated_under_the_dimacs_threshold_like_the_empty_run(envelopes, snapshot):
    frame = gl.score(envelopes, snapshot, kernels=["dimacs:1.1"]).frame
    assert frame["dimacs:1.1"][0] == frame["dimacs:1.1"][1] == 1.1 - 1.0


def test_area_of_the_mean_curve_is_the_mean_of_the_scores(envelopes, snapshot):
    curve = gl.mean_curve(envelopes, snapshot)
    widths = np.diff(np.append(curve.frame["time"].to_numpy(), HORIZON))
    area = float(widths @ curve.frame["value"].to_numpy()) / HORIZON
    exact = sum(oracle.integral(trace, REFERENCE, HORIZON) for trace in TRACES.values()) / 3
    assert oracle.close(area, exact)
    assert oracle.close(gl.summarise(gl.score(envelopes, snapshot)).frame["squeezed"][0], exact)


@pytest.mark.parametrize("weight", [f"{name}:{cutoff}" for name in ("early-log", "end-log") for cutoff in CUTOFFS])
@pytest.mark.parametrize("kernel", KERNELS)
def test_logarithmic_weights_at_three_cutoffs(envelopes, snapshot, kernel, weight):
    for seed, trace in TRACES.items():
        got = score_of(envelopes, snapshot, seed, kernel, weight)
        exact = oracle.integral(trace, REFERENCE, HORIZON, kernel=kernel, weight=weight)
        assert oracle.close(got, exact), (seed, got, float(exact))


def test_early_weighting_changes_the_sign_of_run_3(envelopes, snapshot):
    assert score_of(envelopes, snapshot, 3, "squeezed") < 0
    signs = [np.sign(score_of(envelopes, snapshot, 3, "squeezed", f"early-log:{cutoff}")) for cutoff in CUTOFFS]
    assert signs[:2] == [1, 1]


def test_early_weighting_makes_the_slow_start_of_run_2_more_prominent(envelopes, snapshot):
    by_cutoff = [score_of(envelopes, snapshot, 2, "squeezed", f"early-log:{cutoff}") for cutoff in CUTOFFS]
    assert by_cutoff[0] > by_cutoff[1] > by_cutoff[2] > score_of(envelopes, snapshot, 2, "squeezed")


def test_end_weighting_pulls_run_3_to_its_final_gap_as_the_cutoff_shrinks(envelopes, snapshot):
    final = -1 / 3
    scores = [
        score_of(envelopes, snapshot, 3, "squeezed", f"end-log:{c}") for c in ("1", "0.1", "0.01", "1e-6", "1e-12")
    ]
    distances = [abs(score - final) for score in scores]
    assert distances == sorted(distances, reverse=True)
    assert score_of(envelopes, snapshot, 3, "squeezed") > scores[0] > scores[-1] > final


def test_end_weighting_separates_a_pair_with_equal_uniform_scores():
    """A steady run and one that improves late and steeply: equal areas; the end-weighted view favours the latter."""
    steady, late = ([0], [20]), ([0, 20], [30, 10])
    uniform = [gl.primal_integral(*run, reference=10, horizon=30) for run in (steady, late)]
    end = [gl.primal_integral(*run, reference=10, horizon=30, weight="end-log:0.1") for run in (steady, late)]
    assert uniform[0] == pytest.approx(uniform[1], abs=1e-15)
    assert end[1] < end[0]


SCALES = [(-50, -33.33), (-10, -5.26), (-5, -2.56), (0, 0), (5, 2.44), (10, 4.76), (100, 33.33)]


@pytest.mark.parametrize(("raw", "squeezed"), SCALES)
def test_scale_table(raw, squeezed):
    assert round(100 * score_of_raw_gap(raw / 100), 2) == squeezed
    exact = Fraction(raw, 100) / (Fraction(raw, 100) + 2)
    assert oracle.close(score_of_raw_gap(raw / 100), exact, within=1e-15)


def test_landmarks_of_the_scale_figure():
    assert float(squeezed_gap(20.0, 10.0)) == 1 / 3
    assert float(squeezed_gap(5.0, 10.0)) == -1 / 3
    assert round(float(squeezed_gap(110.5, 100.0)), 2) == 0.05


@pytest.mark.parametrize("z", [0.01, 5.0, 9.999999, 10.0, 10.0000001, 14.0, 1e6])
def test_relations_of_appendix_a(z):
    rho, rho_b, raw = (float(kernel(z, 10.0)) for kernel in (squeezed_gap, maxform_gap, raw_gap))
    assert rho == pytest.approx(np.tanh(np.log(z / 10) / 2), abs=1e-15)
    assert rho == pytest.approx(raw / (raw + 2), abs=1e-15)
    if z >= 10:
        assert rho_b == pytest.approx(2 * rho / (1 + rho), abs=1e-15)
        assert rho == pytest.approx(rho_b / (2 - rho_b), abs=1e-15)
        assert rho_b == pytest.approx(1 - 10 / z, abs=1e-15)
    else:
        assert rho_b == pytest.approx(2 * rho / (1 - rho), abs=1e-15)
        assert rho == pytest.approx(rho_b / (2 + rho_b), abs=1e-15)
        assert rho_b == raw


def test_maxform_is_smooth_at_the_reference_and_changes_curvature_there():
    """Both one-sided slopes are 1; the second derivatives are 0 from the left and -2 from the right."""
    h = 1e-4
    left, here, right = (float(maxform_gap(x, 1.0)) for x in (1 - h, 1.0, 1 + h))
    further_left, further_right = float(maxform_gap(1 - 2 * h, 1.0)), float(maxform_gap(1 + 2 * h, 1.0))
    assert here == 0.0
    assert (here - left) / h == pytest.approx(1, abs=2 * h)
    assert (right - here) / h == pytest.approx(1, abs=2 * h)
    assert (here - 2 * left + further_left) / h**2 == pytest.approx(0, abs=1e-3)
    assert (further_right - 2 * right + here) / h**2 == pytest.approx(-2, abs=2e-3)

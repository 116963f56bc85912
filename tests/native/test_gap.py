"""The one compiled gap: every kernel at every scale, and everybody who calls it gets the same number."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import gapline as gl
import oracle
import strategies
from gapline.contract.names import KernelCode, parse_kernel_name
from gapline.measures.areas import confined_primal_integral
from gapline.native.kernel_formulas import COMPILED, fill_gaps, gap
from gapline.scoring.kernels import parse_kernel


def test_every_kernel_but_the_users_own_is_compiled():
    assert frozenset(map(int, KernelCode)) - {int(KernelCode.CUSTOM)} == COMPILED


@given(strategies.positives, strategies.positives, st.sampled_from(strategies.KERNELS))
def test_the_compiled_gap_is_the_oracles(z, reference, kernel):
    code, parameter = parse_kernel_name(kernel)
    exact = oracle.gap(kernel, z, reference)
    assert oracle.close(gap(int(code), parameter, z, reference, oracle.TOLERANCE), exact, within=1e-15)


SIGNED = st.sampled_from([0.0, -0.0]) | strategies.positives | strategies.positives.map(lambda value: -value)


@given(SIGNED, SIGNED)
@example(-50.0, 0.5)
@example(2.0, -3.0)
@example(-2.0, -3.0)
def test_bertholds_gap_is_defined_for_every_sign(z, reference):
    """0 at equality, 1 at a change of sign or where one is 0, else the distance by the larger of the two."""
    found = gap(int(KernelCode.BERTHOLD), 0.0, z, reference, oracle.TOLERANCE)
    if z == reference:
        assert found == 0.0
    elif z * reference <= 0 and (z <= 0 <= reference or reference <= 0 <= z):
        assert found == 1.0
    else:
        assert oracle.close(found, oracle.gap("berthold", abs(z), abs(reference)), within=1e-15)
    # The page reads a maximised objective negated: the gap is the same.
    assert found == gap(int(KernelCode.BERTHOLD), 0.0, -z, -reference, oracle.TOLERANCE)


@pytest.mark.parametrize(
    ("kernel", "exact"), [("squeezed", 1 / 3), ("maxform", 1 / 2), ("berthold", 1 / 2), ("raw", 1)]
)
def test_no_kernel_overflows_where_the_numbers_do_not(kernel, exact):
    """Twice the reference, at the end of the range, where the sum of the two is infinite."""
    code, parameter = parse_kernel_name(kernel)
    assert gap(int(code), parameter, strategies.HUGE, strategies.HUGE / 2, 1e-9) == pytest.approx(exact, rel=1e-15)


@given(strategies.ordinary, strategies.ordinary, st.sampled_from(strategies.KERNELS))
def test_integral_curve_and_neighbouring_area_of_a_constant_run_are_the_gap(z, reference, kernel):
    run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 1.0, "trace": [(0, z)]}
    envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    snapshot = gl.Snapshot.from_values({"i": reference}, name="mine")
    exact = float(parse_kernel(kernel)(z, reference))
    assert gl.primal_integral([0], [z], reference=reference, horizon=1.0, kernel=kernel) == exact
    # The curve goes by its changes and the area by differences of exponentials: a bit or two are lost there.
    (height,) = gl.mean_curve(envelopes, snapshot, kernel=kernel).frame["value"]
    assert height == pytest.approx(exact, rel=1e-15, abs=4e-16)
    area = confined_primal_integral(envelopes, snapshot, alpha=0.3, kernel=kernel)[0]
    assert area == pytest.approx(exact, rel=1e-14, abs=4e-16)


def test_arrays_are_broadcast_and_keep_their_shape():
    squeezed = int(KernelCode.SQUEEZED)
    table = fill_gaps(squeezed, 0.0, [[30.0], [np.inf]], np.array([10.0, 30.0]), 0.0, 1.0)
    assert table.tolist() == [[0.5, 0.0], [1.0, 1.0]]
    assert fill_gaps(squeezed, 0.0, 10.0, 10.0, 0.0, 1.0).shape == ()
    assert fill_gaps(squeezed, 0.0, [], 10.0, 0.0, 1.0).shape == (0,)

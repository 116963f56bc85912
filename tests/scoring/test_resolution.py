import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gapline.campaign.campaign import Campaign
from gapline.contract.names import parse_weight
from gapline.envelope.build import build_envelopes
from gapline.errors import UsageError
from gapline.scoring.integral import integrate_envelopes
from gapline.scoring.kernels import parse_kernel
from gapline.scoring.printed_integrals import resolution_bound

HORIZON = 20.0


def envelopes_of(traces, resolution=1.0):
    runs = [
        {"arm": "a", "instance": f"i{k}", "seed": 1, "horizon": HORIZON, "resolution": resolution, "trace": trace}
        for k, trace in enumerate(traces)
    ]
    return build_envelopes(Campaign.from_runs(runs))


def test_by_hand():
    envelopes = envelopes_of([[(2, 30.0), (4, 10.0)], [], [(0, 30.0)]])
    # squeezed: 1 → 0.5 → 0 is 1 second of 20; nothing; 1 → 0.5 is half a second of 20
    assert resolution_bound(envelopes, np.full(3, 10.0)).tolist() == pytest.approx([0.05, 0.0, 0.025])


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, HORIZON - 1), st.floats(1, 100)), min_size=1, max_size=12),
    st.sampled_from(["squeezed", "maxform", "dimacs:1.5"]),
)
def test_no_flooring_of_stamps_moves_a_score_further(trace, kernel):
    """True stamps against whole seconds, rounded down and up."""
    chosen = [parse_kernel(kernel)]
    reference = np.array([20.0])
    true = integrate_envelopes(envelopes_of([trace]), reference, kernels=chosen, weight=parse_weight("uniform"))
    for rounding in (np.floor, np.ceil):
        coarse = envelopes_of([[(float(rounding(t)), z) for t, z in trace]])
        score = integrate_envelopes(coarse, reference, kernels=chosen, weight=parse_weight("uniform"))
        bound = resolution_bound(coarse, reference, kernel=kernel)
        assert abs(score[0, 0] - true[0, 0]) <= bound[0] + 1e-12


def test_exact_stamps_have_no_bound():
    exact = build_envelopes(
        Campaign.from_runs([{"arm": "a", "instance": "i", "seed": 1, "horizon": 9, "trace": [(1, 2.0)]}])
    )
    assert resolution_bound(exact, np.array([1.0])).tolist() == [0.0]
    assert resolution_bound(envelopes_of([[(1, 2.0)]], resolution=None), np.array([1.0])).tolist() == [0.0]


def test_an_unbounded_kernel_has_none():
    with pytest.raises(UsageError, match="expected a bounded kernel, got raw"):
        resolution_bound(envelopes_of([[(1, 2.0)]]), np.array([1.0]), kernel="raw")


def test_each_run_begins_at_the_gap_before_its_own_first_incumbent():
    """Two runs that each fall from 1 to 0: nothing is taken over from the run before."""
    envelopes = envelopes_of([[(1, 20.0)], [(2, 20.0)]])
    bound = resolution_bound(envelopes, np.array([20.0, 20.0]))
    assert bound.tolist() == [bound[0]] * 2
    assert bound[0] == pytest.approx(1 / HORIZON)

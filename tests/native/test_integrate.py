"""The integral in NumPy is that of the compiled pass to the last bit: every kernel, every weight, every edge."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import strategies
from both_paths import assert_same_bits, frozen
from gapline.contract.names import parse_weight
from gapline.native.time_weights import weight_arrays
from gapline.scoring.integral import _integrate_slices
from gapline.scoring.kernels import PAPER_KERNELS, parse_kernel
from gapline.scoring.user_functions import function_weight

KERNELS = [parse_kernel(name) for name in (*PAPER_KERNELS, "raw", "dimacs:1e300")]
WEIGHTS = [
    parse_weight("uniform"), parse_weight("early-log:0.5"), parse_weight("early-log:1e-300"),
    parse_weight("end-log:0.25"), parse_weight("steps:0=3,2=0,5=1"),
    function_weight(lambda t: 1.0 + t * t, name="of test_integral_arrays"),
]  # fmt: skip


@st.composite
def envelopes(draw):
    """Columns of steps of several runs, with their horizons: empty ones, steps at 0 and at the horizon."""
    time, objective, count, horizon = [], [], [], []
    for _ in range(draw(st.integers(0, 6))):
        limit = draw(st.sampled_from([10.0, 7.5]))
        stamps = sorted(
            set(draw(st.lists(strategies.stamps(limit).filter(lambda t, end=limit: t <= end), max_size=23)))
        )
        values = draw(st.lists(strategies.positives, min_size=len(stamps), max_size=len(stamps), unique=True))
        time += stamps
        objective += sorted(values, reverse=True)
        count.append(len(stamps))
        horizon.append(limit)
    return time, objective, count, horizon


@given(envelopes(), st.sampled_from(WEIGHTS), st.data())
def test_every_score_is_that_of_the_compiled_pass(steps, weight, data):
    time, objective, count, horizon = steps
    if weight.function is not None:
        horizon = [10.0] * len(count)
    first = np.cumsum([0, *count])[:-1]
    order = data.draw(st.permutations(range(len(count))))
    references = data.draw(st.lists(strategies.positives, min_size=len(count), max_size=len(count)))
    edges, values = weight_arrays(weight, 10.0)
    assert_same_bits(
        _integrate_slices, data.draw(st.integers(0, len(count))), len(count), frozen(time), frozen(objective),
        frozen([first[k] for k in order], np.int64), frozen([count[k] for k in order], np.int64),
        frozen([horizon[k] for k in order]), np.array(references, np.float64),
        np.array([int(kernel.code) for kernel in KERNELS]), np.array([kernel.parameter for kernel in KERNELS]),
        np.array([kernel.tolerance for kernel in KERNELS]), np.array([kernel.before or 0.0 for kernel in KERNELS]),
        np.arange(len(KERNELS)), int(weight.code), weight.cutoff, edges, values,
        np.zeros((len(count), len(KERNELS))),
    )  # fmt: skip


def test_runs_of_every_length_are_integrated_alike():
    """Whatever is left over when four terms are added at a time."""
    generator = np.random.default_rng(1)
    count = np.repeat(np.arange(40), 5)
    time = np.concatenate([np.sort(generator.uniform(0, 10, size)) for size in count.tolist()])
    objective = np.concatenate([np.sort(generator.uniform(1, 9, size))[::-1] for size in count.tolist()])
    first = np.cumsum(count) - count
    # Every fifth run is feasible at 0, and so has a raw score.
    time[first[count > 0][::5]] = 0.0
    edges, values = weight_arrays(WEIGHTS[0])
    assert_same_bits(
        _integrate_slices, 0, len(count), frozen(time), frozen(objective), frozen(first, np.int64),
        frozen(count, np.int64), frozen(np.full(len(count), 10.0)), generator.uniform(1, 9, len(count)),
        np.array([int(kernel.code) for kernel in KERNELS]), np.array([kernel.parameter for kernel in KERNELS]),
        np.array([kernel.tolerance for kernel in KERNELS]), np.array([kernel.before or 0.0 for kernel in KERNELS]),
        np.arange(len(KERNELS)), 0, 0.0, edges, values, np.zeros((len(count), len(KERNELS))),
    )  # fmt: skip

"""The normalized signed primal integral: an exact finite sum over the steps of an envelope.

For steps (t_1, z_1), …, (t_m, z_m) of a run with horizon Γ and reference z*, and a kernel gap with the value `before`
until the first incumbent, the score is

    Λ = 1/W(0, Γ) · Σ_{i=0..m} gap(z_i, z*) · W(t_i, t_{i+1}),   t_0 = 0, z_0 = none, t_{m+1} = Γ

where W(a, b) is the integral of the time weight (b - a for the uniform one): the paper's equations 3 and C.1. Sums are
compensated (Neumaier), so that a million tiny steps cost no digits.
"""

from collections.abc import Sequence

import numba
import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.envelope import Envelopes, in_slices
from gapline.errors import UsageError
from gapline.score.kernels import Kernel, KernelCode, parse_kernel
from gapline.score.time_weights import TimeWeight, parse_weight, width

Floats = NDArray[np.float64]


def primal_integral(
    time: ArrayLike,
    objective: ArrayLike,
    /,
    *,
    reference: float,
    horizon: float,
    kernel: str | Kernel = "squeezed",
    weight: str | TimeWeight = "uniform",
) -> float | None:
    """Score one run given as lists of accepted steps.

    Unit: gap; smaller is better. A run without a step scores the kernel's value before the first incumbent (1 for the
    bounded kernels). A step exactly at the horizon has zero width. Below the reference the contribution is negative.
    `raw` exists only for a run feasible at time 0; otherwise the result is None.

    The second run of the paper's worked example:

    >>> round(primal_integral([5, 7, 11, 14, 19, 24, 27], [30, 29, 22, 18, 15, 14, 13], reference=10, horizon=30), 2)
    0.41
    """
    t, z = np.asarray(time, np.float64), np.asarray(objective, np.float64)
    in_order = np.all(t[1:] > t[:-1]) and np.all(z[1:] < z[:-1])
    if t.shape != z.shape or t.ndim != 1 or not in_order or (len(t) and not (t[0] >= 0 and t[-1] <= horizon)):
        raise UsageError("primal_integral: expected steps of an envelope (times up, objectives down, inside the horizon)")
    if not (reference > 0 and np.isfinite(reference) and (not len(z) or z[-1] > 0)):
        raise UsageError(f"primal_integral: expected positive finite objectives and reference, got {reference}")
    scores = integrate(
        t, z, np.zeros(1, np.int64), np.array([len(t)]), np.array([float(horizon)]), np.array([float(reference)]),
        kernels=[parse_kernel(kernel)], weight=parse_weight(weight),
    )  # fmt: skip
    value = float(scores[0, 0])
    return None if np.isnan(value) else value


def integrate_envelopes(
    envelopes: Envelopes, references: Floats, *, kernels: Sequence[Kernel], weight: TimeWeight
) -> Floats:
    """Score every run under every kernel; `raw` is NaN for a run that is not feasible at time 0."""
    runs = envelopes.runs
    return integrate(
        envelopes.time, envelopes.objective, runs["first"].to_numpy(), runs["count"].to_numpy(),
        runs["horizon"].to_numpy(), references, kernels=kernels, weight=weight,
    )  # fmt: skip


def integrate(
    time: Floats,
    objective: Floats,
    first: NDArray[np.int64],
    count: NDArray[np.int64],
    horizon: Floats,
    reference: Floats,
    *,
    kernels: Sequence[Kernel],
    weight: TimeWeight,
) -> Floats:
    """Return the score matrix, runs × kernels."""
    weight.check_horizons(horizon)
    out = np.empty((len(first), len(kernels)))
    edges, values = weight.arrays()
    built_in = [k for k, kernel in enumerate(kernels) if kernel.code is not KernelCode.CUSTOM]
    codes = np.array([int(kernels[k].code) for k in built_in], np.int64)
    parameters = np.array([kernels[k].parameter for k in built_in])
    places = np.array(built_in, np.int64)

    def work(low: int, high: int) -> None:
        _integrate_slices(
            low, high, time, objective, first, count, horizon, reference, codes, parameters, places,
            int(weight.code), weight.cutoff, edges, values, out,
        )  # fmt: skip

    if built_in:
        in_slices(count + 1, work)
    for k, kernel in enumerate(kernels):
        if kernel.code is KernelCode.CUSTOM:
            gaps = step_gaps(objective, first, count, reference, kernel)
            _integrate_gaps(
                time, gaps, first, count, horizon, float(kernel.before or 0.0),
                int(weight.code), weight.cutoff, edges, values, out[:, k],
            )  # fmt: skip
    return out


def step_gaps(
    objective: Floats, first: NDArray[np.int64], count: NDArray[np.int64], reference: Floats, kernel: Kernel
) -> Floats:
    """Return the gap at every step, in the layout of the steps."""
    per_step = np.ones(len(objective))
    for f, c, value in zip(first.tolist(), count.tolist(), reference.tolist(), strict=True):
        per_step[f : f + c] = value
    return kernel(objective, per_step)


@numba.njit(nogil=True, cache=True, inline="always")  # type: ignore[misc, unused-ignore]
def _gap(code, parameter, z, reference):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the gap of one objective; the compiled twin of `gapline.score.kernels`."""
    difference = z - reference
    if code == 0:
        total = z + reference
        if total < np.inf:
            return difference / total
        return (0.5 * z - 0.5 * reference) / (0.5 * z + 0.5 * reference)
    if code == 1:
        return difference / max(z, reference)
    if code == 2:
        return abs(difference) / max(z, reference)
    if code == 3 and not z < parameter * reference:
        return parameter - 1.0
    return difference / reference


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _integrate_slices(  # type: ignore[no-untyped-def] # pragma: no cover
    low, high, time, objective, first, count, horizon, references, codes, parameters, places,
    weight_code, cutoff, edges, values, out,
):  # fmt: skip
    size = len(codes)
    total = np.empty(size)
    lost = np.empty(size)
    for run in range(low, high):
        begin, stop, limit, reference = first[run], first[run] + count[run], horizon[run], references[run]
        normalizer = width(weight_code, cutoff, edges, values, 0.0, limit, limit)
        start = time[begin] if stop > begin else limit
        pre = width(weight_code, cutoff, edges, values, 0.0, start, limit)
        for k in range(size):
            code = codes[k]
            before = 1.0
            if code == 3:
                before = parameters[k] - 1.0
            elif code == 4:
                before = 0.0 if start == 0.0 and stop > begin else np.nan
            total[k] = before * pre
            lost[k] = 0.0
        for i in range(begin, stop):
            end = time[i + 1] if i + 1 < stop else limit
            z = objective[i]
            if weight_code == 0:
                piece = end - time[i]
            else:
                piece = width(weight_code, cutoff, edges, values, time[i], end, limit)
            if piece > 0.0:
                for k in range(size):
                    term = _gap(codes[k], parameters[k], z, reference) * piece
                    old = total[k]
                    new = old + term
                    back = new - old
                    lost[k] += (old - (new - back)) + (term - back)
                    total[k] = new
        for k in range(size):
            mean = (total[k] + lost[k]) / normalizer if total[k] < np.inf else total[k]
            if codes[k] <= 2:
                # The mean of gaps in [-1, 1] lies there too; the last bit of the division must not say otherwise.
                mean = min(max(mean, -1.0), 1.0)
            out[run, places[k]] = mean


@numba.njit(nogil=True, cache=True)  # type: ignore[misc, unused-ignore]
def _integrate_gaps(  # type: ignore[no-untyped-def] # pragma: no cover
    time, gaps, first, count, horizon, before, weight_code, cutoff, edges, values, out
):
    for run in range(len(first)):
        begin, stop, limit = first[run], first[run] + count[run], horizon[run]
        start = time[begin] if stop > begin else limit
        total, lost = before * width(weight_code, cutoff, edges, values, 0.0, start, limit), 0.0
        for i in range(begin, stop):
            end = time[i + 1] if i + 1 < stop else limit
            term = gaps[i] * width(weight_code, cutoff, edges, values, time[i], end, limit)
            new = total + term
            back = new - total
            lost += (total - (new - back)) + (term - back)
            total = new
        out[run] = (total + lost) / width(weight_code, cutoff, edges, values, 0.0, limit, limit)

"""The normalized signed primal integral: an exact finite sum over the steps of an envelope.

For steps (t_1, z_1), …, (t_m, z_m) of a run with horizon Γ and reference z*, and a kernel gap with the value `before`
until the first incumbent, the score is

    Λ = 1/W(0, Γ) · Σ_{i=0..m} gap(z_i, z*) · W(t_i, t_{i+1}),   t_0 = 0, z_0 = none, t_{m+1} = Γ

where W(a, b) is the integral of the time weight (b - a for the uniform one): the paper's equations 3 and C.1. Sums are
compensated (Neumaier), so that a million tiny steps cost no digits.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from gapline.campaign.threads import in_slices
from gapline.contract.names import TimeWeight
from gapline.contract.row_groups import distinct
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, per_run, per_run_at_once
from gapline.errors import UsageError
from gapline.native.arrays import Floats, Integers
from gapline.native.compensated_sums import two_sum
from gapline.native.compilation import compiled
from gapline.native.integrate import integrate_arrays, integrate_gap_arrays
from gapline.native.kernel_formulas import DIMACS, RAW, gap
from gapline.native.slices import lying_order, step_places
from gapline.native.time_weights import weight_arrays, width
from gapline.scoring.kernels import Kernel, KernelCode, parse_kernel, refuse_signed
from gapline.scoring.user_functions import Weight, as_weight


def primal_integral(
    time: ArrayLike,
    objective: ArrayLike,
    /,
    *,
    reference: float,
    horizon: float,
    kernel: str | Kernel = "squeezed",
    weight: Weight = "uniform",
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
    if not (np.isfinite(horizon) and horizon > 0):
        raise UsageError(f"primal_integral: expected a positive finite horizon, got {horizon}")
    in_order = np.all(t[1:] > t[:-1]) and np.all(z[1:] < z[:-1])
    if t.shape != z.shape or t.ndim != 1 or not in_order or (len(t) and not (t[0] >= 0 and t[-1] <= horizon)):
        raise UsageError(
            "primal_integral: expected steps of an envelope (times up, objectives down, inside the horizon)"
        )
    chosen = parse_kernel(kernel)
    # Only Berthold's gap is defined at zero and below.
    above = -np.inf if chosen.code is KernelCode.BERTHOLD else 0.0
    if not (reference > above and np.isfinite(reference) and (not len(z) or (z[-1] > above and np.isfinite(z[0])))):
        raise UsageError(f"primal_integral: expected positive finite objectives and reference, got {reference}")
    scores = integrate(
        t, z, np.zeros(1, np.int64), np.array([len(t)]), np.array([float(horizon)]), np.array([float(reference)]),
        kernels=[chosen], weight=as_weight(weight),
    )  # fmt: skip
    value = float(scores[0, 0])
    return None if np.isnan(value) else value


def integrate_envelopes(
    envelopes: Envelopes, references: Floats, *, kernels: Sequence[Kernel], weight: TimeWeight
) -> Floats:
    """Score every run under every kernel; `raw` is NaN for a run that is not feasible at time 0."""
    refuse_signed(kernels, envelopes.scale)
    weight.check_horizons(distinct(envelopes.runs["horizon"])[:1])
    over: Callable[..., Floats] = per_run_at_once
    # User functions exist only in this process, and return an array of gaps.
    if weight.function is not None or any(kernel.code is KernelCode.CUSTOM for kernel in kernels):
        envelopes, over = bring(envelopes), per_run
    return over(_integrate_runs, envelopes, references, kernels=kernels, weight=weight)


def _integrate_runs(
    envelopes: Envelopes, references: Floats, *, kernels: Sequence[Kernel], weight: TimeWeight
) -> Floats:
    per_run = [*(envelopes.runs[name].to_numpy() for name in ("first", "count", "horizon")), references]
    order = lying_order(per_run[0])
    if order is None:
        return integrate(envelopes.time, envelopes.objective, *per_run, kernels=kernels, weight=weight)
    per_run = [column[order] for column in per_run]
    scores = integrate(envelopes.time, envelopes.objective, *per_run, kernels=kernels, weight=weight)
    out = np.empty_like(scores)
    out[order] = scores
    return out


def integrate(
    time: Floats,
    objective: Floats,
    first: Integers,
    count: Integers,
    horizon: Floats,
    reference: Floats,
    *,
    kernels: Sequence[Kernel],
    weight: TimeWeight,
) -> Floats:
    """Return the score matrix, runs × kernels."""
    weight.check_horizons([float(horizon.min())] if len(horizon) else [])
    out = np.empty((len(first), len(kernels)))
    # A function is integrated over each horizon separately, so that no score depends on which other runs there are.
    for limit in [None] if weight.function is None else np.unique(horizon).tolist():
        rows = slice(None) if limit is None else np.flatnonzero(horizon == limit)
        runs = [column[rows] for column in (first, count, horizon, reference)]
        out[rows] = _integrate(time, objective, runs, kernels, weight, limit)
    return out


def _integrate(
    time: Floats, objective: Floats, runs: list[Any], kernels: Sequence[Kernel], weight: TimeWeight, limit: float | None
) -> Floats:
    first, count, horizon, reference = runs
    out = np.empty((len(first), len(kernels)))
    edges, values = weight_arrays(weight, limit)
    built_in = [(k, kernel) for k, kernel in enumerate(kernels) if kernel.code is not KernelCode.CUSTOM]
    places = np.array([k for k, _ in built_in], np.int64)
    codes = np.array([int(kernel.code) for _, kernel in built_in], np.int64)
    facts = [(kernel.parameter, kernel.tolerance, kernel.before or 0.0) for _, kernel in built_in]
    parameters, tolerances, befores = np.array(facts, np.float64).reshape(-1, 3).T.copy()

    def work(low: int, high: int) -> None:
        _integrate_slices(
            low, high, time, objective, *runs, codes, parameters, tolerances, befores, places, int(weight.code),
            weight.cutoff, edges, values, out,
        )  # fmt: skip

    if built_in:
        in_slices(count, work, each=1)
    for k, kernel in enumerate(kernels):
        if kernel.code is KernelCode.CUSTOM:
            gaps, starts = step_gaps(objective, first, count, reference, kernel)
            with np.errstate(all="ignore"):
                integrate_gap_arrays(
                    time, gaps, first, starts, count, horizon, float(kernel.before or 0.0),
                    int(weight.code), weight.cutoff, edges, values, out[:, k],
                )  # fmt: skip
    return out


def step_gaps(
    objective: Floats, first: Integers, count: Integers, reference: Floats, kernel: Kernel
) -> tuple[Floats, Integers]:
    """Return the gaps at the steps of these runs, one run after the other, and where each run begins among them.

    The columns may contain the steps of other runs too (`Envelopes.select` shares them): the kernel does not get those.
    """
    own, starts = step_places(first, count)
    return kernel(objective[own], np.repeat(reference, count)), starts


@compiled(nogil=True, small=integrate_arrays)
def _integrate_slices(  # type: ignore[no-untyped-def] # pragma: no cover
    low, high, time, objective, first, count, horizon, references, codes, parameters, tolerances, befores, places,
    weight_code, cutoff, edges, values, out,
):  # fmt: skip
    most = 0
    for run in range(low, high):
        most = max(most, count[run])
    pieces, terms = np.empty(most), np.empty(most)
    for run in range(low, high):
        # Unsigned indices need no check for negative ones, so the compiler vectorises the loops.
        one = np.uint64(1)
        begin, size, limit, reference = np.uint64(first[run]), np.uint64(count[run]), horizon[run], references[run]
        if weight_code == 0 and size > 0:
            for i in range(size - one):
                pieces[i] = time[begin + one + i] - time[begin + i]
            pieces[size - one] = limit - time[begin + size - one]
            before_width, normalizer = time[begin], limit
        else:
            for i in range(size):
                end = time[begin + one + i] if i + one < size else limit
                pieces[i] = width(weight_code, cutoff, edges, values, time[begin + i], end, limit)
            first_step = time[begin] if size > 0 else limit
            before_width = width(weight_code, cutoff, edges, values, 0.0, first_step, limit)
            normalizer = width(weight_code, cutoff, edges, values, 0.0, limit, limit)
        for k in range(len(codes)):
            code, parameter, tolerance, before = codes[k], parameters[k], tolerances[k], befores[k]
            if code == RAW and (size == 0 or time[begin] > 0.0):
                out[run, places[k]] = np.nan
                continue
            # The kernel is constant in the loop, so the compiler unswitches it: one loop per formula.
            for i in range(size):
                terms[i] = gap(code, parameter, objective[begin + i], reference, tolerance) * pieces[i]
            if code == RAW:
                out[run, places[k]] = _raw_mean(terms, objective[begin : begin + size], reference, pieces, normalizer)
                continue
            mean = _mean(terms, count[run], before, before_width, normalizer)
            if (
                code == DIMACS
                and size > 0
                and gap(code, parameter, objective[begin + size - one], reference, tolerance) == before
            ):
                # No candidate was accepted: the mean is exactly `before`, which the sum of the pieces might round.
                mean = before
            # The mean of gaps in [-1, before] lies in the same range; the last bit of the division must not leave it.
            out[run, places[k]] = min(max(mean, -1.0), before)


@compiled(nogil=True)
def _mean(terms, size, before, before_width, normalizer):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return (before · before_width + Σ terms) / normalizer; exactly `before` if nothing else has any weight."""
    if before_width == normalizer:
        return before
    # A sum that underflows below zero would give -0.0; adding zero makes it 0.0.
    return _sum(terms, size, before * before_width) / normalizer + 0.0


@compiled(nogil=True)
def _raw_mean(terms, z, reference, pieces, normalizer):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the mean raw gap of a run feasible at time 0; infinite if the gap itself overflows."""
    size = len(z)
    if gap(RAW, 0.0, z[0], reference, 0.0) == np.inf:
        return np.inf if pieces[0] > 0.0 else np.nan
    mean = _sum(terms, size, 0.0) / normalizer
    if not np.isfinite(mean):
        # Gap times seconds may overflow although the mean does not.
        for i in range(size):
            terms[i] = gap(RAW, 0.0, z[i], reference, 0.0) * (pieces[i] / normalizer)
        mean = _sum(terms, size, 0.0)
    return mean


@compiled(nogil=True)
def _sum(terms, size, start):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return start + Σ terms with Neumaier's compensation, in four independent lanes."""
    s0, s1, s2, s3 = start, 0.0, 0.0, 0.0
    c0, c1, c2, c3 = 0.0, 0.0, 0.0, 0.0
    whole = size // 4 * 4
    for i in range(0, whole, 4):
        s0, lost = two_sum(s0, terms[i])
        c0 += lost
        s1, lost = two_sum(s1, terms[i + 1])
        c1 += lost
        s2, lost = two_sum(s2, terms[i + 2])
        c2 += lost
        s3, lost = two_sum(s3, terms[i + 3])
        c3 += lost
    for i in range(whole, size):
        s0, lost = two_sum(s0, terms[i])
        c0 += lost
    for lane in (s1, s2, s3):
        s0, lost = two_sum(s0, lane)
        c0 += lost
    return s0 + (((c0 + c1) + c2) + c3)

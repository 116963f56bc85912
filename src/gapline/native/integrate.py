"""The integral in NumPy, bit-identical, for data too small to justify loading compiled code."""

import numpy as np
from numpy.typing import NDArray

from gapline.contract.names import KernelCode
from gapline.native.compensated_sums import compensated_sums
from gapline.native.kernel_formulas import gap_arrays
from gapline.native.slices import step_places
from gapline.native.time_weights import width_arrays

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]


def integrate_arrays(
    low: int, high: int, time: Floats, objective: Floats, first: Integers, count: Integers, horizon: Floats,
    references: Floats, codes: Integers, parameters: Floats, tolerances: Floats, befores: Floats, places: Integers,
    weight_code: int, cutoff: float, edges: Floats, values: Floats, out: Floats,
) -> None:  # fmt: skip
    """Write the scores of runs low:high under every kernel to `out`."""
    first, count, reference = first[low:high], count[low:high], references[low:high]
    own, starts = step_places(first, count)
    t, z = time[own], objective[own]
    weight = (weight_code, cutoff, edges, values)
    pieces, before_width, normalizer = _fill_pieces(t, starts, count, horizon[low:high], weight)
    against = np.repeat(reference, count)
    filled = np.flatnonzero(count > 0)
    for code, parameter, tolerance, before, place in zip(
        codes.tolist(), parameters.tolist(), tolerances.tolist(), befores.tolist(), places.tolist(), strict=True
    ):
        gaps = gap_arrays(code, parameter, z, against, tolerance)
        if code == KernelCode.RAW:
            out[low:high, place] = _raw_means(gaps, pieces, t, starts, count, normalizer)
            continue
        mean = _means(gaps * pieces, starts, count, before, before_width, normalizer)
        if code == KernelCode.DIMACS:
            never = filled[gaps[starts[filled] + count[filled] - 1] == before]
            mean[never] = before
        out[low:high, place] = np.minimum(np.maximum(mean, -1.0), before)


def integrate_gap_arrays(
    time: Floats, gaps: Floats, first: Integers, starts: Integers, count: Integers, horizon: Floats, before: float,
    weight_code: int, cutoff: float, edges: Floats, values: Floats, out: Floats,
) -> None:  # fmt: skip
    """Write the scores of runs with given gaps to `out`; the gaps of a run begin at `starts`."""
    own, _ = step_places(first, count)
    weight = (weight_code, cutoff, edges, values)
    pieces, before_width, normalizer = _fill_pieces(time[own], starts, count, horizon, weight)
    out[:] = _means(gaps * pieces, starts, count, before, before_width, normalizer)


def _fill_pieces(
    t: Floats, starts: Integers, count: Integers, limit: Floats, weight: tuple[int, float, Floats, Floats]
) -> tuple[Floats, Floats, Floats]:
    """Return the weight of the time that each step lasts, of the time before the first step, and of the horizon."""
    filled = count > 0
    end = np.append(t[1:], 0.0)[: len(t)]
    end[(starts + count - 1)[filled]] = limit[filled]
    start = limit.copy()
    start[filled] = t[starts[filled]]
    zero = np.zeros_like(limit)
    return (
        width_arrays(*weight, t, end, np.repeat(limit, count)),
        width_arrays(*weight, zero, start, limit),
        width_arrays(*weight, zero, limit, limit),
    )


def _means(
    terms: Floats, starts: Integers, count: Integers, before: float, before_width: Floats, normalizer: Floats
) -> Floats:
    sums = compensated_sums(terms, starts, count, before * before_width)
    return np.where(before_width == normalizer, before, sums / normalizer + 0.0)


def _raw_means(
    gaps: Floats, pieces: Floats, t: Floats, starts: Integers, count: Integers, normalizer: Floats
) -> Floats:
    """Return the mean raw gaps; NaN for a run without an incumbent at time 0, infinite if the first gap overflows."""
    means = np.full(len(count), np.nan)
    filled = np.flatnonzero(count > 0)
    rows = filled[~(t[starts[filled]] > 0.0)]
    begins = starts[rows]
    sums = compensated_sums(gaps * pieces, begins, count[rows], np.zeros(len(rows)))
    means[rows] = sums / normalizer[rows]
    # The sum of gap times seconds may overflow although the mean does not.
    large = rows[~np.isfinite(means[rows])]
    if len(large):
        shares = gaps * (pieces / np.repeat(normalizer, count))
        means[large] = compensated_sums(shares, starts[large], count[large], np.zeros(len(large)))
    endless = gaps[begins] == np.inf
    means[rows[endless]] = np.where(pieces[begins[endless]] > 0.0, np.inf, np.nan)
    return means

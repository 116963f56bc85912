"""Related areas: confined integral, hypervolume, areas of convergence curves, primal-dual and dual integrals."""

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.threads import in_slices
from gapline.contract.reading import TOLERANCE
from gapline.contract.tables import CURVE_AREAS
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, per_run
from gapline.errors import TraceError, UsageError
from gapline.files.scratch_arrays import piece_size
from gapline.native.arrays import Bools, Floats, Integers
from gapline.native.compensated_sums import two_sum
from gapline.native.compilation import compiled
from gapline.native.kernel_formulas import gap, is_beaten
from gapline.references.snapshot import Snapshot
from gapline.scoring.curve import group_curves
from gapline.scoring.events import steps_apart
from gapline.scoring.kernels import Kernel, KernelCode, parse_kernel, refuse_signed
from gapline.scoring.run_references import reference_column
from gapline.statistics.cells import TIE


def confined_primal_integral(
    envelopes: Envelopes,
    snapshot: Snapshot,
    /,
    *,
    alpha: float,
    kernel: str | Kernel = "maxform",
    tolerance: float = TOLERANCE,
) -> Floats:
    """Return, per run, the mean gap under the exponentially decaying weight exp(-t/alpha), over [0, Γ].

    P = Σ gap_i · (exp(-t_i/α) - exp(-t_{i+1}/α)) / (1 - exp(-Γ/α)): early moments count most, and those far beyond
    `alpha` seconds hardly at all, so a longer horizon cannot invert an order. Times α·(1 - exp(-Γ/α)) it is the area.
    Gap units; smaller is better.

    Missing incumbents: the kernel's value before the first one (1). Beaten references: with the default, the signed
    max-form, they contribute negatively; under `berthold`, the original, an improvement would count as a loss.

    >>> import gapline as gl
    >>> run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(0, 20.0)]}
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    >>> snapshot = gl.Snapshot.from_values({"i": 10.0}, name="mine")
    >>> confined_primal_integral(envelopes, snapshot, alpha=5.0).tolist()
    [0.5]
    """
    if not (math.isfinite(alpha) and alpha > 0):
        raise UsageError(f"alpha: expected positive seconds, got {alpha}")
    chosen = parse_kernel(kernel, tolerance=tolerance)
    if chosen.before is None or chosen.code is KernelCode.CUSTOM:
        raise UsageError(f"kernel {chosen.name}: expected a built-in one with a value before the first incumbent")
    return _per_run(envelopes, snapshot, mode=0, a=alpha, b=float(chosen.before), kernel=chosen)


def area_over_curve(
    envelopes: Envelopes, snapshot: Snapshot, /, *, lower: float = 1e-8, upper: float = 1e2, logarithmic: bool = True
) -> Floats:
    """Return, per run, the area over the curve of the raw gap, clipped to [lower, upper] and scaled to [0, 1].

    AOCC = 1 - mean over time of (clip(f) - lower) / (upper - lower), with f, lower and upper in log10 unless
    `logarithmic` is false. Larger is better, unlike the scores.

    Missing incumbents: before the first one the gap counts as `upper`, so an empty run has 0, and so has one that stays
    above `upper`. Beaten references: everything at or below `lower` is clipped to it, so on the logarithmic scale a
    reference that is met and one that is beaten look alike.

    >>> import gapline as gl
    >>> run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "trace": [(5, 10.0)]}
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs([run]))
    >>> area_over_curve(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine")).tolist()
    [0.5]
    """
    if not lower < upper or (logarithmic and not lower > 0):
        raise UsageError(f"bounds: expected lower < upper (both positive on the log scale), got {lower} and {upper}")
    return _per_run(envelopes, snapshot, mode=1 if logarithmic else 2, a=lower, b=upper)


def time_quality_hypervolume(envelopes: Envelopes, snapshot: Snapshot, /, *, worst_gap: float = 1.0) -> Floats:
    """Return the hypervolume of each run's time-quality front against the point (Γ, worst_gap), divided by Γ·worst_gap.

    The front contains (time, raw gap) of every step; the volume that it dominates is ∫ max(0, worst_gap - gap(t)) dt.
    Larger is better; 1 means that the reference is met at time 0.

    Missing incumbents: an empty run has 0, and so has one that stays above `worst_gap`, which is the analyst's choice.
    Beaten references: the volume grows beyond 1.
    """
    if not (math.isfinite(worst_gap) and worst_gap > 0):
        raise UsageError(f"worst_gap: expected a positive raw gap, got {worst_gap}")
    return _per_run(envelopes, snapshot, mode=3, a=worst_gap, b=0.0)


def _per_run(
    envelopes: Envelopes, snapshot: Snapshot, *, mode: int, a: float, b: float, kernel: str | Kernel = "raw"
) -> Floats:
    chosen = parse_kernel(kernel)
    refuse_signed([chosen], envelopes.scale)
    references = reference_column(snapshot, envelopes)
    found: Floats = per_run(_areas, envelopes, references, mode=mode, a=a, b=b, chosen=chosen)
    return found


def _areas(envelopes: Envelopes, references: Floats, *, mode: int, a: float, b: float, chosen: Kernel) -> Floats:
    first, count = envelopes.runs["first"].to_numpy(), envelopes.runs["count"].to_numpy()
    horizon = envelopes.runs["horizon"].to_numpy()
    out = np.empty(len(first))

    def work(low: int, high: int) -> None:
        _areas_of(
            low, high, envelopes.time, envelopes.objective, first, count, horizon, references, mode, a, b,
            int(chosen.code), chosen.parameter, chosen.tolerance, out,
        )  # fmt: skip

    # Plus one: an empty run takes some time too.
    in_slices(count, work, each=1)
    return out


@compiled(nogil=True)
def _areas_of(  # type: ignore[no-untyped-def] # pragma: no cover
    low, high, time, objective, first, count, horizon, references, mode, a, b, code, parameter, tolerance, out
):
    """Integrate one of the areas for runs low:high; `mode` 0 confined, 1, 2 over the curve (log, linear), 3 volume."""
    for run in range(low, high):
        end_of_run, reference = horizon[run], references[run]
        begin, stop = first[run], first[run] + count[run]
        total, lost, left = 0.0, 0.0, 1.0
        if mode == 0:
            # One exponential per step: each step's end is the next one's start.
            left = math.exp(-(time[begin] if stop > begin else end_of_run) / a)
            total = b * (1.0 - left)
        for k in range(begin, stop):
            now = time[k]
            then = time[k + 1] if k + 1 < stop else end_of_run
            here = gap(code, parameter, objective[k], reference, tolerance)
            if mode == 0:
                rest = math.exp(-then / a)
                term = here * (left - rest)
                left = rest
            elif mode == 1:
                clipped = min(max(here, a), b)
                term = (1.0 - math.log10(clipped / a) / math.log10(b / a)) * (then - now)
            elif mode == 2:
                term = (1.0 - (min(max(here, a), b) - a) / (b - a)) * (then - now)
            else:
                term = max(0.0, a - here) * (then - now)
            total, error = two_sum(total, term)
            lost += error
        total += lost
        if mode == 0:
            out[run] = total / -math.expm1(-end_of_run / a)
        elif mode == 3:
            out[run] = total / (end_of_run * a)
        else:
            out[run] = total / end_of_run


Steps = tuple[Floats, Floats]


def curve_areas(
    envelopes: Envelopes,
    snapshot: Snapshot,
    pairs: Sequence[tuple[str, str]],
    /,
    *,
    kernel: str | Kernel = "squeezed",
    weighting: str = "panel",
    relative: bool = False,
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return the area between the mean curves of each pair of arms, divided by the horizon.

    `signed` is the mean over time of (curve of a) - (curve of b): the difference of their mean scores under the uniform
    weight, negative where a is better. `absolute` is the mean of its absolute value: as large as `signed` where one
    curve is never above the other, larger where they cross. `ahead` is the share of the time in which a is below b.

    Missing incumbents: the kernel's value before the first one (1), also for an empty run. Beaten references: the curve
    falls below zero. Unbalanced cells: both curves are over the instances that both arms ran; None if there are none.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": trace}
    ...         for arm, trace in (("a", [(2, 30.0)]), ("b", [(4, 10.0)]))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> curve_areas(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), [("a", "b")]).rows()
    [('a', 'b', 0.2, 0.4, 0.2)]
    """
    runs = envelopes.runs
    units = {arm: frozenset(part) for arm, part in _units(runs).items()}
    parsed = parse_kernel(kernel, tolerance=tolerance)
    end = 1.0 if relative else float(runs["horizon"].to_numpy().max())
    # Arms with the same instances share their curves with other pairs.
    known: dict[str, Steps] = {}

    def curve(arm: str, among: frozenset[tuple[str, str]]) -> Steps:
        if arm in known and among == units[arm]:
            return known[arm]
        part = _of(envelopes, [arm], among)
        ((_, time, value, _),) = group_curves(part, snapshot, parsed, ["arm"], weighting=weighting, relative=relative)
        return known.setdefault(arm, (time, value)) if among == units[arm] else (time, value)

    rows: list[tuple[str, str, float | None, float | None, float | None]] = []
    for a, b in pairs:
        both = units[a] & units[b]
        areas = area_between(curve(a, both), curve(b, both), end) if both else (None, None, None)
        rows.append((a, b, *areas))
    return pl.DataFrame(rows, schema=CURVE_AREAS, orient="row")


def area_between(a: Steps, b: Steps, end: float) -> tuple[float, float, float]:
    """Return the mean signed and absolute difference of two step curves over [0, end], and the share of time a is
    below.

    >>> one, other = (np.array([0.0, 5.0]), np.array([1.0, 0.0])), (np.array([0.0]), np.array([0.5]))
    >>> area_between(one, other, 10.0)
    (0.0, 0.5, 0.5)
    """
    signed, absolute, ahead = _signed_areas(*steps_apart(a, b), end)
    return float(signed) / end, float(absolute) / end, float(ahead) / end


@compiled(nogil=True)
def _signed_areas(time, difference, end):  # type: ignore[no-untyped-def] # pragma: no cover
    """Add up a difference of steps, its absolute value, and the time in which it is below zero; compensated."""
    signed, absolute, ahead = 0.0, 0.0, 0.0
    lost = np.zeros(3)
    for k in range(len(time)):
        width = (time[k + 1] if k + 1 < len(time) else end) - time[k]
        signed, error = two_sum(signed, width * difference[k])
        lost[0] += error
        absolute, error = two_sum(absolute, width * abs(difference[k]))
        lost[1] += error
        if difference[k] < -TIE:
            ahead, error = two_sum(ahead, width)
            lost[2] += error
    return signed + lost[0], absolute + lost[1], ahead + lost[2]


def _units(runs: pl.DataFrame) -> dict[str, list[tuple[str, str]]]:
    parts = runs.select("arm", "panel", "instance").unique().partition_by("arm", as_dict=True, include_key=False)
    return {str(key[0]): part.rows() for key, part in parts.items()}


def _of(envelopes: Envelopes, arms: Sequence[str], units: frozenset[tuple[str, str]]) -> Envelopes:
    wanted = pl.DataFrame(list(units), schema=["panel", "instance"], orient="row")
    rows = envelopes.runs.select("arm", "panel", "instance").with_row_index("_row")
    kept = rows.filter(pl.col("arm").is_in(arms)).join(wanted, on=["panel", "instance"], how="semi")
    return envelopes.select(kept["_row"].sort().to_list())


_is_beaten = compiled(inline="always", keep=False)(is_beaten)


class PrimalDual(NamedTuple):
    """Per run: the integral, whether it has a bound within the horizon, and whether a bound passed what it bounds."""

    values: Floats
    bounded: Bools
    crossed: Bools


def primal_dual_integral(campaign: Campaign, envelopes: Envelopes, /, *, tolerance: float = TOLERANCE) -> PrimalDual:
    """Return, per run, the mean over time of (p - d) / max(|p|, |d|) between incumbent p and best dual bound d.

    Smaller is better; in [0, 1]. No reference is used: a solver is measured against its own bound, so values of solvers
    with bounds of different strength are not comparable.

    Missing incumbents, and missing bounds: the gap is 1 until both exist, and while they differ in sign. Beaten
    references cannot occur; a bound that passes the incumbent counts as gap 0 and the run is counted in `crossed`.
    Bounds are transformed like the objectives; a captured bound that is worse than an earlier one is ignored.
    """
    envelopes = bring(envelopes)
    runs = envelopes.runs
    return _bounded(
        "primal-dual integral", campaign, envelopes, tolerance,
        runs["first"].to_numpy(), runs["count"].to_numpy(), envelopes.time, envelopes.objective,
    )  # fmt: skip


def dual_integral(
    campaign: Campaign, envelopes: Envelopes, snapshot: Snapshot, /, *, tolerance: float = TOLERANCE
) -> PrimalDual:
    """Return, per run, the mean over time of (z* - d) / max(|z*|, |d|) between reference z* and best dual bound d.

    Berthold's gap on the dual side. Smaller is better; in [0, 1]. Incumbents are not used, so an empty run has a dual
    integral like any other.

    Missing bounds: the gap is 1 until there is one, and while bound and reference differ in sign; a run without bounds
    has 1. Beaten references: a reference above the optimum keeps the gap from closing. A bound that passes the
    reference counts as gap 0 and the run is counted in `crossed`: the reference is no solution of this instance, or the
    bound is wrong. Bounds are transformed like the objectives; a captured bound that is worse than an earlier one is
    ignored.
    """
    references = reference_column(snapshot, envelopes)
    # The reference acts like an incumbent from time 0 on.
    count = np.ones(len(references), np.int64)
    return _bounded(
        "dual integral", campaign, envelopes, tolerance,
        np.arange(len(references)), count, np.zeros(len(references)), references,
    )  # fmt: skip


def _bounded(
    what: str,
    campaign: Campaign,
    envelopes: Envelopes,
    tolerance: float,
    first: Integers,
    count: Integers,
    time: Floats,
    objective: Floats,
) -> PrimalDual:
    if campaign.bound is None:
        raise TraceError(f"{what}: expected a captured `bound` column, got none")
    if envelopes.scale.hierarchical:
        raise UsageError(f"{what}: expected an objective with one component, got a hierarchical transform")
    if not campaign.runs.select("arm", "instance", "seed").equals(envelopes.runs.select("arm", "instance", "seed")):
        raise UsageError(f"{what}: expected the campaign the envelopes were built from, got other runs")
    size = envelopes.runs.height
    horizon = envelopes.runs["horizon"].to_numpy()
    found = PrimalDual(np.empty(size), np.zeros(size, np.bool_), np.zeros(size, np.bool_))
    for rows, piece in campaign.pieces(piece_size()):
        part = PrimalDual(np.empty(len(rows)), np.zeros(len(rows), np.bool_), np.zeros(len(rows), np.bool_))
        bounds = envelopes.scale.apply_column(piece.runs, piece.bound)  # type: ignore[arg-type]
        _integrate_bounds(
            piece.runs["first"].to_numpy(), piece.runs["count"].to_numpy(), piece.time, bounds, first[rows],
            count[rows], time, objective, horizon[rows], tolerance, *part,
        )  # fmt: skip
        for whole, here in zip(found, part, strict=True):
            whole[rows] = here
    return found


@compiled(nogil=True)
def _integrate_bounds(  # type: ignore[no-untyped-def] # pragma: no cover
    bound_first, bound_count, bound_time, bounds, first, count, time, objective, horizon, tolerance, values, bounded,
    crossed,
):  # fmt: skip
    """Walk through incumbents and bounds of each run side by side."""
    for run in range(len(first)):
        i, stop = first[run], first[run] + count[run]
        j, last = bound_first[run], bound_first[run] + bound_count[run]
        primal, dual, now, total, lost = np.inf, -np.inf, 0.0, 0.0, 0.0
        while now < horizon[run]:
            while i < stop and time[i] <= now:
                primal = objective[i]
                i += 1
            while j < last and (bound_time[j] <= now or bounds[j] != bounds[j]):
                if bounds[j] > dual and bound_time[j] <= now:
                    dual = bounds[j]
                    bounded[run] = True
                j += 1
            end = horizon[run]
            if i < stop:
                end = min(end, time[i])
            if j < last and bound_time[j] == bound_time[j]:
                end = min(end, bound_time[j])
            # Until both sides exist, and while they differ in sign, nothing is known: the largest gap.
            distance = 1.0
            if primal < np.inf and dual > -np.inf:
                if _is_beaten(primal, dual, tolerance):
                    crossed[run] = True
                if dual >= primal:
                    distance = 0.0
                elif (dual > 0.0) == (primal > 0.0):
                    distance = (primal - dual) / max(abs(primal), abs(dual))
            total, error = two_sum(total, distance * (end - now))
            lost += error
            now = end
        values[run] = (total + lost) / horizon[run]

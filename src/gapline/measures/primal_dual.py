"""Primal-dual and dual integrals, where dual bounds were captured: how fast a solver's bound closes in."""

from typing import NamedTuple

import numpy as np

from gapline.campaign.campaign import Campaign
from gapline.contract.reading import TOLERANCE
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring
from gapline.errors import TraceError, UsageError
from gapline.files.scratch_arrays import piece_size
from gapline.native.arrays import Bools, Floats, Integers
from gapline.native.compensated_sums import two_sum
from gapline.native.compilation import compiled
from gapline.native.kernel_formulas import is_beaten
from gapline.references.snapshot import Snapshot
from gapline.scoring.run_references import reference_column

_is_beaten = compiled(inline="always", keep=False)(is_beaten)


class PrimalDual(NamedTuple):
    """Per run: the integral, whether there is a bound in the horizon, and whether one passed what it bounds."""

    values: Floats
    bounded: Bools
    crossed: Bools


def primal_dual_integral(campaign: Campaign, envelopes: Envelopes, /, *, tolerance: float = TOLERANCE) -> PrimalDual:
    """Return, per run, the mean over time of (p - d) / max(|p|, |d|) between incumbent p and best dual bound d.

    Smaller is better; in [0, 1]. No reference is used: a solver is measured against its own bound, so values of solvers
    with bounds of different strength are not commensurable.

    Missing incumbents, and missing bounds: the gap is 1 until both exist, and while they differ in sign. Beaten
    references cannot occur; a bound that passes the incumbent counts as gap 0 and the run is counted in `crossed`.
    Bounds are transformed as the objectives are; captured bounds that fall back are held at their best.
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

    Berthold's gap of the dual side. Smaller is better; in [0, 1]. Incumbents do not enter, so an empty run has a dual
    integral like any other.

    Missing bounds: the gap is 1 until there is one, and while bound and reference differ in sign; a run without any has
    1. Beaten references: a reference above the optimum keeps the gap from closing. A bound that passes the reference
    counts as gap 0 and the run is counted in `crossed`: the reference is no solution of this instance, or the bound is
    wrong. Bounds are transformed as the objectives are; captured bounds that fall back are held at their best.
    """
    references = reference_column(snapshot, envelopes)
    # A reference is like an incumbent that was there from the start.
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
        _integrate(
            piece.runs["first"].to_numpy(), piece.runs["count"].to_numpy(), piece.time, bounds, first[rows],
            count[rows], time, objective, horizon[rows], tolerance, *part,
        )  # fmt: skip
        for whole, here in zip(found, part, strict=True):
            whole[rows] = here
    return found


@compiled(nogil=True)
def _integrate(  # type: ignore[no-untyped-def] # pragma: no cover
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
            gap = 1.0
            if primal < np.inf and dual > -np.inf:
                if _is_beaten(primal, dual, tolerance):
                    crossed[run] = True
                if dual >= primal:
                    gap = 0.0
                elif (dual > 0.0) == (primal > 0.0):
                    gap = (primal - dual) / max(abs(primal), abs(dual))
            total, error = two_sum(total, gap * (end - now))
            lost += error
            now = end
        values[run] = (total + lost) / horizon[run]

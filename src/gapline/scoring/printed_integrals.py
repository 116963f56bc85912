"""Checks of imported runs: integrals that a source printed, and the error that coarse time stamps allow."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from gapline.contract.names import parse_weight
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, per_run
from gapline.errors import UsageError
from gapline.native.arrays import Floats
from gapline.references.snapshot import Snapshot
from gapline.scoring.integral import integrate_envelopes, step_gaps
from gapline.scoring.kernels import Kernel, KernelCode, parse_kernel
from gapline.scoring.run_references import reference_column


@dataclass(frozen=True, slots=True)
class StatedCheck:
    """The number of recomputed printed integrals, and the run with the largest difference."""

    checked: int
    run: RunKey
    kernel: str
    stated: float
    recomputed: float

    @property
    def largest(self) -> float:
        """The largest absolute difference, on the scale of the gap."""
        return abs(self.stated - self.recomputed)


def check_stated_integrals(
    envelopes: Envelopes, snapshot: Snapshot, stated: Mapping[RunKey, tuple[str, float]]
) -> StatedCheck | None:
    """Recompute every printed integral and return the largest difference, None if there is nothing to compare.

    `stated` gives (kernel, value) per run, the value on gapline's scale (a DIMACS print divided by 100).
    """
    worst: StatedCheck | None = None
    checked = 0
    for kernel in sorted({name for name, _ in stated.values()}):
        known = [
            row
            for row, key in enumerate(envelopes.runs.select(RUN_KEY).iter_rows())
            if stated.get(RunKey(*key), ("", 0.0))[0] == kernel and key[1] in snapshot.values
        ]
        if not known:
            continue
        part = envelopes.select(known)
        references = reference_column(snapshot, part)
        scores = integrate_envelopes(part, references, kernels=[parse_kernel(kernel)], weight=parse_weight("uniform"))
        printed = np.array([stated[RunKey(*key)][1] for key in part.runs.select(RUN_KEY).iter_rows()])
        row = int(np.argmax(np.abs(scores[:, 0] - printed)))
        checked += len(known)
        key = RunKey(*part.runs.select(pl.col(RUN_KEY)).row(row))
        found = StatedCheck(0, key, kernel, float(printed[row]), float(scores[row, 0]))
        worst = found if worst is None or found.largest > worst.largest else worst
    return None if worst is None else replace(worst, checked=checked)


def resolution_bound(envelopes: Envelopes, references: Floats, *, kernel: str | Kernel = "squeezed") -> Floats:
    """Return, per run, how much its uniform-weight score can change if each stamp moves by up to its resolution.

    The stamps of a run may show each improvement up to r seconds early or late. Moving a step of height
    |gap_i - gap_{i-1}| by at most r changes the area by at most the height times r, so that

        |ΔΛ| ≤ r/Γ · Σ_i |gap(z_i) - gap(z_{i-1})|

    with the gap before the first incumbent as gap(z_0). It also holds for improvements that share a stamp, of which the
    envelope keeps the best, since the gap only falls. Unit: gap. Runs without a `resolution` get 0, and so do runs
    without a step. The column `resolution` of the runs is in seconds; null means exact.

    >>> from gapline.campaign.campaign import Campaign
    >>> from gapline.envelope.build import build_envelopes
    >>> run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "resolution": 1.0}
    >>> envelopes = build_envelopes(Campaign.from_runs([run | {"trace": [(2, 30.0), (4, 10.0)]}]))
    >>> resolution_bound(envelopes, np.array([10.0])).tolist()  # from 1 over 0.5 to 0: one second of ten
    [0.1]
    """
    chosen = parse_kernel(kernel)
    if chosen.before is None:
        raise UsageError(f"resolution_bound: expected a bounded kernel, got {chosen.name}")
    if "resolution" not in envelopes.runs.columns:
        return np.zeros(envelopes.runs.height)
    if chosen.code is KernelCode.CUSTOM:
        envelopes = bring(envelopes)
    found: Floats = per_run(_bounds, envelopes, references, kernel=chosen)
    return found


def _bounds(envelopes: Envelopes, references: Floats, *, kernel: Kernel) -> Floats:
    runs = envelopes.runs
    first, count = runs["first"].to_numpy(), runs["count"].to_numpy()
    gaps, starts = step_gaps(envelopes.objective, first, count, references, kernel)
    changes = np.abs(np.diff(gaps, prepend=0.0))
    filled = count > 0
    changes[starts[filled]] = np.abs(gaps[starts[filled]] - float(kernel.before or 0.0))
    moved = np.zeros(len(count))
    # Summed per run, so that the result does not depend on other runs; `reduceat` does not support empty ones.
    if filled.any():
        moved[filled] = np.add.reduceat(changes, starts[filled])
    resolution = runs["resolution"].fill_null(0.0).to_numpy()
    return np.asarray(resolution / runs["horizon"].to_numpy() * moved)

"""How far coarse stamps can move a score: the bound that a log of whole seconds carries with it."""

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, per_run
from gapline.errors import UsageError
from gapline.scoring.integral import step_gaps
from gapline.scoring.kernels import Kernel, KernelCode, parse_kernel

Floats = NDArray[np.float64]


def resolution_bound(envelopes: Envelopes, references: Floats, *, kernel: str | Kernel = "squeezed") -> Floats:
    """Return, per run, how much its uniform-weight score can change when each stamp moves by up to its resolution.

    A run whose stamps may be off by r seconds shows each improvement up to r early or late. Moving a step of height
    |gap_i - gap_{i-1}| by at most r changes the area by at most the height times r, so that

        |ΔΛ| ≤ r/Γ · Σ_i |gap(z_i) - gap(z_{i-1})|

    with the gap before the first incumbent as gap(z_0). It holds too for improvements that share a stamp, of which the
    envelope keeps the best, since the gap only falls. Unit: gap. Runs without a `resolution` get 0, and so do runs
    without a step. The column `resolution` of the runs is in seconds; null means exact.

    >>> from gapline.model.campaign import Campaign
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
    # Of each run by itself, so that it does not show which other runs are there; `reduceat` knows no empty ones.
    if filled.any():
        moved[filled] = np.add.reduceat(changes, starts[filled])
    resolution = runs["resolution"].fill_null(0.0).to_numpy()
    return np.asarray(resolution / runs["horizon"].to_numpy() * moved)

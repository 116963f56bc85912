"""From a score to the raw gap that it stands for, and back: the inverse of every kernel, and the table of both scales.

A run with a constant gap from time 0 to the horizon has that gap as its score, under every weight. So a score
corresponds to the raw gap g = (z - z*) / z* of such a run:

| kernel | score s of a raw gap g | raw gap of a score s | scores |
|---|---|---|---|
| `squeezed` | g / (g + 2) | 2s / (1 - s) | above -1, below 1 |
| `maxform` | g / (1 + g) above the reference, g below it | s / (1 - s), and s below 0 | above -1, below 1 |
| `berthold` | g / (1 + g) above the reference, -g below it | s / (1 - s), and -s as well: it folds | from 0, below 1 |
| `dimacs:THETA` | g below THETA - 1, else THETA - 1 | s; at THETA - 1 every larger raw gap too | above -1 |
| `raw` | g | s | above -1 |

A score of 1 under the bounded kernels means a run without an incumbent: every raw gap has a smaller score.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import polars as pl

from gapline.contract.names import parse_kernel_name
from gapline.contract.tables import SCALE
from gapline.errors import UsageError
from gapline.native.kernel_formulas import is_beaten
from gapline.scoring.kernels import PAPER_KERNELS, Kernel, KernelCode, parse_kernel

SCALE_KERNELS = (*PAPER_KERNELS, "raw")
# The paper's table of landmarks, on the raw scale.
LANDMARKS = (-0.5, -0.1, -0.05, 0.0, 0.05, 0.1, 1.0)


@dataclass(frozen=True, slots=True)
class RawGaps:
    """The raw gaps that give a constant score under a kernel.

    `above` is the one at or above the reference, or the only one; `below` the second one of a kernel that folds; both
    are None if there is none. `saturated` means that every raw gap from `above` on gives the score. `note` says why
    there is none, or more than one.
    """

    above: float | None = None
    below: float | None = None
    saturated: bool = False
    note: str | None = None


def kernel_inverse(score: float, /, kernel: str | Kernel = "squeezed") -> RawGaps:
    """Return the raw gaps of a run whose score is constant over time.

    >>> round(kernel_inverse(0.05).above, 4)
    0.1053
    >>> kernel_inverse(0.2, "berthold")
    RawGaps(above=0.25, below=-0.2, saturated=False, note='an improvement on the reference reads as a loss')
    """
    chosen = _known(kernel)
    if not math.isfinite(score):
        raise UsageError(f"score: expected a finite number, got {score}")
    if (why := _why_none(score, chosen)) is not None:
        return RawGaps(note=why)
    if _is_saturated(score, chosen):
        note = "saturated: every raw gap from there on has this score, and so has an empty run"
        return RawGaps(chosen.parameter - 1.0, saturated=True, note=note)
    if chosen.code is KernelCode.SQUEEZED:
        return RawGaps(2 * score / (1 - score))
    if chosen.code is KernelCode.BERTHOLD and score > 0:
        return RawGaps(score / (1 - score), -score, note="an improvement on the reference reads as a loss")
    # Below the reference, the score of the remaining kernels is the raw gap; above it, that of all but `maxform`.
    return RawGaps(score / (1 - score) if chosen.code is KernelCode.MAXFORM and score > 0 else score)


def score_of_raw_gap(raw: float, /, kernel: str | Kernel = "squeezed") -> float:
    """Return the score of a run that has this raw gap from time 0 to the horizon.

    >>> round(score_of_raw_gap(0.05), 4), round(score_of_raw_gap(-0.5), 4), score_of_raw_gap(3.0, "dimacs:2")
    (0.0244, -0.3333, 1.0)
    """
    if not (math.isfinite(raw) and raw > -1):
        raise UsageError(
            f"raw gap: expected a number above -1, such as 0.05, got {raw}", hint="-1 would be an objective of 0"
        )
    return float(_known(kernel)(1.0 + raw, 1.0))


def scale_table(
    scores: Sequence[float] = (), raw_gaps: Sequence[float] = (), *, kernels: Sequence[str | Kernel] = SCALE_KERNELS
) -> pl.DataFrame:
    """Convert scores into raw gaps, and raw gaps into scores, under each kernel.

    Parameters
    ----------
    scores, raw_gaps
        The values to convert; by default the landmarks of the paper, as raw gaps.

    Returns
    -------
    Columns given (`score` or `raw gap`), kernel, score, raw_gap, raw_gap_below, saturated, note; null if no raw gap has
    the score.

    >>> scale_table([0.05], kernels=["squeezed"]).select("score", pl.col("raw_gap").round(4)).rows()
    [(0.05, 0.1053)]
    """
    rows: list[tuple[object, ...]] = []
    for score in scores:
        for kernel in map(_known, kernels):
            found = kernel_inverse(score, kernel)
            rows.append(("score", kernel.name, score, found.above, found.below, found.saturated, found.note))
    if not scores and not raw_gaps:
        raw_gaps = LANDMARKS
    for raw in raw_gaps:
        for kernel in map(_known, kernels):
            score = score_of_raw_gap(raw, kernel)
            found = kernel_inverse(score, kernel)
            note = found.note if found.saturated else None
            rows.append(("raw gap", kernel.name, score, raw, None, found.saturated, note))
    return pl.DataFrame(rows, schema=SCALE, orient="row")


def _known(kernel: str | Kernel) -> Kernel:
    code = kernel.code if isinstance(kernel, Kernel) else parse_kernel_name(kernel)[0]
    if code is KernelCode.CUSTOM:
        name = kernel.name if isinstance(kernel, Kernel) else kernel
        raise UsageError(
            f"kernel {name}: expected one with a known inverse, got a function",
            hint=f"there are: {', '.join(SCALE_KERNELS)}",
        )
    return parse_kernel(kernel)


def _why_none(score: float, kernel: Kernel) -> str | None:
    """Return why no raw gap gives a score, None if one does."""
    bounded = kernel.code not in (KernelCode.DIMACS, KernelCode.RAW)
    if bounded and score == 1:
        return "a score of 1 is an empty run: no raw gap is so large"
    if kernel.code is KernelCode.BERTHOLD and not 0 <= score < 1:
        return "no raw gap: its scores lie between 0 and 1"
    if bounded and not -1 < score < 1:
        return "no raw gap: its scores lie between -1 and 1"
    if score <= -1:
        return "no raw gap: objectives are positive, so its scores lie above -1"
    if kernel.code is KernelCode.DIMACS and not (
        _is_saturated(score, kernel) or is_beaten(1.0 + score, kernel.parameter, kernel.tolerance)
    ):
        return f"no raw gap: its scores are at most {kernel.parameter - 1.0:.6g}"
    return None


def _is_saturated(score: float, kernel: Kernel) -> bool:
    """Return whether a score is THETA - 1 of `dimacs:THETA`, which every raw gap from there on has."""
    # 1.1 - 1 is not the double 0.1: differences within the tolerance are ignored, as they are for candidates.
    near = abs(score - (kernel.parameter - 1.0)) <= kernel.tolerance * kernel.parameter
    return kernel.code is KernelCode.DIMACS and near

"""The formulas of `scoring/gap.py` in NumPy, for so few gaps that compiled code is not worth loading."""

import numpy as np
from numpy.typing import NDArray

from gapline.model.names import KernelCode
from gapline.reference.beaten import is_beaten

Floats = NDArray[np.float64]


def gap_arrays(code: int, parameter: float, z: Floats, reference: Floats, tolerance: float) -> Floats:
    """Return the gaps of arrays by the formulas of `gap`, to the last bit, without compiled code."""
    if code == KernelCode.SQUEEZED:
        scale = np.where(z + reference == np.inf, 0.5, 1.0)
        return (scale * z - scale * reference) / (scale * z + scale * reference)
    if code == KernelCode.MAXFORM:
        return (z - reference) / np.maximum(z, reference)
    if code == KernelCode.BERTHOLD:
        quotient = np.abs(z - reference) / np.maximum(np.abs(z), np.abs(reference))
        return np.where(z == reference, 0.0, np.where(quotient < 1.0, quotient, 1.0))
    raw = (z - reference) / reference
    if code == KernelCode.DIMACS:
        scale = np.where(reference < 1e-290, 2.0**200, np.where(reference > 1e290, 2.0**-200, 1.0))
        accepted = is_beaten(scale * z, parameter * (scale * reference), tolerance)
        return np.where(accepted, raw, parameter - 1.0)
    return raw


def fill_arrays(
    code: int, parameter: float, z: Floats, reference: Floats, tolerance: float, before: float, out: Floats
) -> None:
    """Fill in the gaps; `before` where there is no incumbent (z = inf)."""
    out[:] = np.where(z == np.inf, before, gap_arrays(code, parameter, z, reference, tolerance))

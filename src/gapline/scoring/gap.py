"""The one formula of each kernel, compiled: integral, curves, neighbouring areas and array kernels all call it."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.model.compiled import compiled
from gapline.model.names import KernelCode
from gapline.reference.beaten import is_beaten
from gapline.scoring.gap_arrays import fill_arrays

# Plain numbers: a compiled function takes no enumeration.
SQUEEZED, MAXFORM, BERTHOLD, DIMACS, RAW = map(
    int, (KernelCode.SQUEEZED, KernelCode.MAXFORM, KernelCode.BERTHOLD, KernelCode.DIMACS, KernelCode.RAW)
)
COMPILED = frozenset({SQUEEZED, MAXFORM, BERTHOLD, DIMACS, RAW})

Floats = NDArray[np.float64]
_is_beaten = compiled(inline="always", keep=False)(is_beaten)


@compiled(nogil=True, error_model="numpy", keep=False)
def gap(code, parameter, z, reference, tolerance):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the gap of one finite objective against its reference.

    `parameter` is THETA of `dimacs:THETA`, which accepts a candidate below THETA·z* by more than the tolerance alone.
    A `Kernel` with another code than these cannot be made, so that the last branch is `raw` and nothing else.
    """
    if code == SQUEEZED:
        # Halves are exact where the sum overflows; elsewhere a factor of one changes nothing.
        scale = 0.5 if z + reference == np.inf else 1.0
        return (scale * z - scale * reference) / (scale * z + scale * reference)
    if code == MAXFORM:
        return (z - reference) / max(z, reference)
    if code == BERTHOLD:
        # The one that is defined for any sign: 1 at a change of sign, where the quotient is more, and 0 at two zeros.
        quotient = abs(z - reference) / max(abs(z), abs(reference))
        return 0.0 if z == reference else quotient if quotient < 1.0 else 1.0
    raw = (z - reference) / reference
    if code == DIMACS:
        # THETA·z* overflows at one end of the range and has hardly a digit left at the other: compare the two nearer 1.
        scale = 2.0**200 if reference < 1e-290 else 2.0**-200 if reference > 1e290 else 1.0
        return raw if _is_beaten(scale * z, parameter * (scale * reference), tolerance) else parameter - 1.0
    return raw


def fill_gaps(
    code: int, parameter: float, z: ArrayLike, reference: ArrayLike, tolerance: float, before: float
) -> Floats:
    """Return the gaps of arrays; `before` where there is no incumbent (z = inf).

    >>> fill_gaps(SQUEEZED, 0.0, [30.0, np.inf], 10.0, 0.0, 1.0).tolist()
    [0.5, 1.0]
    """
    objectives, references = np.broadcast_arrays(np.asarray(z, np.float64), np.asarray(reference, np.float64))
    flat = [array.ravel() for array in (objectives, references)]
    for array in flat:
        # Read-only whatever came in, so that one compiled version serves all.
        array.flags.writeable = False
    out = np.empty(objectives.size)
    _fill(code, parameter, flat[0], flat[1], tolerance, before, out)
    return out.reshape(objectives.shape)


@compiled(nogil=True, small=fill_arrays)
def _fill(code, parameter, z, reference, tolerance, before, out):  # type: ignore[no-untyped-def] # pragma: no cover
    for k in range(len(z)):
        out[k] = before if z[k] == np.inf else gap(code, parameter, z[k], reference[k], tolerance)

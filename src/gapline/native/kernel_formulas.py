"""The formula of each kernel and the tolerance rule `is_beaten`, compiled and in NumPy."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.contract.names import KernelCode
from gapline.errors import UsageError
from gapline.native.compilation import compiled

Floats = NDArray[np.float64]


def is_beaten(value: Any, reference: Any, tolerance: float) -> Any:
    """Say whether a value is below a reference by more than the relative tolerance, on the minimised scale.

    Takes numbers or arrays. The compiled kernels use the same function for the threshold of `dimacs:THETA`.

    >>> is_beaten(99.0, 100.0, 1e-9), is_beaten(100.0 - 1e-8, 100.0, 1e-9), is_beaten(110.0, 1.1 * 100.0, 1e-9)
    (True, False, False)
    """
    return value < reference - tolerance * abs(reference)


def run_beats(row: Mapping[str, Any], reference: float, tolerance: float) -> bool:
    """Say whether the best objective of a run beats a reference, even at the worst value that its print allows.

    >>> run_beats({"best": 99.0}, 100.0, 1e-9), run_beats({"best": 99.0, "print_slack": 5.0}, 100.0, 1e-9)
    (True, False)
    """
    return bool(is_beaten(row["best"] + (row.get("print_slack") or 0.0), reference, tolerance))


def check_tolerance(tolerance: float) -> None:
    """Refuse a tolerance outside [0, 1)."""
    if not 0 <= tolerance < 1:
        raise UsageError(f"tolerance: expected a relative difference from 0 up to 1, got {tolerance}")


def gap_arrays(code: int, parameter: float, z: Floats, reference: Floats, tolerance: float) -> Floats:
    """Return the gaps of arrays in NumPy, bit-identical to `gap`."""
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
    """Write the gaps to `out`; `before` without an incumbent (z = inf)."""
    out[:] = np.where(z == np.inf, before, gap_arrays(code, parameter, z, reference, tolerance))


# Plain integers, because compiled functions cannot use enumerations.
SQUEEZED, MAXFORM, BERTHOLD, DIMACS, RAW = map(
    int, (KernelCode.SQUEEZED, KernelCode.MAXFORM, KernelCode.BERTHOLD, KernelCode.DIMACS, KernelCode.RAW)
)
COMPILED = frozenset({SQUEEZED, MAXFORM, BERTHOLD, DIMACS, RAW})

_is_beaten = compiled(inline="always", keep=False)(is_beaten)


@compiled(nogil=True, error_model="numpy", keep=False)
def gap(code, parameter, z, reference, tolerance):  # type: ignore[no-untyped-def] # pragma: no cover
    """Return the gap of one finite objective against its reference.

    `parameter` is THETA of `dimacs:THETA`, which accepts a candidate below THETA·z* by more than the tolerance alone.
    A `Kernel` cannot have any other code, so the last branch is always `raw`.
    """
    if code == SQUEEZED:
        # If the sum overflows, halving is exact; otherwise the factor of one changes nothing.
        scale = 0.5 if z + reference == np.inf else 1.0
        return (scale * z - scale * reference) / (scale * z + scale * reference)
    if code == MAXFORM:
        return (z - reference) / max(z, reference)
    if code == BERTHOLD:
        # The only kernel defined for any sign: 1 for opposite signs, where the quotient exceeds 1, and 0 for two zeros.
        quotient = abs(z - reference) / max(abs(z), abs(reference))
        return 0.0 if z == reference else quotient if quotient < 1.0 else 1.0
    raw = (z - reference) / reference
    if code == DIMACS:
        # THETA·z* overflows for huge references and loses its digits for tiny ones: scale both sides before comparing.
        scale = 2.0**200 if reference < 1e-290 else 2.0**-200 if reference > 1e290 else 1.0
        return raw if _is_beaten(scale * z, parameter * (scale * reference), tolerance) else parameter - 1.0
    return raw


def fill_gaps(
    code: int, parameter: float, z: ArrayLike, reference: ArrayLike, tolerance: float, before: float
) -> Floats:
    """Return the gaps of arrays; `before` without an incumbent (z = inf).

    >>> fill_gaps(SQUEEZED, 0.0, [30.0, np.inf], 10.0, 0.0, 1.0).tolist()
    [0.5, 1.0]
    """
    objectives, references = np.broadcast_arrays(np.asarray(z, np.float64), np.asarray(reference, np.float64))
    flat = [array.ravel() for array in (objectives, references)]
    for array in flat:
        # Always read-only, so that one compiled version is enough.
        array.flags.writeable = False
    out = np.empty(objectives.size)
    _fill(code, parameter, flat[0], flat[1], tolerance, before, out)
    return out.reshape(objectives.shape)


@compiled(nogil=True, small=fill_arrays)
def _fill(code, parameter, z, reference, tolerance, before, out):  # type: ignore[no-untyped-def] # pragma: no cover
    for k in range(len(z)):
        out[k] = before if z[k] == np.inf else gap(code, parameter, z[k], reference[k], tolerance)

"""Gap kernels: what the gap is at one moment, and the value before the first incumbent.

| name | gap of z against z* | before the first incumbent |
|---|---|---|
| `squeezed` | (z - z*) / (z + z*) | 1 |
| `maxform` | (z - z*) / max(z, z*) | 1 |
| `berthold` | abs(z - z*) / max(z, z*) | 1 |
| `dimacs:THETA` | z/z* - 1 where z < THETA·z*, else THETA - 1 | THETA - 1 |
| `raw` | z/z* - 1 | does not exist |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.errors import UsageError, closest, listing

Floats = NDArray[np.float64]


class KernelCode(IntEnum):
    """How the compiled pass knows a kernel."""

    SQUEEZED = 0
    MAXFORM = 1
    BERTHOLD = 2
    DIMACS = 3
    RAW = 4
    CUSTOM = 5


@dataclass(frozen=True, slots=True)
class Kernel:
    """A named gap function.

    Attributes
    ----------
    name
        As typed, and printed with every score.
    before
        The gap before the first incumbent; None where no finite value exists (`raw`).
    parameter
        THETA of `dimacs:THETA`.
    function
        For a kernel of the user's own: gap of arrays z and z*.
    """

    name: str
    code: KernelCode
    before: float | None
    parameter: float = 0.0
    function: Callable[[Floats, Floats], Floats] | None = None

    def __call__(self, z: ArrayLike, reference: ArrayLike, /) -> Floats:
        """Return the gap of objectives against references; z = inf means that there is no incumbent."""
        z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
        functions = {
            KernelCode.SQUEEZED: squeezed_gap,
            KernelCode.MAXFORM: maxform_gap,
            KernelCode.BERTHOLD: berthold_gap,
            KernelCode.RAW: raw_gap,
        }
        if self.code is KernelCode.DIMACS:
            return dimacs_gap(z, reference, theta=self.parameter)
        if self.code is KernelCode.CUSTOM:
            assert self.function is not None
            gap = np.asarray(self.function(z, reference), np.float64)
            if gap.shape != np.broadcast_shapes(z.shape, reference.shape):
                raise UsageError(f"kernel {self.name}: expected one gap per objective, got shape {gap.shape}")
            return gap
        return functions[self.code](z, reference)


def squeezed_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the squeezed gap (z - z*) / (z + z*), the paper's equation 2.

    Lies in (-1, 1], smaller is better, 0 at the reference, negative below it, 1 without an incumbent (z = inf). Never
    overflows and is exactly 0 at equality.

    >>> squeezed_gap([20.0, 10.0, 5.0, float("inf")], 10.0).round(4).tolist()
    [0.3333, 0.0, -0.3333, 1.0]
    """
    z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
    with np.errstate(over="ignore", invalid="ignore"):
        total = z + reference
        if not np.isinf(total).any():
            return np.asarray((z - reference) / total)
        gap = (z - reference) / total
        # Halves are exact up here, and their sum is finite.
        large = (0.5 * z - 0.5 * reference) / (0.5 * z + 0.5 * reference)
    return np.where(np.isinf(z), 1.0, np.where(np.isinf(total), large, gap))


def maxform_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the signed max-form (z - z*) / max(z, z*), the paper's equation 5.

    Lies in (-1, 1], smaller is better; equals Berthold's gap above the reference and the raw gap below it.

    >>> maxform_gap([20.0, 10.0, 5.0, float("inf")], 10.0).tolist()
    [0.5, 0.0, -0.5, 1.0]
    """
    z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
    with np.errstate(invalid="ignore"):
        gap: Floats = np.where(np.isinf(z), 1.0, (z - reference) / np.maximum(z, reference))
    return gap


def berthold_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return Berthold's absolute gap abs(z - z*) / max(z, z*).

    Its envelope is z >= z*: below the reference it reads an improvement as a loss, so it is shown there and kept out of
    rankings.

    >>> berthold_gap([20.0, 5.0], 10.0).tolist()
    [0.5, 0.5]
    """
    return np.abs(maxform_gap(z, reference))


def dimacs_gap(z: ArrayLike, reference: ArrayLike, /, *, theta: float) -> Floats:
    """Return z/z* - 1 for a candidate strictly below theta·z*, else theta - 1.

    >>> dimacs_gap([10.5, 11.0, 40.0, float("inf")], 10.0, theta=1.1).round(4).tolist()
    [0.05, 0.1, 0.1, 0.1]
    """
    z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
    with np.errstate(over="ignore"):
        # Below the normal range θ·z* has hardly a digit left, so the two are compared on a larger scale there.
        scale = np.where(reference < 1e-290, 2.0**200, 1.0)
        return np.where(z * scale < theta * (reference * scale), raw_gap(z, reference), theta - 1.0)


def raw_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the raw gap (z - z*) / z*; infinite without an incumbent, and where it overflows.

    >>> raw_gap([10.5, 5.0], 10.0).tolist()
    [0.05, -0.5]
    """
    z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
    with np.errstate(over="ignore"):
        gap: Floats = (z - reference) / reference
    return gap


def squeezed_from_raw(gap: ArrayLike, /) -> Floats:
    """Convert a raw gap g to the squeezed scale, g / (g + 2).

    >>> squeezed_from_raw([0.05, 1.0, -0.5]).round(4).tolist()
    [0.0244, 0.3333, -0.3333]
    """
    g = np.asarray(gap, np.float64)
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(g), 1.0, g / (g + 2.0))


def raw_from_squeezed(gap: ArrayLike, /) -> Floats:
    """Convert a squeezed gap to the raw scale, 2ϱ / (1 - ϱ); 1 (no incumbent) becomes infinite.

    >>> raw_from_squeezed([1 / 3]).round(12).tolist()
    [1.0]
    """
    rho = np.asarray(gap, np.float64)
    with np.errstate(divide="ignore"):
        return 2.0 * rho / (1.0 - rho)


def maxform_from_squeezed(gap: ArrayLike, /) -> Floats:
    """Convert a squeezed gap to the max-form: 2ϱ / (1 + ϱ) above the reference, 2ϱ / (1 - ϱ) below (appendix A).

    >>> maxform_from_squeezed([1 / 3, -1 / 3]).round(12).tolist()
    [0.5, -0.5]
    """
    rho = np.asarray(gap, np.float64)
    return 2.0 * rho / (1.0 + np.abs(rho))


def squeezed_from_maxform(gap: ArrayLike, /) -> Floats:
    """Convert a max-form gap to the squeezed scale: ϱ_B / (2 - ϱ_B) above the reference, ϱ_B / (2 + ϱ_B) below.

    >>> squeezed_from_maxform([0.5, -0.5]).round(4).tolist()
    [0.3333, -0.3333]
    """
    rho = np.asarray(gap, np.float64)
    return rho / (2.0 - np.abs(rho))


def objective_at(gap: ArrayLike, reference: ArrayLike, /, *, kernel: str = "squeezed") -> Floats:
    """Invert a kernel: the objective that has this gap against this reference.

    >>> objective_at(1 / 3, 10.0).round(9).tolist()
    20.0
    """
    g, reference = np.asarray(gap, np.float64), np.asarray(reference, np.float64)
    code = parse_kernel(kernel).code
    with np.errstate(divide="ignore"):
        if code is KernelCode.SQUEEZED:
            return reference * (1.0 + g) / (1.0 - g)
        if code is KernelCode.MAXFORM:
            return np.where(g >= 0, reference / (1.0 - g), reference * (1.0 + g))
    if code is KernelCode.RAW:
        return reference * (1.0 + g)
    raise UsageError(f"kernel {kernel}: expected one with an inverse (squeezed, maxform, raw)")


_BUILT_IN = {
    "squeezed": Kernel("squeezed", KernelCode.SQUEEZED, 1.0),
    "maxform": Kernel("maxform", KernelCode.MAXFORM, 1.0),
    "berthold": Kernel("berthold", KernelCode.BERTHOLD, 1.0),
    "raw": Kernel("raw", KernelCode.RAW, None),
}
_registered: dict[str, Kernel] = {}

PAPER_KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2")


def register_kernel(name: str, function: Callable[[Floats, Floats], Floats], /, *, before: float) -> Kernel:
    """Register a kernel of your own under a name.

    Parameters
    ----------
    name
        A name that is not taken.
    function
        Takes arrays of objectives and references (both positive and finite) and returns the gaps; smaller is better.
    before
        The finite gap before the first incumbent, which is also the score of an empty run.

    >>> log_ratio = register_kernel("log-ratio", lambda z, ref: np.log(z / ref), before=5.0)
    >>> log_ratio(10.0, 10.0).tolist()
    0.0
    """
    if not name or name in _BUILT_IN or name.startswith("dimacs"):
        raise UsageError(f"kernel {name!r}: expected a name that is not taken, got one of {listing(_BUILT_IN)}, dimacs")
    if not math.isfinite(before):
        raise UsageError(f"kernel {name}: expected a finite value before the first incumbent, got {before}")
    _registered[name] = Kernel(name, KernelCode.CUSTOM, float(before), function=function)
    return _registered[name]


def parse_kernel(name: str | Kernel, /) -> Kernel:
    """Find a kernel by its name.

    >>> parse_kernel("dimacs:1.1").before.__round__(12)
    0.1
    """
    if isinstance(name, Kernel):
        return name
    if name in _BUILT_IN:
        return _BUILT_IN[name]
    if name in _registered:
        return _registered[name]
    head, _, argument = name.partition(":")
    if head == "dimacs":
        try:
            theta = float(argument)
        except ValueError:
            theta = math.nan
        if not (math.isfinite(theta) and theta > 1):
            raise UsageError(f"kernel {name}: expected a threshold above 1, as in dimacs:1.1, got {argument!r}")
        return Kernel(name, KernelCode.DIMACS, theta - 1.0, parameter=theta)
    names = [*_BUILT_IN, "dimacs:1.1", *_registered]
    near = closest(name, names)
    raise UsageError(
        f"kernel: expected one of {listing(names)}, got {name!r}", hint=f"did you mean {near!r}?" if near else None
    )

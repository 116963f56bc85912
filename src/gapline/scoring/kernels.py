"""Gap kernels: what the gap is at one moment, and the value before the first incumbent.

| name | gap of z against z* | before the first incumbent |
|---|---|---|
| `squeezed` | (z - z*) / (z + z*) | 1 |
| `maxform` | (z - z*) / max(z, z*) | 1 |
| `berthold` | abs(z - z*) / max(z, z*) | 1 |
| `dimacs:THETA` | z/z* - 1 where z < THETA·z* by more than the tolerance, else THETA - 1 | THETA - 1 |
| `raw` | z/z* - 1 | does not exist |
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from gapline.errors import UsageError, listing
from gapline.model.names import KERNELS, REGISTERED, KernelCode, parse_kernel_name
from gapline.model.reading import TOLERANCE
from gapline.scoring.gap import COMPILED, fill_gaps

__all__ = [
    "PAPER_KERNELS",
    "Kernel",
    "KernelCode",
    "berthold_gap",
    "dimacs_gap",
    "maxform_from_squeezed",
    "maxform_gap",
    "objective_at",
    "parse_kernel",
    "raw_from_squeezed",
    "raw_gap",
    "register_kernel",
    "squeezed_from_maxform",
    "squeezed_from_raw",
    "squeezed_gap",
]

Floats = NDArray[np.float64]


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
    tolerance
        By how much, relatively, a candidate has to be below THETA·z* to be accepted: 110 against 100 is not, whatever
        the last bit of 1.1 · 100 says.
    function
        For a kernel of the user's own: gap of arrays z and z*.
    """

    name: str
    code: KernelCode
    before: float | None
    parameter: float = 0.0
    tolerance: float = TOLERANCE
    function: Callable[[Floats, Floats], Floats] | None = None

    def __post_init__(self) -> None:
        # Compiled loops cannot say what is wrong with a code, so none that they do not know gets so far.
        if self.code not in COMPILED and (self.code != KernelCode.CUSTOM or self.function is None):
            raise UsageError(f"kernel {self.name}: expected a known code or a function, got code {int(self.code)}")

    def __call__(self, z: ArrayLike, reference: ArrayLike, /) -> Floats:
        """Return the gap of objectives against references; z = inf means that there is no incumbent."""
        if self.function is None:
            before = np.inf if self.before is None else self.before
            return fill_gaps(int(self.code), self.parameter, z, reference, self.tolerance, before)
        z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
        gaps = np.asarray(self.function(z, reference), np.float64)
        if gaps.shape != np.broadcast_shapes(z.shape, reference.shape):
            raise UsageError(f"kernel {self.name}: expected one gap per objective, got shape {gaps.shape}")
        if not np.isfinite(gaps).all():
            place = np.unravel_index(np.argmin(np.isfinite(gaps)), gaps.shape)
            one, star = (np.broadcast_to(array, gaps.shape)[place] for array in (z, reference))
            raise UsageError(
                f"kernel {self.name}: expected a finite gap, got {gaps[place]} for objective {one} against {star}",
                hint="a gap that does not exist has no place in a mean: return a large finite one",
            )
        return gaps


def squeezed_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the squeezed gap (z - z*) / (z + z*), the paper's equation 2.

    Lies in (-1, 1], smaller is better, 0 at the reference, negative below it, 1 without an incumbent (z = inf). Never
    overflows and is exactly 0 at equality.

    >>> squeezed_gap([20.0, 10.0, 5.0, float("inf")], 10.0).round(4).tolist()
    [0.3333, 0.0, -0.3333, 1.0]
    """
    return _BUILT_IN["squeezed"](z, reference)


def maxform_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the signed max-form (z - z*) / max(z, z*), the paper's equation 5.

    Lies in (-1, 1], smaller is better; equals Berthold's gap above the reference and the raw gap below it.

    >>> maxform_gap([20.0, 10.0, 5.0, float("inf")], 10.0).tolist()
    [0.5, 0.0, -0.5, 1.0]
    """
    return _BUILT_IN["maxform"](z, reference)


def berthold_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return Berthold's absolute gap abs(z - z*) / max(z, z*).

    Its envelope is z >= z*: below the reference it reads an improvement as a loss, so it is shown there and kept out of
    rankings.

    >>> berthold_gap([20.0, 5.0], 10.0).tolist()
    [0.5, 0.5]
    """
    return _BUILT_IN["berthold"](z, reference)


def dimacs_gap(z: ArrayLike, reference: ArrayLike, /, *, theta: float, tolerance: float = TOLERANCE) -> Floats:
    """Return z/z* - 1 for a candidate below theta·z* by more than the tolerance, else theta - 1.

    >>> dimacs_gap([10.5, 11.0, 40.0, float("inf")], 10.0, theta=1.1).round(4).tolist()
    [0.05, 0.1, 0.1, 0.1]
    """
    return _dimacs(f"dimacs:{theta}", theta, tolerance)(z, reference)


def raw_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the raw gap (z - z*) / z*; infinite without an incumbent, and where it overflows.

    >>> raw_gap([10.5, 5.0], 10.0).tolist()
    [0.05, -0.5]
    """
    return _BUILT_IN["raw"](z, reference)


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


def register_kernel(
    name: str, function: Callable[[Floats, Floats], Floats], /, *, before: float, replace: bool = False
) -> Kernel:
    """Register a kernel of your own under a name.

    Parameters
    ----------
    name
        A name that is not taken: scores of two functions must not stand under one name.
    function
        Takes arrays of objectives and references (both positive and finite) and returns the gaps, which must be finite;
        smaller is better.
    before
        The finite gap before the first incumbent, which is also the score of an empty run.
    replace
        Let it take the place of the kernel that was registered under this name.

    >>> ratio = register_kernel("log of the ratio", lambda z, ref: np.log(z / ref), before=5.0)
    >>> ratio(10.0, 10.0).tolist()
    0.0
    """
    if not name or name in _BUILT_IN or name.startswith("dimacs"):
        raise UsageError(f"kernel {name!r}: expected a name that is not taken, got one of {listing(KERNELS)}")
    if not math.isfinite(before):
        raise UsageError(f"kernel {name}: expected a finite value before the first incumbent, got {before}")
    made = Kernel(name, KernelCode.CUSTOM, before + 0.0, function=function)
    if not replace and _registered.get(name, made) != made:
        raise UsageError(
            f"kernel {name!r}: expected a name that is not taken, got one registered for another function",
            hint="give it another name, or replace=True",
        )
    _registered[name] = made
    REGISTERED.add(name)
    return made


def parse_kernel(name: str | Kernel, /, *, tolerance: float | None = None) -> Kernel:
    """Find a kernel by its name; with a tolerance of yours where one is given.

    >>> parse_kernel("dimacs:1.1").before.__round__(12)
    0.1
    """
    if isinstance(name, Kernel):
        found = name
    else:
        code, parameter = parse_kernel_name(name)
        if code is KernelCode.DIMACS:
            found = _dimacs(name, parameter, TOLERANCE)
        else:
            found = _registered[name] if code is KernelCode.CUSTOM else _BUILT_IN[name]
    return found if tolerance is None else replace(found, tolerance=tolerance)


def _dimacs(name: str, theta: float, tolerance: float) -> Kernel:
    return Kernel(name, KernelCode.DIMACS, theta - 1.0, parameter=theta, tolerance=tolerance)

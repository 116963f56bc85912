"""Gap kernels: the gap at one moment, and the value before the first incumbent.

| name | gap of z against z* | before the first incumbent |
|---|---|---|
| `squeezed` | (z - z*) / (z + z*), the paper's equation 2 | 1 |
| `maxform` | (z - z*) / max(z, z*), equation 5: Berthold's gap above the reference, the raw one below it | 1 |
| `berthold` | abs(z - z*) / max(abs(z), abs(z*)), at most 1; below z* it reads an improvement as a loss | 1 |
| `dimacs:THETA` | z/z* - 1 where z < THETA·z* by more than the tolerance, else THETA - 1 | THETA - 1 |
| `raw` | z/z* - 1 | does not exist |
"""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike

from gapline.campaign.scale import Scale
from gapline.contract.names import KERNELS, REGISTERED, KernelCode, parse_kernel_name
from gapline.contract.reading import TOLERANCE
from gapline.errors import UsageError, listing
from gapline.native.arrays import Floats
from gapline.native.kernel_formulas import COMPILED, fill_gaps

__all__ = [
    "PAPER_KERNELS", "Kernel", "KernelCode", "kernel_range", "parse_kernel", "raw_gap", "register_kernel",
    "squeezed_gap",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Kernel:
    """A named gap function; `before` is the gap before the first incumbent, None if no finite one exists (`raw`).

    `parameter` is THETA of `dimacs:THETA`, which accepts a candidate below THETA·z* by more than the relative
    `tolerance`: not 110 against 100, whatever the last bit of 1.1 · 100. `function` is that of a user's kernel.
    """

    name: str
    code: KernelCode
    before: float | None
    parameter: float = 0.0
    tolerance: float = TOLERANCE
    function: Callable[[Floats, Floats], Floats] | None = None

    def __post_init__(self) -> None:
        # Compiled loops cannot report a wrong code, so unknown ones are refused here.
        if self.code not in COMPILED and (self.code != KernelCode.CUSTOM or self.function is None):
            raise UsageError(f"kernel {self.name}: expected a known code or a function, got code {int(self.code)}")

    def __call__(self, z: ArrayLike, reference: ArrayLike, /) -> Floats:
        """Return the gap of objectives against references; z = inf means no incumbent."""
        if self.function is None:
            before = np.inf if self.before is None else self.before
            return fill_gaps(int(self.code), self.parameter, z, reference, self.tolerance, before)
        z, reference = np.asarray(z, np.float64), np.asarray(reference, np.float64)
        try:
            gaps = np.asarray(self.function(z, reference), np.float64)
        except Exception as error:
            raise UsageError(f"kernel {self.name}: {type(error).__name__}: {error}") from error
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


def raw_gap(z: ArrayLike, reference: ArrayLike, /) -> Floats:
    """Return the raw gap (z - z*) / z*; infinite without an incumbent, and if it overflows.

    >>> raw_gap([10.5, 5.0], 10.0).tolist()
    [0.05, -0.5]
    """
    return _BUILT_IN["raw"](z, reference)


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
        A name that is not taken: scores of two functions must not share a name.
    function
        Takes arrays of objectives and references (both positive and finite) and returns the gaps, which must be finite;
        smaller is better.
    before
        The finite gap before the first incumbent, which is also the score of an empty run.
    replace
        Replace a kernel that was registered under this name.

    >>> ratio = register_kernel("log of the ratio", lambda z, ref: np.log(z / ref), before=5.0)
    >>> ratio(10.0, 10.0).tolist()
    0.0
    """
    if not name or name in _BUILT_IN or name.startswith(("dimacs", "python:")):
        raise UsageError(f"kernel {name!r}: expected a name that is not taken, got one of {listing(KERNELS)}")
    if not math.isfinite(before):
        raise UsageError(f"kernel {name}: expected a finite value before the first incumbent, got {before}")
    return keep_kernel(name, function, before=before, replace=replace)


def keep_kernel(
    name: str, function: Callable[[Floats, Floats], Floats], /, *, before: float, replace: bool = False
) -> Kernel:
    """Register a function under a name for `parse_kernel`, unless another one has it."""
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
    """Return a kernel by its name, with another tolerance if one is given.

    >>> parse_kernel("dimacs:1.1").before.__round__(12)
    0.1
    """
    if isinstance(name, Kernel):
        found = name
    elif not isinstance(name, str):
        raise UsageError(f"kernel: expected a name such as squeezed, got {name!r:.80}")
    else:
        code, parameter = parse_kernel_name(name)
        if code is KernelCode.DIMACS:
            found = Kernel(name, code, parameter - 1.0, parameter=parameter)
        else:
            if code is KernelCode.CUSTOM and name not in _registered:
                raise UsageError(
                    f"kernel {name}: expected its code to be loaded, got a name alone",
                    hint="`gapline.open_study(kernels=…)` loads it; `gapline.register_kernel` takes a function",
                )
            found = _registered[name] if code is KernelCode.CUSTOM else _BUILT_IN[name]
    return found if tolerance is None else replace(found, tolerance=tolerance)


def kernel_range(name: str, /) -> tuple[float, float]:
    """Return the range of the gaps of a kernel, which is also the range of scores and mean scores.

    An end is infinite if the kernel has no bound; so are both for a user's function.

    >>> kernel_range("squeezed"), kernel_range("berthold"), kernel_range("raw")
    ((-1.0, 1.0), (0.0, 1.0), (-1.0, inf))
    """
    code, theta = parse_kernel_name(name)
    if code is KernelCode.CUSTOM:
        return -math.inf, math.inf
    most = {KernelCode.RAW: math.inf, KernelCode.DIMACS: theta - 1.0}.get(code, 1.0)
    return 0.0 if code is KernelCode.BERTHOLD else -1.0, most


def refuse_signed(kernels: Iterable[Kernel], scale: Scale) -> None:
    """Refuse kernels that need positive objectives on a scale of any sign."""
    for kernel in kernels:
        if scale.signed and kernel.code is not KernelCode.BERTHOLD:
            raise UsageError(
                f"kernel {kernel.name}: expected positive objectives, got a scale of any sign",
                hint="berthold alone is defined at zero and below",
            )

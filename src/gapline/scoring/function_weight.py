"""A time weight that is a function of the user's own, w(t): a name, a digest, and an integral with a stated error.

A score is Σ gap · W over W of the whole horizon, and gaps fall from their value before the first incumbent. So an error
ε of W up to any moment, as a share of the whole, moves a score by at most ε times the range of gaps (`score_error`).
"""

from collections.abc import Callable, Iterable
from pathlib import Path

from gapline.errors import UsageError
from gapline.model.code import load_code, note_function
from gapline.model.names import TimeWeight, WeightCode, keep_weight, parse_weight
from gapline.scoring.kernels import Kernel, KernelCode
from gapline.scoring.quadrature import cached_quadrature

Weight = str | TimeWeight | Callable[[float], float]


def function_weight(function: Callable[[float], float], /, *, name: str | None = None) -> TimeWeight:
    """Return a time weight w(t) given as a function of the seconds since the start.

    Parameters
    ----------
    function
        Takes a time in seconds, returns a finite number of 0 or more: checked wherever it is asked. It is integrated
        over each horizon by adaptive quadrature; what the scores may be off is printed with them.
    name
        What outputs call it; its own name with part of the digest of its source where not given.

    >>> import gapline as gl
    >>> weight = gl.function_weight(lambda t: 2.0 if t < 5 else 1.0, name="early shift")
    >>> round(gl.primal_integral([5], [30], reference=10, horizon=10, weight=weight), 9)
    0.833333333
    """
    if not callable(function):
        raise UsageError(f"weight: expected a function of time, got {function!r}")
    return keep_weight(TimeWeight(note_function(function, name), WeightCode.FUNCTION, function=function))


def load_weight(name: str, /, *, folder: Path | None = None) -> TimeWeight:
    """Load a weight by the name of its function, `python:MODULE:FUNCTION`."""
    return keep_weight(TimeWeight(name, WeightCode.FUNCTION, function=load_code(name, folder=folder).function))


def as_weight(weight: Weight, /) -> TimeWeight:
    """Return a weight that is given by its name, as it is, or as a function."""
    return parse_weight(weight) if isinstance(weight, str | TimeWeight) else function_weight(weight)


def weight_error(weight: TimeWeight, horizons: Iterable[float], /) -> float | None:
    """Return by how much the integral of a weight may be off, as a share of the whole; None where it is exact."""
    if weight.function is None:
        return None
    found = [cached_quadrature(weight.function, float(horizon), weight.name) for horizon in set(horizons)]
    return max((one.error / one.whole for one in found), default=0.0)


def score_error(kernel: Kernel, error: float, /) -> float | None:
    """Return by how much a score may be off under a weight with this error; None where the gaps have no known range.

    Gaps lie between -1 and the value before the first incumbent; Berthold's fall to 0 and may rise again to 1.
    """
    if kernel.before is None or kernel.code is KernelCode.CUSTOM:
        return None
    return (kernel.before + 1.0) * error

"""Kernels, statistics and time weights that are user functions, `python:MODULE:FUNCTION`."""

import math
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from gapline.contract.names import TimeWeight, WeightCode, keep_weight, parse_weight
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.contract.user_code import load_code, note_function
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring
from gapline.errors import UsageError
from gapline.native.arrays import Floats
from gapline.native.quadrature import cached_quadrature
from gapline.scoring.kernels import Kernel, KernelCode, keep_kernel

_statistics: dict[str, Callable[..., Any]] = {}


def load_kernel(name: str, /, *, folder: Path | None = None) -> Kernel:
    """Load a kernel; afterwards its name can be used like any other."""
    function = load_code(name, folder=folder).function
    before = getattr(function, "before", None)
    if isinstance(before, bool) or not isinstance(before, int | float) or not math.isfinite(before):
        short = name.rpartition(":")[2]
        raise UsageError(
            f"kernel {name}: expected its gap before the first incumbent, a finite number, got {before!r}",
            hint=f"write `{short}.before = 1.0` below the function",
        )
    return keep_kernel(name, function, before=float(before))


def load_statistic(name: str, /, *, folder: Path | None = None) -> None:
    """Load a statistic of runs."""
    _statistics[name] = load_code(name, folder=folder).function


def run_statistic(name: str, envelopes: Envelopes, references: Floats, /) -> pl.Series:
    """Return the statistic of every run, null if it has none."""
    function = _statistics.get(name)
    if function is None:
        raise UsageError(
            f"statistic: expected python:MODULE:FUNCTION, loaded by `gapline.open_study`, got {name!r}",
            hint="mean, median, quantile:Q and trimmed:SHARE say how runs are put together; these are of one run",
        )
    values: list[float | None] = []
    # The function runs in this process, so the steps have to be here too.
    envelopes = bring(envelopes)
    rows = envelopes.runs.select(*RUN_KEY, "horizon").iter_rows()
    for row, (arm, instance, seed, horizon) in enumerate(rows):
        time, objective = (column.copy() for column in envelopes.steps(row))
        where = f"statistic {name} of {RunKey(arm, instance, seed)}"
        try:
            value = function(time, objective, float(references[row]), float(horizon))
            number = None if value is None else float(value)
        except Exception as error:
            raise UsageError(f"{where}: {type(error).__name__}: {error}") from error
        if number is not None and not math.isfinite(number):
            raise UsageError(f"{where}: expected a finite number or None, got {number}")
        values.append(number)
    return pl.Series(name, values, dtype=pl.Float64)


Weight = str | TimeWeight | Callable[[float], float]


def function_weight(function: Callable[[float], float], /, *, name: str | None = None) -> TimeWeight:
    """Return a time weight w(t) given as a function of the seconds since the start.

    Parameters
    ----------
    function
        Takes a time in seconds and returns a finite number of 0 or more, which is checked at every call. It is
        integrated over each horizon by adaptive quadrature; the error of the scores is printed with them.
    name
        Its name in outputs; by default the function's name with part of the digest of its source.

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
    """Return a weight given by its name, as an object, or as a function."""
    return parse_weight(weight) if isinstance(weight, str | TimeWeight) else function_weight(weight)


def weight_error(weight: TimeWeight, horizons: Iterable[float], /) -> float | None:
    """Return the error bound of the integral of a weight, as a share of the whole; None if it is exact."""
    if weight.function is None:
        return None
    found = [cached_quadrature(weight.function, float(horizon), weight.name) for horizon in set(horizons)]
    return max((one.error / one.whole for one in found), default=0.0)


def score_error(kernel: Kernel, error: float, /) -> float | None:
    """Return the error bound of a score under a weight with this error; None if the gaps have no known range.

    Gaps lie between -1 and the value before the first incumbent; Berthold's fall to 0 and may rise again to 1.
    """
    if kernel.before is None or kernel.code is KernelCode.CUSTOM:
        return None
    return (kernel.before + 1.0) * error

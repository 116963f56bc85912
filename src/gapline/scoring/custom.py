"""Kernels and statistics of the user's own, by the name of their function: `python:MODULE:FUNCTION`.

A kernel is a function of objectives and references with the attribute `before`, its value before the first incumbent:

    def log_ratio(z, reference):
        return np.log(z / reference)
    log_ratio.before = 5.0

A statistic is a function of one run, `f(time, objective, reference, horizon)`: the accepted steps as two arrays (empty
for a run that found nothing) on the scale that is scored. It returns a finite number, or None where there is none.
"""

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring
from gapline.errors import UsageError
from gapline.model.code import load_code
from gapline.model.tables import RUN_KEY, RunKey
from gapline.scoring.kernels import Floats, Kernel, keep_kernel

_statistics: dict[str, Callable[..., Any]] = {}


def load_kernel(name: str, /, *, folder: Path | None = None) -> Kernel:
    """Load a kernel; from then on its name is one as any other."""
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
    """Return the statistic of every run, null where it has none."""
    function = _statistics.get(name)
    if function is None:
        raise UsageError(
            f"statistic: expected python:MODULE:FUNCTION, loaded by `gapline.open_study`, got {name!r}",
            hint="mean, median, quantile:Q and trimmed:SHARE say how runs are put together; these are of one run",
        )
    values: list[float | None] = []
    # The function is here, and so have to be the steps.
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

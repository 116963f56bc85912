"""A gap or an objective over time as the rows of a step curve."""

import numpy as np
import polars as pl

from gapline.paper.examples import HORIZON, REFERENCE, Trace
from gapline.scoring.kernels import parse_kernel


def objective_steps(name: str, trace: Trace) -> pl.DataFrame:
    """Return series, time, value: the incumbent from its first time to the horizon."""
    return _steps(name, [time for time, _ in trace], [value for _, value in trace])


def gap_steps(name: str, trace: Trace, kernel: str) -> pl.DataFrame:
    """Return series, time, value: the gap from 0 to the horizon; `raw` begins with its first incumbent."""
    chosen = parse_kernel(kernel)
    times = [time for time, _ in trace]
    gaps = chosen(np.array([value for _, value in trace], np.float64), np.full(len(trace), REFERENCE)).tolist()
    if chosen.before is not None and (not times or times[0] > 0):
        times, gaps = [0.0, *times], [chosen.before, *gaps]
    return _steps(name, times, gaps)


def _steps(name: str, times: list[float], values: list[float]) -> pl.DataFrame:
    """Hold the last value to the horizon; a trace without a step has no row at all."""
    rows = [(name, float(time), float(value)) for time, value in zip(times, values, strict=True)]
    rows += [(name, HORIZON, rows[-1][2])] if rows else []
    return pl.DataFrame(rows, schema={"series": pl.String, "time": pl.Float64, "value": pl.Float64}, orient="row")

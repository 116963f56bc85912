"""A gap or an objective over time as the rows of a step curve."""

import numpy as np
import polars as pl

from gapline.paper.examples import HORIZON, REFERENCE, Trace
from gapline.scoring.kernels import parse_kernel


def objective_steps(name: str, trace: Trace) -> pl.DataFrame:
    """Return series, time, value: the incumbent from its first time to the horizon."""
    times = [time for time, _ in trace]
    values = [value for _, value in trace]
    if not trace:
        return pl.DataFrame(schema={"series": pl.String, "time": pl.Float64, "value": pl.Float64})
    return _frame(name, [*times, HORIZON], [*values, values[-1]])


def gap_steps(name: str, trace: Trace, kernel: str) -> pl.DataFrame:
    """Return series, time, value: the gap from 0 to the horizon; `raw` begins with its first incumbent."""
    chosen = parse_kernel(kernel)
    times = np.array([time for time, _ in trace], np.float64)
    gaps = chosen(np.array([value for _, value in trace], np.float64), np.full(len(trace), REFERENCE))
    if chosen.before is not None and (not len(times) or times[0] > 0):
        times, gaps = np.append(0.0, times), np.append(chosen.before, gaps)
    if not len(times):
        return _frame(name, [], [])
    return _frame(name, [*times.tolist(), HORIZON], [*gaps.tolist(), float(gaps[-1])])


def _frame(name: str, times: list[float], values: list[float]) -> pl.DataFrame:
    schema = {"series": pl.String, "time": pl.Float64, "value": pl.Float64}
    return pl.DataFrame(
        [(name, float(t), float(v)) for t, v in zip(times, values, strict=True)], schema=schema, orient="row"
    )

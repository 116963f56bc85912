"""The time axis of every curve: linear from 0 on, or logarithmic from a first moment on.

A logarithmic axis has no 0. It begins at the first step of all runs after time 0, and at most four decades before the
end. What holds at its beginning is drawn from there: a run that is feasible at time 0 with its gap, one that has no
incumbent yet with the value of its kernel before the first one.
"""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.scoring.endpoints import first_times

# Of the end: four decades are enough for any screen, and less than one would be no axis.
EARLIEST, LATEST = 1e-4, 0.1


def log_start(envelopes: Envelopes, *, relative: bool = False) -> float:
    """Return where a logarithmic axis of these runs begins, in seconds or as a share of the horizons.

    >>> import gapline as gl
    >>> run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "trace": [(0, 14.0), (2, 12.0)]}
    >>> log_start(gl.build_envelopes(gl.Campaign.from_runs([run])))
    2.0
    """
    horizons = envelopes.runs["horizon"].to_numpy()
    end = 1.0 if relative else float(horizons.max())
    time = first_times(envelopes)[:, 1] / (horizons if relative else 1.0)
    least = float(np.min(time[time > 0], initial=np.inf))
    return EARLIEST * end if np.isinf(least) else min(max(least, EARLIEST * end), LATEST * end)


def axis_moments(start: float | None, end: float, count: int) -> NDArray[np.float64]:
    """Return moments at equal distances on the axis, the end left out.

    >>> axis_moments(None, 8.0, 4).tolist(), axis_moments(1.0, 16.0, 4).round(9).tolist()
    ([0.0, 2.0, 4.0, 6.0], [1.0, 2.0, 4.0, 8.0])
    """
    if start is None:
        return np.linspace(0.0, end, count, endpoint=False)
    return np.geomspace(start, end, count, endpoint=False)


def drawn_from(data: pl.DataFrame, start: float | None, *by: str) -> pl.DataFrame:
    """Let step curves begin with an axis: of the rows before, the last of each series stands at its beginning.

    >>> steps = pl.DataFrame({"series": ["a"] * 3, "time": [0.0, 0.5, 4.0], "value": [1.0, 0.5, 0.2]})
    >>> drawn_from(steps, 1.0, "series").rows()
    [('a', 1.0, 0.5), ('a', 4.0, 0.2)]
    """
    if start is None:
        return data
    return data.with_columns(pl.col("time").clip(lower_bound=start)).unique(
        [*by, "time"], keep="last", maintain_order=True
    )


def log_words(start: float | None, unit: str) -> str:
    """Say in a caption where a logarithmic axis begins; empty for a linear one."""
    if start is None:
        return ""
    return f"; logarithmic time from {start:.3g} {unit} on, what holds there is drawn from there"

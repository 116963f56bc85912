"""Moments at which a curve is evaluated: equidistant on a linear or on a logarithmic time axis.

A logarithmic axis has no 0. It begins at the first step of any run after time 0, but at most four decades before the
end.
"""

import numpy as np

from gapline.envelope.build import Envelopes
from gapline.native.arrays import Floats
from gapline.scoring.endpoints import first_steps

# Shares of the end: four decades are enough for any screen, and less than one would be no axis.
EARLIEST, LATEST = 1e-4, 0.1


def log_start(envelopes: Envelopes, *, relative: bool = False) -> float:
    """Return the start of a logarithmic axis for these runs, in seconds or as a share of the horizons.

    >>> import gapline as gl
    >>> run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 30, "trace": [(0, 14.0), (2, 12.0)]}
    >>> log_start(gl.build_envelopes(gl.Campaign.from_runs([run])))
    2.0
    """
    horizons = envelopes.runs["horizon"].to_numpy()
    end = 1.0 if relative else float(horizons.max())
    time = first_steps(envelopes, positive=True) / (horizons if relative else 1.0)
    least = float(np.min(time[time > 0], initial=np.inf))
    return EARLIEST * end if np.isinf(least) else min(max(least, EARLIEST * end), LATEST * end)


def axis_moments(start: float | None, end: float, count: int) -> Floats:
    """Return equidistant moments on the axis, without the end.

    >>> axis_moments(None, 8.0, 4).tolist(), axis_moments(1.0, 16.0, 4).round(9).tolist()
    ([0.0, 2.0, 4.0, 6.0], [1.0, 2.0, 4.0, 8.0])
    """
    if start is None:
        return np.linspace(0.0, end, count, endpoint=False)
    return np.geomspace(start, end, count, endpoint=False)


def moments_of_both(start: float, end: float, count: int) -> Floats:
    """Return at most `count` moments for a linear and a logarithmic axis: 0, the end, and about half of them on each.

    >>> moments_of_both(1.0, 81.0, 9).round(9).tolist()
    [0.0, 1.0, 3.0, 9.0, 20.25, 27.0, 40.5, 60.75, 81.0]
    """
    half = max(1, (count - 1) // 2)
    # With several horizons the first step may be far behind this end.
    logarithmic = axis_moments(min(start, LATEST * end), end, half)
    return np.unique(np.concatenate([axis_moments(None, end, half), logarithmic, [end]]))

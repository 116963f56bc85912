"""How much each run counts in a mean: panel-, instance- or run-equal."""

from enum import StrEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import UsageError, listing
from gapline.model.text import meant

Floats = NDArray[np.float64]


class Weighting(StrEnum):
    """Which units count alike in a mean."""

    PANEL = "panel"
    INSTANCE = "instance"
    RUN = "run"


def parse_weighting(name: str | Weighting, /) -> Weighting:
    """Find a weighting rule by its name."""
    if name in list(Weighting):
        return Weighting(name)
    hint = meant(name, list(Weighting))
    raise UsageError(f"weighting: expected {listing(Weighting)}, got {name!r}", hint=hint)


def share_steps(values: Floats, weights: Floats, *, start: float | None = None) -> tuple[Floats, Floats]:
    """Return where the share of weight at or below x rises, and the share from there on; at `start` it is there anyway.

    An infinite value is never reached; its weight still counts.

    >>> x, share = share_steps(np.array([2.0, np.inf, 2.0]), np.array([0.25, 0.5, 0.25]), start=0.0)
    >>> x.tolist(), share.tolist()
    ([0.0, 2.0], [0.0, 0.5])
    """
    # By weight among equal values: the sum is the same whatever the order of the runs.
    order = np.lexsort((weights, values))
    x, share = values[order], np.minimum(np.cumsum(weights[order]), 1.0)
    # Of equal values the last one has the whole step.
    last = np.append(x[1:] != x[:-1], True)[: len(x)] & np.isfinite(x)
    x, share = x[last], share[last]
    if start is not None and (not len(x) or x[0] > start):
        return np.append(start, x), np.append(0.0, share)
    return x, share


def run_weights(runs: pl.DataFrame, *, by: list[str], weighting: str | Weighting) -> Floats:
    """Return a weight per run; the weights of each group of `by` sum to one.

    Panel-equal is the paper's equation 6: 1 / (panels · instances of the panel · runs on the instance).

    >>> runs = pl.DataFrame({"arm": ["a"] * 3, "panel": ["p", "p", "q"], "instance": ["i", "i", "j"]})
    >>> run_weights(runs, by=["arm"], weighting="panel").tolist()
    [0.25, 0.25, 0.5]
    """
    rule = parse_weighting(weighting)
    # A group without a key (`by=[]`) is the whole table.
    table = runs.select(list(dict.fromkeys([*by, "panel", "instance"]))).with_columns(_all=pl.lit(0))
    group = [*by, "_all"]
    runs_of_instance = pl.len().over(list(dict.fromkeys([*group, "panel", "instance"])))
    instances = pl.struct("panel", "instance").n_unique()
    if rule is Weighting.RUN:
        weight = 1.0 / pl.len().over(group)
    elif rule is Weighting.INSTANCE:
        weight = 1.0 / (instances.over(group) * runs_of_instance)
    else:
        panels = pl.col("panel").n_unique().over(group)
        of_panel = instances.over(list(dict.fromkeys([*group, "panel"])))
        weight = 1.0 / (panels * of_panel * runs_of_instance)
    return table.select(weight.cast(pl.Float64)).to_series().to_numpy()

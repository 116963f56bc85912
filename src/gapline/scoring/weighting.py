"""How much each run counts in a mean: panel-, instance- or run-equal."""

from enum import StrEnum

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import UsageError, closest, listing


class Weighting(StrEnum):
    """Which units count alike in a mean."""

    PANEL = "panel"
    INSTANCE = "instance"
    RUN = "run"


def parse_weighting(name: str | Weighting, /) -> Weighting:
    """Find a weighting rule by its name."""
    if name in list(Weighting):
        return Weighting(name)
    near = closest(name, list(Weighting))
    hint = f"did you mean {near!r}?" if near else None
    raise UsageError(f"weighting: expected {listing(Weighting)}, got {name!r}", hint=hint)


def run_weights(runs: pl.DataFrame, *, by: list[str], weighting: str | Weighting) -> NDArray[np.float64]:
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
        panels, of_panel = (
            pl.col("panel").n_unique().over(group),
            instances.over(list(dict.fromkeys([*group, "panel"]))),
        )
        weight = 1.0 / (panels * of_panel * runs_of_instance)
    return table.select(weight.cast(pl.Float64)).to_series().to_numpy()

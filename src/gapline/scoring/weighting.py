"""The weight of each run in a mean: panel-, instance- or run-equal."""

from enum import StrEnum

import numpy as np
import polars as pl

from gapline.contract.row_groups import Numbered
from gapline.errors import UsageError, listing
from gapline.native.arrays import Bools, Floats
from gapline.text import meant


class Weighting(StrEnum):
    """The units that count equally in a mean."""

    PANEL = "panel"
    INSTANCE = "instance"
    RUN = "run"


def parse_weighting(name: str | Weighting, /) -> Weighting:
    """Return a weighting rule by its name."""
    if name in list(Weighting):
        return Weighting(name)
    hint = meant(name, list(Weighting))
    raise UsageError(f"weighting: expected {listing(Weighting)}, got {name!r}", hint=hint)


def share_steps(values: Floats, weights: Floats, *, start: float | None = None) -> tuple[Floats, Floats]:
    """Return the values at which the cumulated share of weight rises, and the share from there on.

    An infinite value is never reached; its weight still counts. With `start`, the steps begin there.

    >>> x, share = share_steps(np.array([2.0, np.inf, 2.0]), np.array([0.25, 0.5, 0.25]), start=0.0)
    >>> x.tolist(), share.tolist()
    ([0.0, 2.0], [0.0, 0.5])
    """
    reached = np.isfinite(values)
    x, weights = values[reached], weights[reached]
    if len(weights) and bool(np.all(weights == weights[0])):
        x = np.sort(x)
    else:
        # By weight among equal values, so that the sum does not depend on the order of the runs.
        order = np.lexsort((weights, x))
        x, weights = x[order], weights[order]
    share = np.minimum(np.cumsum(weights), 1.0)
    # The last of equal values has the whole step.
    last = np.append(x[1:] != x[:-1], True)[: len(x)]
    x, share = x[last], share[last]
    if start is not None and (not len(x) or x[0] > start):
        return np.append(start, x), np.append(0.0, share)
    return x, share


def run_weights(
    runs: pl.DataFrame | Numbered,
    *,
    by: list[str],
    weighting: str | Weighting,
    among: Bools | None = None,
) -> Floats:
    """Return a weight per run; the weights of each group of `by` sum to one.

    Panel-equal is the paper's equation 6: 1 / (panels · instances of the panel · runs on the instance). With `among`,
    only the marked runs count, and the others have weight 0.

    >>> runs = pl.DataFrame({"arm": ["a"] * 3, "panel": ["p", "p", "q"], "instance": ["i", "i", "j"]})
    >>> run_weights(runs, by=["arm"], weighting="panel").tolist()
    [0.25, 0.25, 0.5]
    """
    rule = parse_weighting(weighting)
    rows = runs if isinstance(runs, Numbered) else Numbered(runs)
    # Counted and weighted once per group, panel and instance, of which there are few.
    unit, panel, group = (rows.by(*by, *more) for more in (("panel", "instance"), ("panel",), ()))
    runs_of_unit = np.bincount(unit.row if among is None else unit.row[among], minlength=unit.size)
    some = unit.first_row
    panel_of, group_of = panel.row[some], group.row[some]
    instances = np.bincount(panel_of[runs_of_unit > 0], minlength=panel.size)
    group_of_panel = group.row[panel.first_row]
    if rule is Weighting.RUN:
        count = np.bincount(group_of, weights=runs_of_unit, minlength=group.size)[group_of]
    elif rule is Weighting.INSTANCE:
        count = np.bincount(group_of_panel, weights=instances, minlength=group.size)[group_of] * runs_of_unit
    else:
        panels = np.bincount(group_of_panel[instances > 0], minlength=group.size)
        count = panels[group_of] * instances[panel_of] * runs_of_unit
    weight = np.zeros(unit.size)
    np.divide(1.0, count, out=weight, where=runs_of_unit > 0)
    found = weight[unit.row]
    return found if among is None else np.where(among, found, 0.0)

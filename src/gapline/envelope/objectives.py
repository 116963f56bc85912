"""Captured objectives on the scale that is scored."""

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.errors import ObjectiveError
from gapline.model.campaign import Campaign
from gapline.model.scale import Scale

Floats = NDArray[np.float64]


def scored_objectives(campaign: Campaign, scale: Scale) -> Floats:
    """Return every captured objective on the scale that is scored; without a transform, the column itself."""
    if scale.hierarchical:
        values = _scalarised(campaign, scale)
    else:
        values = scale.apply_column(campaign.runs, campaign.objective)
    # The compiled pass takes read-only columns, so that one compiled version serves all.
    if values is not campaign.objective:
        values.flags.writeable = False
    return values


def _scalarised(campaign: Campaign, scale: Scale) -> Floats:
    transform = scale.default
    if campaign.primary is None or campaign.secondary is None:
        raise ObjectiveError(f"transform {transform}: expected columns primary and secondary, got none")
    size = None
    if transform.per_size:
        if "size" not in campaign.runs.columns:
            transform.multiplier(None)
        whole = campaign.runs["size"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        transform.multiplier(whole)
        size = np.ones(len(campaign.time))
        for first, count, n in zip(campaign.runs["first"], campaign.runs["count"], whole, strict=True):
            size[first : first + count] = n
    return transform.scalarise(campaign.primary, campaign.secondary, size=size)

"""Whether a hierarchical objective M·K + C keeps the lexicographic order of the solutions that were observed."""

import numpy as np
import polars as pl

from gapline.errors import listing
from gapline.model.campaign import Campaign
from gapline.model.transform import Transform


def hierarchy_notes(campaign: Campaign, transform: Transform) -> list[str]:
    """Check the paper's condition M > max{C(y) - C(y') : K(y') = K(y) + 1} on the observed solutions."""
    violations = hierarchy_violations(campaign, transform)
    if not violations.height:
        return [f"transform {transform} keeps the lexicographic order of every observed pair of solutions"]
    worst = listing(
        (f"{i} (K={k:g}: needs M > {need:g}, has {m:g})" for i, k, need, m in violations.iter_rows()), most=3
    )
    return [
        f"transform {transform} breaks the lexicographic order on {violations.height} observed (instance, K): {worst}"
    ]


def hierarchy_violations(campaign: Campaign, transform: Transform) -> pl.DataFrame:
    """List observed (instance, K) at which one more unit of the primary objective may look cheaper than none.

    Columns: instance, primary (K), needed (max C at K minus min C at K + 1), multiplier (M in force).
    """
    count = campaign.runs["count"].to_numpy()
    whole = campaign.compact()
    size = whole.runs["size"].cast(pl.Float64).to_numpy() if transform.per_size else None
    multiplier = np.broadcast_to(transform.multiplier(size), (len(whole),))
    candidates = pl.DataFrame(
        {
            "instance": np.repeat(whole.runs["instance"].to_numpy(), count),
            "multiplier": np.repeat(multiplier, count),
            "primary": whole.primary,
            "secondary": whole.secondary,
            "verdict": whole.verdict,
        }
    ).filter(pl.col("verdict") == 1)
    extremes = candidates.group_by("instance", "primary").agg(
        most=pl.col("secondary").max(), least=pl.col("secondary").min(), multiplier=pl.col("multiplier").min()
    )
    above = extremes.select("instance", primary=pl.col("primary") - 1, least_above=pl.col("least"))
    pairs = extremes.join(above, on=["instance", "primary"])
    return (
        pairs.with_columns(needed=pl.col("most") - pl.col("least_above"))
        .filter(pl.col("needed") >= pl.col("multiplier"))
        .select("instance", "primary", "needed", "multiplier")
        .sort("needed", descending=True)
    )

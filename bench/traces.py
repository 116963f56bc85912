"""Synthetic campaigns of any size, made in memory."""

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.references.snapshot import Snapshot


def make_campaign(*, runs: int, candidates: int, improving: float, seed: int = 1, horizon: float = 3600.0) -> Campaign:
    """Runs of equally many candidates, a given share of which improves on the best so far."""
    generator = np.random.default_rng(seed)
    time = np.empty((runs, candidates))
    objective = np.empty((runs, candidates))
    for low in range(0, runs, 1000):
        part = slice(low, min(low + 1000, runs))
        size = (part.stop - part.start, candidates)
        time[part] = np.sort(generator.uniform(0, horizon, size), axis=1)
        better = generator.random(size) < improving
        best = 1500.0 * np.exp(-np.cumsum(np.where(better, generator.exponential(0.3 / candidates, size), 0.0), axis=1))
        objective[part] = np.where(better, best, best * (1.0 + 0.1 * generator.random(size)))
    number = np.arange(runs)
    table = pl.DataFrame(
        {
            "arm": [f"arm{k % 5}" for k in number],
            "instance": [f"i{k // 5 % 200:03}" for k in number],
            "panel": [f"p{k // 5 % 200 % 10}" for k in number],
            "seed": number // 1000,
            "horizon": np.full(runs, horizon),
            "first": number * candidates,
            "count": np.full(runs, candidates),
        }
    )
    verdict = np.ones(runs * candidates, np.uint8)
    return Campaign.from_arrays(runs=table, time=time.ravel(), objective=objective.ravel(), verdict=verdict)


def references(campaign: Campaign, value: float = 1100.0) -> Snapshot:
    return Snapshot.from_values(dict.fromkeys(campaign.runs["instance"].unique(), value), name="bench")

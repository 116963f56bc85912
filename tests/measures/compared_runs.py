"""Scores made to order: a run at three times its reference from time t on has the squeezed score 0.5 + t / 20."""

import numpy as np

import gapline as gl
from gapline.measures.compared_arms import compare_cells


def scores_of(table, *, panels=None, tier_two=()):
    """Score {arm: {instance: [score per seed]}}; scores from 0.5 to 1, where 1 is an empty run."""
    runs = [
        {
            "arm": arm, "instance": i, "seed": seed, "horizon": 10, "panel": (panels or {}).get(i, "p"),
            "trace": [] if score == 1 else [(20 * (score - 0.5), 30.0)], "tier": 2 if arm in tier_two else 1,
        }
        for arm, row in table.items() for i, scores in row.items() for seed, score in enumerate(scores)
    ]  # fmt: skip
    names = {run["instance"] for run in runs}
    snapshot = gl.Snapshot.from_values(dict.fromkeys(names, 10.0), name="mine")
    return gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)


def random_scores(seed, *, arms=4, instances=8, seeds=3, ties=False, panels=1):
    """Return a `Compared` and the scores as arms × instances × seeds; with ties, on a grid of few values."""
    draw = np.random.default_rng(seed)
    values = (
        draw.integers(0, 5, (arms, instances, seeds)) / 10 if ties else draw.uniform(0, 0.49, (arms, instances, seeds))
    )
    values = 0.5 + values
    # What comes back has the rounding of a time and an integral.
    table = {f"a{a}": {f"i{i}": values[a, i].tolist() for i in range(instances)} for a in range(arms)}
    where = {f"i{i}": f"p{i % panels}" for i in range(instances)}
    return compare_cells(scores_of(table, panels=where)), values

"""Power from a pilot: the promised number of instances does resolve the difference."""

from statistics import NormalDist

import numpy as np
import pytest

import gapline as gl
from gapline.errors import UsageError
from gapline.summary.cells import build_cells
from gapline.summary.power import pilot_spread, power_table


def pilot(values):
    """Scores of runs given as {(arm, panel, instance): [scores between 0.5 and 1]}."""
    runs = [
        {"arm": a, "panel": p, "instance": i, "seed": s, "horizon": 10, "trace": [(20 * (v - 0.5), 30.0)]}
        for (a, p, i), row in values.items()
        for s, v in enumerate(row)
    ]
    snapshot = gl.Snapshot.from_values({i: 10.0 for _, _, i in values}, name="mine")
    return gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot)


def test_spread_is_split_between_instances_and_seeds():
    values = {}
    for k, centre in enumerate((0.6, 0.7, 0.8)):
        values["a", "p", f"i{k}"] = [centre - 0.02, centre + 0.02]
        values["b", "p", f"i{k}"] = [0.7, 0.7]
    scores = pilot(values)
    spread = pilot_spread(build_cells(scores.frame), scores.frame["squeezed"].to_numpy(), "a", "b")
    # Seeds: variance 2·0.02² of `a`, none of `b`. Instances: 0.01 seen, of which 0.0008 / 2 is due to the seeds.
    assert spread.within == pytest.approx((0.0008,))
    assert spread.between == pytest.approx((0.01 - 0.0004,))
    assert spread.variance(4) == pytest.approx(0.0096 + 0.0002)


def test_more_seeds_or_larger_differences_need_fewer_instances():
    rng = np.random.default_rng(2)
    values = {
        (arm, p, f"{p}{k}"): (0.7 + 0.05 * rng.standard_normal(3)).clip(0.5, 1).tolist()
        for arm in "ab" for p in "pq" for k in range(8)
    }  # fmt: skip
    frame = power_table(pilot(values), pairs=[("a", "b")], deltas=[0.01, 0.02], seeds=[1, 5]).frame
    needed = {(d, s): n for _, _, d, s, n, _ in frame.iter_rows()}
    assert needed[0.01, 1] > needed[0.01, 5] > needed[0.02, 5]
    factor = (NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)) ** 2
    scores = pilot(values)
    spread = pilot_spread(build_cells(scores.frame), scores.frame["squeezed"].to_numpy(), "a", "b")
    assert needed[0.02, 5] == int(np.ceil(spread.variance(5) * factor / 0.02**2))


def test_the_promised_number_of_instances_has_the_promised_power():
    """Draw campaigns of that size from the pilot's own law and count how often a z-test sees the difference."""
    rng = np.random.default_rng(5)
    between, within, delta, seeds = 0.03, 0.02, 0.01, 2
    factor = NormalDist().inv_cdf(0.975) + NormalDist().inv_cdf(0.8)
    n = int(np.ceil((between**2 + 2 * within**2 / seeds) * (factor / delta) ** 2))
    differences = delta + between * rng.standard_normal((2000, n))
    differences += rng.standard_normal((2000, n)) * within * np.sqrt(2 / seeds)
    z = differences.mean(axis=1) / (differences.std(axis=1, ddof=1) / np.sqrt(n))
    assert np.mean(np.abs(z) > 1.96) == pytest.approx(0.8, abs=0.04)


def test_what_a_pilot_cannot_say_has_a_reason():
    one_seed = pilot({(a, "p", f"i{k}"): [0.6 + 0.01 * k * (a == "a")] for a in "ab" for k in range(4)})
    frame = power_table(one_seed, pairs=[("a", "b")], deltas=[0.01], seeds=[1, 5]).frame
    assert frame["instances"].to_list()[0] is not None
    assert frame["instances"].to_list()[1] is None
    assert "one seed" in frame["reason"][1]
    lone = pilot({(a, "p", "i"): [0.6, 0.7] for a in "ab"})
    frame = power_table(lone, pairs=[("a", "b")], deltas=[0.01], seeds=[1]).frame
    assert "one instance" in frame["reason"][0]
    with pytest.raises(UsageError, match="positive differences"):
        power_table(lone, pairs=[("a", "b")], deltas=[0.0])

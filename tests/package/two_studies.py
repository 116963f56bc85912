"""Two studies of one plan, by hand or by chance, and what a slow reading of them in exact numbers says."""

from fractions import Fraction
from itertools import combinations

from hypothesis import strategies as st

import gapline as gl
import oracle

HORIZON = 10.0
REFERENCE = 10.0


def run_of(arm, instance, panel, seed, steps, *, horizon=HORIZON, **facts):
    return {
        "arm": arm, "instance": instance, "panel": panel, "seed": seed, "horizon": horizon, "status": "finished",
        "trace": sorted(steps), **facts,
    }  # fmt: skip


def study_of(runs, *, policy=None, snapshot=None, **choices):
    """Open runs as a study against a reference of 10 on every instance, or against the best of the runs."""
    known = dict.fromkeys(sorted({run["instance"] for run in runs} | {"p0", "p1", "q0", "q1"}), REFERENCE)
    snapshots = [snapshot or gl.Snapshot.from_values(known, name="known")] if policy is None else []
    # Runs by chance rise as often as they fall.
    return gl.open_study(gl.Campaign.from_runs(runs), snapshots=snapshots, policy=policy, sense="min", **choices)


def paced(arms, *, instances=8, seeds=(1, 2), panels=("p", "q"), horizon=HORIZON, **facts):
    """Runs that each find 20 early and 11 at the pace of their arm, which grows by a tenth per instance."""
    return [
        run_of(arm, f"{panel}{k}", panel, seed,
               [(0.1, 20.0), (pace * (1 + 0.1 * k) + 0.07 * k * k + 0.02 * seed, 11.0)], horizon=horizon, **facts)
        for arm, pace in arms.items() for panel in panels for k in range(instances // len(panels)) for seed in seeds
    ]  # fmt: skip


@st.composite
def pairs_of_runs(draw):
    """Two lists of runs that share some cells; each side has a horizon of its own for each instance."""
    names = {"p0": "p", "p1": "p", "q0": "q", "q1": "q"}
    cells = [(arm, name, seed) for arm in "abc" for name in names for seed in (1, 2)]
    sides = []
    for _ in range(2):
        horizons = {name: draw(st.sampled_from([4.0, 8.0, 10.0])) for name in names}
        # The first cells of each arm are always there, so that both have something in common.
        kept = [cell for cell in draw(st.permutations(cells)) if cell[1:] == ("p0", 1) or draw(st.integers(0, 5))]
        step = st.tuples(st.integers(0, 48).map(lambda k: k / 4), st.integers(10, 30).map(float))
        sides.append(
            [
                run_of(arm, name, names[name], seed, draw(st.lists(step, max_size=4)), horizon=horizons[name])
                for arm, name, seed in kept
            ]
        )
    return tuple(sides)


def slow_reading(old, new):
    """Return the runs in common, the mean of each arm there and here, and its means by panel, in exact rationals."""
    sides = [{(run["arm"], run["panel"], run["instance"], run["seed"]): run for run in runs} for runs in (old, new)]
    common = sorted(set(sides[0]) & set(sides[1]))
    means: list[dict[tuple[str, str | None], Fraction]] = [{}, {}]
    for side, found in zip(sides, means, strict=True):
        scores = {}
        for cell in common:
            horizon = min(each[cell]["horizon"] for each in sides)
            steps = oracle.envelope([(time, z, True) for time, z in side[cell]["trace"]], horizon)
            scores[cell] = oracle.integral(steps, REFERENCE, horizon)
        for arm in sorted({cell[0] for cell in common}):
            mine = [(cell[1], cell[2], score) for cell, score in scores.items() if cell[0] == arm]
            found[arm, None] = oracle.mean(mine, weighting="panel")
            for panel in sorted({one[0] for one in mine}):
                found[arm, panel] = oracle.mean([one for one in mine if one[0] == panel], weighting="panel")
        for a, b in combinations(sorted({cell[0] for cell in common}), 2):
            units = [{cell[1:3] for cell in common if cell[0] == arm} for arm in (a, b)]
            both = units[0] & units[1]
            parts = [
                oracle.mean(
                    [(c[1], c[2], s) for c, s in scores.items() if c[0] == arm and c[1:3] in both], weighting="panel"
                )
                for arm in (a, b)
            ]
            found[a, b] = parts[0] - parts[1]
    return len(common), means


def slow_tau(old, new):
    """Return the squared tau-b with its sign, pair by pair."""
    sign = [[(x > y) - (x < y) for x, y in combinations(side, 2)] for side in (old, new)]
    both = sum(a * b for a, b in zip(*sign, strict=True))
    norms = [sum(one != 0 for one in side) for side in sign]
    return None if 0 in norms else Fraction(both * abs(both), norms[0] * norms[1])

# %% [markdown]
# # Is simulated annealing worth its patience?
# Three searches of a few lines each look for short round trips, each run recorded by `gl.record`.

# %%
FILE = "recorded.jsonl"
HORIZON = 1.5
SIZES = (60, 120)
INSTANCES = 4
SEEDS = 2

# %%
import math
import random

import gapline as gl


def draw_points(size, number):
    draws = random.Random(f"{size} {number}")
    return [(draws.randrange(1000), draws.randrange(1000)) for _ in range(size)]


def change(points, tour, i, j):
    """How much longer the tour becomes when its part from i to j is turned round."""
    a, b, c, d = (points[tour[k % len(tour)]] for k in (i - 1, i, j, j + 1))
    return math.dist(a, c) + math.dist(b, d) - math.dist(a, b) - math.dist(c, d)


def length(points, tour):
    return sum(math.dist(points[a], points[b]) for a, b in zip(tour, tour[1:] + tour[:1], strict=True))


# %%
def search(points, trace, draws, temperature, restart_after=None):
    """Turn parts round; accept what is longer with a chance that falls with the clock; begin anew when stuck."""
    tour, stuck, best = list(range(len(points))), 0, math.inf
    value = length(points, tour)
    while trace.elapsed < HORIZON:
        i, j = sorted(draws.sample(range(1, len(tour)), 2))
        heat = temperature * max(1e-9, 1 - trace.elapsed / HORIZON) ** 2
        longer, stuck = change(points, tour, i, j), stuck + 1
        if longer < 0 or (heat > 0 and draws.random() < math.exp(-longer / heat)):
            tour[i : j + 1] = tour[i : j + 1][::-1]
            value += longer
            stuck = 0 if longer < 0 else stuck
        if value < best - 1e-9:
            best = value
            trace.add(length(points, tour))
        if restart_after and stuck > restart_after:
            draws.shuffle(tour)
            value, stuck = length(points, tour), 0


ARMS = {
    "descent": {"temperature": 0.0},
    "restarts": {"temperature": 0.0, "restart_after": 4000},
    "annealing": {"temperature": 60.0},
}

# %%
cells = [
    (arm, size, number, seed) for seed in range(SEEDS) for size in SIZES for number in range(INSTANCES) for arm in ARMS
]
# In a random order, so that a disturbance of the machine hits no arm alone.
random.Random(1).shuffle(cells)
for arm, size, number, seed in cells:
    points, name = draw_points(size, number), f"points-n{size}-{number}"
    with gl.record(FILE, arm=arm, instance=name, panel=f"n={size}", seed=seed, horizon=HORIZON) as trace:
        search(points, trace, random.Random(seed), **ARMS[arm])

# %%
study = gl.open_study(FILE, policy="analysis", contrasts=[("annealing", "descent"), ("annealing", "restarts")])
study.summary

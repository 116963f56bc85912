"""Traces of any size for all tools alike: float seconds, late starts, empty runs, beaten references."""

from typing import Any

import numpy as np

import gapline as gl

HORIZON = 60.0
REFERENCE = 100.0
# Pace of the steps, time of the first one, where the gap ends, and the share of runs that find nothing.
ARMS = {
    "steady": (1.0, 0.5, 0.004, 0.0),
    "sprinter": (0.4, 0.1, 0.03, 0.0),
    "late": (0.6, 30.0, 0.001, 0.2),
    "beats": (1.5, 2.0, -0.01, 0.0),
}


def draw_runs(*, instances: int, seeds: int, steps: int, draw_seed: int = 7) -> list[dict[str, Any]]:
    """Return runs as `gl.Campaign.from_runs` takes them, each improving with every candidate."""
    draw = np.random.default_rng(draw_seed)
    runs = []
    for arm, (pace, first, end, empty) in ARMS.items():
        for instance in range(instances):
            for seed in range(seeds):
                count = int(draw.integers(steps // 2, steps + 1))
                times = first * draw.uniform(0.5, 1.5) + np.cumsum(draw.exponential(pace * 20 / steps, count))
                gaps = end + 0.5 * np.cumprod(draw.uniform(0.5, 0.95, count) ** (20 / steps))
                times = times[times < HORIZON]
                trace = list(zip(times.tolist(), (REFERENCE * (1 + gaps)).tolist(), strict=False))
                if draw.random() < empty:
                    trace = []
                runs.append(
                    {
                        "arm": arm,
                        "instance": f"i{instance}",
                        "panel": "even" if instance % 2 else "odd",
                        "seed": seed,
                        "horizon": HORIZON,
                        "trace": trace,
                    }
                )
    return runs


def judged(runs: list[dict[str, Any]]) -> tuple[gl.Envelopes, gl.Snapshot]:
    """Return what gapline scores of these runs, and against what."""
    names = sorted({run["instance"] for run in runs})
    snapshot = gl.Snapshot.from_values(dict.fromkeys(names, REFERENCE), name="peers")
    return gl.build_envelopes(gl.Campaign.from_runs(runs)), snapshot


def per_run(envelopes: gl.Envelopes, runs: list[dict[str, Any]], values: np.ndarray) -> np.ndarray:
    """Return gapline's values, one per run of its envelopes, in the order of these runs."""
    place = {key: k for k, key in enumerate(envelopes.runs.select("arm", "instance", "seed").iter_rows())}
    return np.array([values[place[run["arm"], run["instance"], run["seed"]]] for run in runs])


def score_matrix(runs: list[dict[str, Any]], scores: gl.Scores, arm: str) -> np.ndarray:
    """Return the squeezed scores of an arm, seeds times instances."""
    known = {tuple(row[:3]): row[3] for row in scores.frame.select("arm", "instance", "seed", "squeezed").iter_rows()}
    instances = list(dict.fromkeys(run["instance"] for run in runs))
    seeds = list(dict.fromkeys(run["seed"] for run in runs))
    return np.array([[known[arm, instance, seed] for instance in instances] for seed in seeds])

"""A campaign of the paper's shape whose tables are known by construction.

8,800 runs: 212 instances in ten panels (seven of 20 with ten seeds, three of 24 with five), five arms of which `sliced`
is descriptive. Every run goes from its first ratio to the reference to its last one; what stands in `EXPECTED` follows
from these ratios by arithmetic on paper. `traces()` of the same run, in plain Python, feeds the slow recomputation.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.references.snapshot import Snapshot

HORIZON = 1024.0
ARMS = ("alpha", "beta", "delta", "gamma", "sliced")
FAMILIES = ("Ash", "Birch", "Cedar", "Elm", "Fir")
PANELS = tuple(f"{family} {size}" for family in FAMILIES for size in ("small", "large"))
# Panels 7, 8 and 9 hold the large instances: 24 of them with five seeds.
SIZES = (20,) * 7 + (24,) * 3
SEEDS = (10,) * 7 + (5,) * 3

EXPECTED = {
    "runs": 8800,
    "instances": 212,
    # gamma: one invalid candidate in each of 109 runs. sliced: three in every run that is not empty (1752 runs), one
    # more at the end of 71 of them, and every candidate of the 8 empty ones.
    "rejected": {"alpha": 0, "beta": 0, "delta": 0, "gamma": 109, "sliced": 3 * 1752 + 71 + 8 * 12},
    "terminal_invalid": {"alpha": 0, "beta": 0, "delta": 0, "gamma": 0, "sliced": 79},
    "empty": {"alpha": 0, "beta": 0, "delta": 0, "gamma": 0, "sliced": 8},
    "late": {"alpha": 50, "beta": 0, "delta": 0, "gamma": 0, "sliced": 0},
    "crashed": {"alpha": 0, "beta": 0, "delta": 5, "gamma": 0, "sliced": 0},
    # delta ends at 1.5 except in panel 5; there gamma stays at 1.12; the empty runs. Under the analysis reference gamma
    # and sliced also stay above 1.1 in panel 6 (reference x 0.94) and sliced, gamma in panel 4 (reference x 0.98).
    "saturated": {
        ("dimacs:1.1", "given"): (1760 - 200) + 200 + 8,
        ("dimacs:1.1", "analysis"): (1760 - 200) + 200 + 8 + 4 * 200,
        ("dimacs:2", "given"): 8,
        ("dimacs:2", "analysis"): 8,
    },
    # alpha ends at 0.94 in panel 6 and at 0.98 in panel 4, where only the squeezed score stays above zero.
    "negative": {("squeezed", "given"): 200, ("maxform", "given"): 400, ("berthold", "given"): 0}
    | {(kernel, "analysis"): 0 for kernel in ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2")},
    # Panels 6 and 4 wholly (20 each), and 14 instances of panel 8 in one seed.
    "changed": 54,
    "pairs": 60,
    "reversals": {
        ("Cedar large", "delta", "gamma", "squeezed given", "dimacs:1.1 given", False),
        ("Cedar large", "delta", "gamma", "squeezed analysis", "dimacs:1.1 analysis", False),
        ("Elm small", "alpha", "beta", "squeezed given", "berthold given", True),
        ("Elm small", "alpha", "beta", "berthold given", "berthold analysis", True),
    },
    # Panel: pair, |d score|, |d final|, |d attainment|.
    "contrasts": {
        ("Ash small", "gamma", "sliced"): (0.001, 0.03, 0.0),
        ("Ash large", "alpha", "beta"): (0.004, 0.004, 1.0),
        ("Birch large", "gamma", "sliced"): (0.002, 0.012, 0.0),
        ("Fir large", "beta", "gamma"): (None, None, 3 / 24),
    },
    "grid": {0.0025: {0.005: (3, 3, 2), 0.01: (3, 3, 2), 0.02: (2, 2, 1)},
             0.005: {0.005: (4, 4, 3), 0.01: (4, 4, 3), 0.02: (3, 3, 2)},
             0.01: {0.005: (5, 5, 4), 0.01: (4, 4, 3), 0.02: (3, 3, 2)}},
}  # fmt: skip


class Profile(NamedTuple):
    """First incumbent at `t0` with ratio `r0`, last one at `t1` with ratio `r1`; times before the run's own pace."""

    t0: float
    r0: float
    t1: float
    r1: float


BASE = {
    "alpha": Profile(4, 1.30, 32, 1.008),
    "beta": Profile(8, 1.50, 96, 1.03),
    "gamma": Profile(16, 1.60, 128, 1.08),
    "sliced": Profile(24, 1.80, 200, 1.095),
    "delta": Profile(32, 4.00, 256, 1.50),
}


@dataclass(frozen=True)
class Planted:
    campaign: Campaign
    snapshot: Snapshot


def pace(index: int, seed: int) -> float:
    """How much slower this instance and seed are: all arms alike."""
    return (1 + (index % 5) / 32) * (1 + seed / 128)


def mean_pace(panel: int) -> float:
    return sum(pace(i, s) for i in range(SIZES[panel]) for s in range(SEEDS[panel])) / (SIZES[panel] * SEEDS[panel])


def squeeze(ratio: float) -> float:
    return (ratio - 1) / (ratio + 1)


def panel_score(profile: Profile, panel: int) -> float:
    """Mean squeezed score of a panel whose runs all have this profile: linear in the pace."""
    first, last = squeeze(profile.r0), squeeze(profile.r1)
    return last + mean_pace(panel) * (profile.t0 * (1 - first) + profile.t1 * (first - last)) / HORIZON


def tuned(profile: Profile, panel: int, score: float) -> Profile:
    """Move `t1` so that the panel score is the given one."""
    first, last = squeeze(profile.r0), squeeze(profile.r1)
    rest = (score - last) * HORIZON / mean_pace(panel) - profile.t0 * (1 - first)
    return profile._replace(t1=rest / (first - last))


def profile_of(arm: str, panel: int, index: int, seed: int) -> Profile:  # noqa: PLR0911 (one line per planted case)
    base = BASE[arm]
    if panel == 0 and arm == "sliced":
        return tuned(base._replace(r1=1.05), 0, panel_score(BASE["gamma"], 0) + 0.001)
    if panel == 1 and arm in ("alpha", "beta"):
        near = tuned(base._replace(t0=4, r1=1.012), 1, panel_score(BASE["alpha"], 1) + 0.004)
        return base if arm == "alpha" else near
    if panel == 2 and arm == "sliced":
        return tuned(base._replace(r1=1.072), 2, panel_score(BASE["gamma"], 2) + 0.008)
    if panel == 3 and arm == "sliced":
        return tuned(base._replace(r1=1.068), 3, panel_score(BASE["gamma"], 3) + 0.002)
    if panel == 4 and arm == "alpha":
        return Profile(5.4, 1.30, 43.2, 0.98)
    if panel == 5 and arm == "gamma":
        return Profile(16, 1.15, 128, 1.12)
    if panel == 5 and arm == "delta":
        return Profile(400, 4.00, 700, 1.05)
    if panel == 6 and arm == "alpha":
        return base._replace(r1=0.94)
    if panel == 8 and arm == "beta" and index < 14 and seed == 0:
        return base._replace(r1=0.999)
    if panel == 9 and arm in ("beta", "gamma"):
        return Profile(8, 1.50, 96, 1.013 if arm == "beta" and index < 3 else 1.006)
    return base


class Event(NamedTuple):
    time: float
    objective: float
    valid: bool


def trace(arm: str, panel: int, index: int, seed: int, *, candidates: int, improving: bool) -> list[Event]:
    """Everything one run emitted, in order of time."""
    times, objectives, valid = columns(arm, panel, index, seed, candidates=candidates, improving=improving)
    return [Event(*event) for event in zip(times.tolist(), objectives.tolist(), valid.tolist(), strict=True)]


def columns(arm, panel, index, seed, *, candidates, improving):
    profile, slower = profile_of(arm, panel, index, seed), pace(index, seed)
    reference = reference_of(panel, index)
    start, end = profile.t0 * slower, profile.t1 * slower
    number = run_number(panel, index, seed)
    if improving:
        # For benchmarks: no two runs share a stamp, as on a real clock.
        start, end = start * (1 + 1e-5 * number), end * (1 + 1e-5 * number)
    extra = extra_events(arm, number, end, reference)
    if arm == "sliced" and number in EMPTY:
        times = np.linspace(start, end, candidates)
        return times, np.full(candidates, reference * 0.5), np.zeros(candidates, bool)
    fill = candidates - 2 - len(extra)
    between = np.linspace(start, end, fill + 2)
    share = np.linspace(0, 1, fill + 2)
    if improving:
        ratios = profile.r0 + (profile.r1 - profile.r0) * share
    else:
        ratios = np.full(fill + 2, profile.r0 * 1.001)
        ratios[0], ratios[-1] = profile.r0, profile.r1
    times = np.concatenate([between, [event.time for event in extra]])
    objectives = np.concatenate([ratios * reference, [event.objective for event in extra]])
    valid = np.concatenate([np.ones(fill + 2, bool), np.array([event.valid for event in extra], bool)])
    order = np.argsort(times, kind="stable")
    return times[order], objectives[order], valid[order]


EMPTY = frozenset(range(1500, 1508))
TERMINAL = frozenset(range(200, 271))


def extra_events(arm: str, number: int, end: float, reference: float) -> list[Event]:
    """Candidates that must not count: invalid ones that look good, and late ones."""
    events = []
    if arm == "gamma" and number < 109:
        events.append(Event(end / 2, reference * 0.5, False))
    if arm == "sliced":
        events += [Event(end * k / 8, reference * 0.5, False) for k in (3, 4, 5)]
        if number in TERMINAL:
            events.append(Event(1000.0, reference * 0.5, False))
    if arm == "alpha" and number < 50:
        events.append(Event(1.5 * HORIZON, reference * 0.5, True))
    return events


def run_number(panel: int, index: int, seed: int) -> int:
    """The number of a run inside its arm."""
    before = sum(size * seeds for size, seeds in zip(SIZES[:panel], SEEDS[:panel], strict=True))
    return before + index * SEEDS[panel] + seed


def instance_name(panel: int, index: int) -> str:
    return f"{PANELS[panel].replace(' ', '-')}-{index:02d}"


def reference_of(panel: int, index: int) -> float:
    return 1000.0 + 100.0 * panel + index


def cells():
    """Yield (arm, panel number, index in the panel, seed) of every run."""
    for arm in ARMS:
        for panel, (size, seeds) in enumerate(zip(SIZES, SEEDS, strict=True)):
            for index in range(size):
                for seed in range(seeds):
                    yield arm, panel, index, seed


def plant(*, candidates: int = 12, improving: bool = False, tier: bool = False) -> Planted:
    """Build the campaign and the snapshot that was frozen before it."""
    rows, pieces = [], []
    for arm, panel, index, seed in cells():
        pieces.append(columns(arm, panel, index, seed, candidates=candidates, improving=improving))
        crashed = arm == "delta" and run_number(panel, index, seed) < 5
        rows.append((arm, instance_name(panel, index), PANELS[panel], seed, "crashed" if crashed else "time-limit"))
    count = np.array([len(piece[0]) for piece in pieces])
    runs = pl.DataFrame(rows, schema=["arm", "instance", "panel", "seed", "status"], orient="row").with_columns(
        horizon=pl.lit(HORIZON),
        first=pl.Series(np.concatenate(([0], np.cumsum(count)[:-1])), dtype=pl.Int64),
        count=pl.Series(count, dtype=pl.Int64),
    )
    if tier:
        runs = runs.with_columns(tier=pl.when(pl.col("arm") == "sliced").then(2).otherwise(1))
    campaign = Campaign.from_arrays(
        runs=runs,
        time=np.concatenate([piece[0] for piece in pieces]),
        objective=np.concatenate([piece[1] for piece in pieces]),
        verdict=np.concatenate([piece[2] for piece in pieces]).astype(np.uint8),
    )
    values = {instance_name(p, i): reference_of(p, i) for p, size in enumerate(SIZES) for i in range(size)}
    return Planted(campaign, Snapshot.from_values(values, name="frozen before"))

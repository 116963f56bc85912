"""A small study with everything that goes wrong: an empty run, a crash, rejected and late candidates, missing cells."""

import numpy as np
import polars as pl

import gapline as gl
from gapline.report.write import for_report
from gapline.study import Study

PANELS = {"small": ("s1", "s2", "s3"), "large": ("l1", "l2")}
ARMS = ("alpha", "beta", "gamma")
REASONS = ("", "capacity exceeded", "customer visited twice")
KERNELS = ("squeezed", "maxform", "berthold", "dimacs:1.1", "dimacs:2", "raw")
GOALS = (0.02, 0.0, 0.2)
HORIZON = 30.0


def make_campaign(
    *,
    seed: int = 5,
    start_at_zero: bool = False,
    horizons: dict[str, float] | None = None,
    above: float = -0.06,
    steps: int = 25,
    decimals: int | None = None,
    lacking: bool = False,
) -> tuple[gl.Campaign, dict[str, float]]:
    """Return runs of three arms on five instances, and references; `above` is where final gaps begin.

    One arm has a seed less on one instance, or lacks it, if `lacking`. With `decimals`, times and objectives are such
    decimal numbers, which the page carries exactly.
    """
    generator = np.random.default_rng(seed)
    references, rows, columns = {}, [], {"time": [], "objective": [], "verdict": [], "reason": []}
    for panel, names in PANELS.items():
        for name in names:
            references[name] = float(generator.uniform(50, 5000))
            horizon = (horizons or {}).get(name, HORIZON)
            for number, arm in enumerate(ARMS):
                for run in (1, 2):
                    if (arm, name) == ("gamma", "l2") and (lacking or run == 2):
                        continue
                    empty = (arm, name, run) == ("beta", "s2", 2)
                    size = 0 if empty else int(generator.integers(8, steps))
                    time = np.sort(generator.uniform(0.01, 1.1 * horizon, size))
                    if start_at_zero and size:
                        time[0] = 0.0
                    fall = np.sort(generator.uniform(0, 0.6 + 0.2 * number, size))[::-1]
                    objective = references[name] * (1 + above + 0.01 * number + fall)
                    valid = generator.random(size) > 0.12
                    if start_at_zero and size:
                        valid[0] = True
                    columns["time"].append(time)
                    columns["objective"].append(np.where(valid, objective, 0.8 * objective))
                    columns["verdict"].append(valid.astype(np.uint8))
                    columns["reason"].append(np.where(valid, 0, generator.integers(1, 3, size)).astype(np.uint8))
                    status = "crashed" if empty else "time-limit"
                    rows.append((arm, name, panel, run, horizon, status, size, f"2026-08-0{run}T10:00:00+00:00"))
    schema = ["arm", "instance", "panel", "seed", "horizon", "status", "count", "started"]
    runs = pl.DataFrame(rows, schema=schema, orient="row")
    runs = runs.with_columns(first=pl.col("count").cum_sum() - pl.col("count"))
    whole = {name: np.concatenate(parts) for name, parts in columns.items()}
    if decimals is not None:
        whole |= {name: np.round(whole[name], decimals) for name in ("time", "objective")}
        references = {name: round(value, decimals) for name, value in references.items()}
    return gl.Campaign.from_arrays(runs=runs, reasons=REASONS, **whole), references


def make_study(
    *,
    title: str = "A small study",
    weight: str = "uniform",
    kernels: tuple[str, ...] = KERNELS,
    tier_two: tuple[str, ...] = (),
    contrasts: tuple[tuple[str, str], ...] = (("alpha", "beta"),),
    **choices: object,
) -> Study:
    campaign, references = make_campaign(**choices)  # type: ignore[arg-type]
    frozen = gl.Snapshot.from_values(references, name="known before", as_of="2026-01-01T00:00:00Z")
    study = gl.open_study(
        campaign,
        snapshots=[frozen],
        title=title,
        kernels=kernels,
        goals=GOALS,
        weight=weight,
        tier_two=tier_two,
        contrasts=contrasts,
        draws=400,
    )
    return for_report(study)

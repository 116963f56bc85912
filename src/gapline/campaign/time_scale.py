"""Scale the times of runs to a reference machine, by a factor per host."""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.columns import multiplied
from gapline.contract.tables import RUN_KEY, RunKey
from gapline.contract.time_scale import DECLARED, PLACES, TimeScale, is_scaled, names_of_hosts
from gapline.errors import HorizonError, UsageError, listing
from gapline.text import as_patterns, matches, meant

Given = str | Sequence[str] | Mapping[str, float]


def settle_time_scale(given: Given, campaigns: Sequence[Campaign], /) -> TimeScale:
    """Return the factor of each host of these campaigns that matches a given name.

    In `HOST=FACTOR`, HOST is a host, a class of machines, or a pattern.
    """
    factors = parse_factors([given] if isinstance(given, str) else given)
    names = [names_ for campaign in campaigns for names_ in _names(campaign)]
    known = sorted({name for one in names for name in one})
    for pattern in factors:
        if not any(matches(name, [pattern]) for name in known):
            hint = (
                meant(pattern, known, show=True) if known else "no run says on which host it was made (column `host`)"
            )
            raise UsageError(f"--time-scale {pattern}: matches no run", hint=hint)
    settled = {}
    for one in dict.fromkeys(names):
        fitting = {factors[pattern] for pattern in factors if any(matches(name, [pattern]) for name in one)}
        if len(fitting) > 1:
            shown = listing(f"{factor:g}" for factor in sorted(fitting))
            raise UsageError(f"time scale: expected one factor for {one[0]}, got {shown}")
        if fitting:
            settled[one[0]] = fitting.pop()
    return TimeScale(tuple(sorted(settled.items())), DECLARED)


def parse_factors(given: str | Iterable[str] | Mapping[str, float], /) -> dict[str, float]:
    """Parse one or several `HOST=FACTOR`.

    >>> parse_factors(["node2=1.37", "AMD EPYC*=0.9"])
    {'node2': 1.37, 'AMD EPYC*': 0.9}
    """
    pairs: list[tuple[str, object]] = []
    if isinstance(given, Mapping):
        pairs = list(given.items())
    else:
        pairs = [(name, factor) for name, _, factor in (one.rpartition("=") for one in as_patterns(tuple(given)))]
    factors = {}
    for name, written in pairs:
        try:
            factor = float(written)  # type: ignore[arg-type]
        except (TypeError, ValueError):
            factor = math.nan
        if not name or not (math.isfinite(factor) and factor > 0):
            said = "=".join(filter(None, (name, str(written))))
            raise UsageError(
                f"time scale: expected HOST=FACTOR with a positive factor, got {said!r}",
                hint="HOST=1.37",
            )
        if name in factors:
            raise UsageError(f"time scale: expected each host once, got {name} again")
        factors[name] = factor
    return factors


def scale_times(campaign: Campaign, scale: TimeScale, /) -> Campaign:
    """Multiply every time of the runs by the factor of their host.

    `horizon` becomes the budget in seconds of the reference machine. `own_horizon` keeps the stated budget, which is
    the default horizon of the scores; `time_scale` and `time_scale_source` record the factor and its source. What the
    runner measured on the host itself (elapsed, CPU time, load) is not scaled.

    >>> run = {"arm": "a", "instance": "i", "seed": 1, "horizon": 10, "host": "node2", "trace": [(2, 30.0)]}
    >>> scaled = scale_times(Campaign.from_runs([run]), TimeScale((("node2", 1.5),), DECLARED))
    >>> scaled.time.tolist(), scaled.runs.select("horizon", "own_horizon").row(0)
    ([3.0], (15.0, 10.0))
    """
    runs = campaign.runs
    if is_scaled(runs):
        raise UsageError("time scale: expected times as they were recorded, got runs that are scaled already")
    if "clock" in runs.columns and "evaluations" in set(runs["clock"]):
        raise UsageError("time scale: expected runs in seconds, got some that count evaluations")
    if not set(PLACES) & set(runs.columns):
        runs = runs.with_columns(machine=pl.lit(campaign.facts.get("machine"), pl.String))
    known = dict(scale.factors)
    factors = np.array([next((known[n] for n in names if n in known), 1.0) for names in _names(campaign)], np.float64)
    silent = runs.filter(pl.Series(factors != 1.0) & runs["horizon"].is_null())
    if silent.height:
        shown = listing((str(RunKey(*row)) for row in silent.select(RUN_KEY).iter_rows()), most=3)
        raise HorizonError(
            f"time scale: expected the budget of every run that is scaled, got none for {silent.height:,}: {shown}",
            hint="give the runs a `horizon` column, in seconds of the machine that they ran on",
        )
    column = pl.Series(factors)
    extra = {"resolution": runs["resolution"] * column} if "resolution" in runs.columns else {}
    return replace(
        campaign,
        time=multiplied(campaign.time, runs, column),
        origin=campaign.origin and replace(campaign.origin, scaled=True),
        runs=runs.with_columns(
            own_horizon=runs["horizon"],
            horizon=runs["horizon"] * column,
            time_scale=column,
            time_scale_source=pl.lit(scale.source),
            **extra,
        ),
    )


def _names(campaign: Campaign) -> list[tuple[str, ...]]:
    """Return the names by which a factor can refer to each run, its host first."""
    if not set(PLACES) & set(campaign.runs.columns):
        stated = campaign.facts.get("machine")
        return [(stated,) if stated else ()] * len(campaign)
    return names_of_hosts(campaign.runs)

"""Means, medians, quantiles and trimmed means of scores, and missing runs of arms."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
import polars as pl

from gapline.contract.argument_checks import expect
from gapline.contract.instance_set import decide_instance_set
from gapline.contract.ladders import find_ladders
from gapline.contract.reading import add_coverage
from gapline.contract.row_groups import Numbered
from gapline.contract.tables import CELL
from gapline.contract.time_scale import join_time_scales
from gapline.errors import MixedScoresError, UsageError, listing
from gapline.journal.plan_coverage import every_arm_has_every_cell
from gapline.native.arrays import Floats, Integers
from gapline.scoring.curve import group_rows
from gapline.scoring.endpoints import attainment_name
from gapline.scoring.run_references import ReadTable
from gapline.scoring.scores import Scores, goal_name
from gapline.scoring.weighting import Weighting, parse_weighting, run_weights


@dataclass(frozen=True, slots=True)
class Balance:
    """The missing runs, if any.

    Without a plan a run is missing if other arms have more runs on an instance than this one. Different instances of
    arms are reported by `gapline.contract.instance_set` instead.
    """

    missing: pl.DataFrame

    @property
    def complete(self) -> bool:
        """Whether no run is missing."""
        return self.missing.height == 0

    def notes(self) -> list[str]:
        """Return notes on missing runs for readers of the means, empty if no run is missing."""
        if self.complete:
            return []
        shown = []
        for (arm,), cells in self.missing.sort(CELL).group_by("arm", maintain_order=True):
            instance, seed = cells.select("instance", "seed").row(0)
            more = f" and {cells.height - 1:,} more" if cells.height > 1 else ""
            shown.append(f"{arm} ({instance}, seed {seed}{more})")
        return [f"missing runs: {listing(shown, most=5)}; means are over the runs that are there"]


def check_balance(runs: pl.DataFrame | Numbered) -> Balance:
    """Find instances on which an arm has fewer runs than another arm; different seeds alone are not missing runs."""
    numbered = runs if isinstance(runs, Numbered) else Numbered(runs)
    table = numbered.table.select(CELL)
    if every_arm_has_every_cell(numbered):
        return Balance(table.clear())
    # A ladder may have other seeds than other arms: its steps are compared with each other.
    ladder = {arm: name for name, steps in find_ladders(numbered.table).items() for arm in steps}
    table = table.with_columns(ladder=pl.col("arm").replace_strict(ladder, default="", return_dtype=pl.String))
    unit = ["ladder", "panel", "instance"]
    sizes = table.group_by("arm", *unit).len()
    fewer = sizes.filter(pl.col("len") < pl.col("len").max().over(unit)).select("arm", *unit)
    seeds = table.select(*unit, "seed").unique()
    return Balance(fewer.join(seeds, on=unit).select(CELL).join(table, on=CELL, how="anti").sort(CELL))


_COUNTS = ("rejected", "late", "unchecked")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Summary(ReadTable):
    """One row per group: counts, a column per kernel, final gap (of non-empty runs), attainment per goal.

    `why_unranked` maps the kernels under which arms are not ranked to the reason.
    """

    by: tuple[str, ...]
    statistic: str
    balance: Balance
    notes: tuple[str, ...] = ()
    why_unranked: Mapping[str, str] = field(default_factory=dict)

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return f"{self.statistic}; {self.reading.line()}"


def summarise(
    scores: Scores | Sequence[Scores],
    /,
    *,
    by: str | Sequence[str] = "arm",
    weighting: str | Weighting = "panel",
    statistic: str = "mean",
) -> Summary:
    """Summarise scores by group.

    Parameters
    ----------
    scores
        One reading, or several parts of one (other runs, the same snapshot, kernels and weight).
    by
        Columns that make the groups.
    weighting
        `panel` (every panel counts equally: the paper's equation 6), `instance` or `run`.
    statistic
        `mean`, `median`, `quantile:Q` or `trimmed:SHARE` (that share is cut off at each end); the area identity holds
        only for the mean.

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": [(s, 30.0)]} for s in (0, 5)]
    >>> scores = gl.score(gl.build_envelopes(gl.Campaign.from_runs(runs)),
    ...                   gl.Snapshot.from_values({"i": 10.0}, name="mine"))
    >>> gl.summarise(scores).frame.select("arm", "runs", "squeezed", "final_gap").row(0)
    ('a', 2, 0.625, 2.0)
    """
    parts = scores if isinstance(scores, list | tuple) else [scores]
    whole = pool_scores([expect(part, Scores, "summarise") for part in parts])
    check_horizons(whole.frame)
    groups = [by] if isinstance(by, str) else list(by)
    rule = parse_weighting(weighting)
    rows = whole.rows
    weights = run_weights(rows, by=groups, weighting=rule)
    present = whole.frame["steps"].to_numpy() > 0
    # Separate weights: the final gap is over non-empty runs, whose weights have to sum to one.
    present_weights = run_weights(rows, by=groups, weighting=rule, among=present)
    locate = parse_statistic(statistic)
    own = (*whole.kernels, *whole.statistics)
    reached = {goal: np.isfinite(whole.frame[goal_name(goal)].to_numpy()) for goal in whole.goals}
    counts = {name: whole.frame[name].to_numpy() for name in _COUNTS}
    found = []
    for key, chosen in group_rows(rows, groups):
        part_weights, there = weights[chosen], chosen[present[chosen]]
        row: dict[str, Any] = dict(zip(groups, key, strict=True))
        row |= {"runs": len(chosen), "empty": len(chosen) - len(there)}
        row |= {name: int(column[chosen].sum()) for name, column in counts.items()}
        # Each of the means needs this sum, which takes as long as a mean.
        total = _sum_of_weights(part_weights)
        place = partial(weighted_mean, total=total) if locate is weighted_mean else locate
        for name in own:
            # A mean over only the runs with a raw score would be over other runs than the rest of the row.
            values = _numbers(whole.frame[name], chosen)
            row[name] = None if values is None else place(values, part_weights)
        gaps = _numbers(whole.frame["final_gap"], there)
        row["final_gap"] = locate(gaps, present_weights[there]) if gaps is not None and len(gaps) else None
        squeezed = _numbers(whole.frame["final_squeezed"], chosen)
        row["final_squeezed"] = None if squeezed is None else place(squeezed, part_weights)
        for goal, hit in reached.items():
            row[attainment_name(goal)] = _sum_of_weights(part_weights[hit[chosen]]) / total
        found.append(row)
    # With a plan, the coverage reports missing runs; without one, runs are missing compared with other arms.
    planned = whole.reading.coverage.planned is not None
    balance = Balance(rows.table.select(CELL).clear()) if planned else check_balance(rows)
    return Summary(
        frame=pl.DataFrame(found, infer_schema_length=None),
        by=tuple(groups),
        statistic=statistic,
        reading=replace(whole.reading, weighting=rule.value),
        balance=balance,
        notes=(*whole.notes, *balance.notes()),
        why_unranked={kernel: why for kernel in whole.kernels if (why := whole.why_unranked(kernel)) is not None},
    )


def _numbers(column: pl.Series, rows: Integers) -> Floats | None:
    """Return the numbers of some rows, None if one of them is null."""
    if not column.null_count():
        return column.to_numpy()[rows]
    part = column.gather(rows)
    return None if part.null_count() else part.to_numpy()


def pool_scores(parts: Sequence[Scores]) -> Scores:
    """Join parts of one reading; parts with different choices are refused, and the choices listed."""
    if not parts:
        raise UsageError("summarise: expected scores, got none")
    if len(parts) == 1:
        return parts[0]
    for what in ("reference", "kernels", "weight", "transform", "goals", "tolerance", "statistics", "checker", "code"):
        values = list(dict.fromkeys(str(getattr(part.reading, what)) for part in parts))
        if len(values) > 1:
            raise MixedScoresError(
                f"expected scores of one {what}, got {len(values)}: {listing(values)}",
                hint="score the same runs again under one choice, or summarise each reading on its own",
            )
    frame = pl.concat([part.frame for part in parts], how="diagonal_relaxed")
    if frame.select("arm", "instance", "seed").is_duplicated().any():
        raise MixedScoresError("expected disjoint runs, got some of them in more than one part")
    notes = tuple(dict.fromkeys(note for part in parts for note in part.notes))
    label = parts[0].reading.reference
    rule = parts[0].reading.instance_set.rule
    tier_two = tuple(sorted({arm for part in parts for arm in part.reading.tier_two}))
    lacking = {name for part in parts for name in part.reading.reference.unreferenced}
    reading = replace(
        parts[0].reading,
        reference=replace(label, unreferenced=tuple(sorted(lacking))),
        validation=", ".join(dict.fromkeys(part.reading.validation for part in parts)),
        horizons=tuple(sorted({h for part in parts for h in part.reading.horizons})),
        announced=tuple(sorted({h for part in parts for h in part.reading.announced})),
        tier_two=tier_two,
        instance_set=decide_instance_set(frame, tier_two=tier_two, rule=rule),
        coverage=add_coverage([part.reading.coverage for part in parts]),
        time_scale=join_time_scales([part.reading.time_scale for part in parts]),
    )
    return Scores(frame=frame, reading=reading, notes=notes)


def check_horizons(frame: pl.DataFrame) -> None:
    """Refuse runs of one instance that were scored at different horizons; between instances they may differ."""
    if frame["horizon"].min() == frame["horizon"].max():
        return
    clashing = (
        frame.group_by("panel", "instance")
        .agg(pl.col("horizon").unique().sort())
        .filter(pl.col("horizon").list.len() > 1)
    ).sort("panel", "instance")
    if clashing.height:
        shown = listing((f"{i}: {listing(f'{h:g}' for h in hs)} s" for _, i, hs in clashing.iter_rows()), most=5)
        raise MixedScoresError(
            f"expected one horizon per instance, got several for {clashing.height}: {shown}",
            hint="score all of them at the shortest one with --horizon",
        )


def parse_statistic(name: str) -> Any:
    """Return the function (values, weights) -> number behind `mean`, `median`, `quantile:Q` or `trimmed:SHARE`."""
    head, _, argument = name.partition(":")
    if head == "mean" and not argument:
        return weighted_mean
    if head == "median" and not argument:
        return lambda values, weights: weighted_quantile(values, weights, 0.5)
    try:
        share = float(argument)
    except ValueError:
        share = -1.0
    if head == "quantile" and 0 <= share <= 1:
        return lambda values, weights: weighted_quantile(values, weights, share)
    if head == "trimmed" and 0 <= share < 0.5:
        return lambda values, weights: trimmed_mean(values, weights, share)
    raise UsageError(f"statistic: expected mean, median, quantile:Q or trimmed:SHARE, got {name!r}")


def weighted_mean(values: Floats, weights: Floats, *, total: float | None = None) -> float:
    """Return Σ w x / Σ w, compensated; `total` is Σ w if it is already known."""
    return math.fsum(values * weights) / (math.fsum(weights) if total is None else total)


def _sum_of_weights(weights: Floats) -> float:
    """Return the exact sum of weights, rounded once; for equal weights a product, which is rounded once too."""
    if len(weights) and weights.min() == weights.max():
        return len(weights) * float(weights[0])
    return math.fsum(weights)


def weighted_quantile(values: Floats, weights: Floats, share: float) -> float:
    """Return the smallest value whose cumulated weight reaches the share; the midpoint of two if it is met exactly.

    >>> weighted_quantile(np.array([1.0, 2.0, 3.0, 4.0]), np.full(4, 0.25), 0.5)
    2.5
    """
    order = np.argsort(values, kind="stable")
    cumulated = np.cumsum(weights[order]) / weights.sum()
    # Cumulated weights may miss a share such as 0.3 in the last bits.
    place = int(np.searchsorted(cumulated, share - 1e-12))
    place = min(place, len(values) - 1)
    exact = abs(cumulated[place] - share) <= 1e-12 and place + 1 < len(values) and 0 < share < 1
    return float((values[order][place] + values[order][place + 1]) / 2) if exact else float(values[order][place])


def trimmed_mean(values: Floats, weights: Floats, share: float) -> float:
    """Return the mean of the rest after cutting off `share` of the weight at each end.

    >>> trimmed_mean(np.array([1.0, 2.0, 3.0, 100.0]), np.full(4, 0.25), 0.25)
    2.5
    """
    order = np.argsort(values, kind="stable")
    upper = np.cumsum(weights[order]) / weights.sum()
    lower = np.append(0.0, upper[:-1])
    kept = np.clip(np.minimum(upper, 1 - share) - np.maximum(lower, share), 0.0, None)
    return weighted_mean(values[order], kept)

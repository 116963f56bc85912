"""The page of a very large study: means, counts, pairs, and curves at a few hundred moments."""

import math
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from gapline.envelope.passes import bring
from gapline.native.slices import step_groups, step_places
from gapline.report.numbers import number_or_overflow
from gapline.report.page import encode
from gapline.report.page.data import PageData, page_document, snapshot_words
from gapline.report.page.encode import Floats, Grid, Integers
from gapline.scoring.endpoints import attainment_name, first_steps
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.moments import log_start, moments_of_both
from gapline.scoring.run_references import reference_column
from gapline.scoring.scores import Scores, goal_name
from gapline.scoring.weighting import Weighting, run_weights
from gapline.statistics.cells import CellIndex, build_cells, sign
from gapline.statistics.means import summarise
from gapline.study import Study

# The most numbers for curves on a page, and the most and least moments of one curve.
MOST_VALUES, MOST_MOMENTS, LEAST_MOMENTS = 400_000, 600, 12
# More digits than any figure shows, but few enough that the order of a sum does not change them.
DECIMALS = 9


class Curves(NamedTuple):
    """Moments, and the curves of every arm there: weighting → reference → kernel or goal → arm → values.

    An arm without a mean curve (raw before a first incumbent) has an empty list.
    """

    time: list[float]
    mean: dict[str, list[list[list[list[float]]]]]
    attainment: dict[str, list[list[list[list[float]]]]]


def curves_at_moments(study: Study, arm: Integers, arms: int, /) -> Curves:
    """Return the curves of the arms; `arm` holds the arm number of each run."""
    weights = {rule.value: run_weights(study.envelopes.runs, by=["arm"], weighting=rule) for rule in list(Weighting)}
    curves = arms * len(weights) * len(study.references) * (len(study.kernels) + len(study.goals))
    moments = page_moments(study, min(MOST_MOMENTS, max(LEAST_MOMENTS, MOST_VALUES // max(1, curves))))
    mean = _mean_curves(study, arm, arms, moments, weights)
    horizons = study.envelopes.runs["horizon"].to_numpy() if study.relative else 1.0
    attainment: dict[str, list[Any]] = {name: [] for name in weights}
    for scores in study.scores:
        hits = [scores.frame[goal_name(goal)].to_numpy() / horizons for goal in study.goals]
        for name, column in weights.items():
            found = [np.minimum(_risen(hit, column, arm, arms, moments), 1.0) for hit in hits]
            attainment[name].append([_rounded(values) for values in found])
    return Curves(moments.tolist(), mean, attainment)


def page_moments(study: Study, count: int, /) -> Floats:
    """Return the moments of the curves, which serve both time axes."""
    end = 1.0 if study.relative else float(study.envelopes.runs["horizon"].to_numpy().max())
    return moments_of_both(log_start(study.envelopes, relative=study.relative), end, count)


def _risen(hits: Floats, weights: Floats, arm: Integers, arms: int, moments: Floats) -> Floats:
    """Return the weight of the runs that reached a goal by each moment (arms × moments)."""
    place = np.searchsorted(moments, hits, side="left")
    reached = place < len(moments)
    cells = arm[reached] * len(moments) + place[reached]
    added = np.bincount(cells, weights=weights[reached], minlength=arms * len(moments))
    return np.cumsum(added.reshape(arms, len(moments)), axis=1)


def _mean_curves(
    study: Study, arm: Integers, arms: int, moments: Floats, weights: dict[str, Floats]
) -> dict[str, list[Any]]:
    """Sum the gap changes of all runs, each at the first moment that is not before it."""
    envelopes = bring(study.envelopes)
    runs = envelopes.runs
    first, count = runs["first"].to_numpy(), runs["count"].to_numpy()
    kernels = [parse_kernel(name, tolerance=study.tolerance) for name in study.kernels]
    references = [reference_column(entry.snapshot, study.envelopes) for entry in study.references]
    shape = (len(references), len(kernels), arms * len(moments))
    added = {name: np.zeros(shape) for name in weights}
    for low, high in step_groups(count):
        here = slice(low, high)
        places, starts = step_places(first[here], count[here])
        run = np.repeat(np.arange(low, high), count[here])
        time, objective = envelopes.time[places], envelopes.objective[places]
        scaled = time / runs["horizon"].to_numpy()[run] if study.relative else time
        # However it was rounded, a step at or before the end is at most in the last place.
        place = np.minimum(np.searchsorted(moments, scaled, side="left"), len(moments) - 1)
        cells = arm[run] * len(moments)
        cells += place
        # The arrays of a group take most of the memory for a page.
        del place, scaled
        begins = starts[count[here] > 0]
        for r, column in enumerate(references):
            for k, kernel in enumerate(kernels):
                gaps = kernel(objective, column[run])
                change = np.diff(gaps, prepend=0.0)
                change[begins] = gaps[begins] - (kernel.before or 0.0)
                del gaps
                for name, weight in weights.items():
                    weighed = weight[run]
                    weighed *= change
                    added[name][r, k] += np.bincount(cells, weights=weighed, minlength=shape[2])
    # The count of runs of each arm without an incumbent at time 0.
    absent = np.bincount(arm[first_steps(study.envelopes) != 0], minlength=arms)
    found: dict[str, list[Any]] = {}
    for name, sums in added.items():
        curves = np.cumsum(sums.reshape(*shape[:2], arms, len(moments)), axis=3)
        found[name] = [[_existing(*one, absent) for one in zip(row, kernels, strict=True)] for row in curves]
    return found


def _existing(curves: Floats, kernel: Kernel, absent: Integers) -> list[list[float]]:
    """Return the curves that exist: a kernel undefined before the first incumbent has none for arms in `absent`."""
    whole = _rounded(curves + (kernel.before or 0.0))
    return whole if kernel.before is not None else [[] if n else one for one, n in zip(whole, absent, strict=True)]


def _rounded(curves: Floats) -> list[list[float]]:
    values: list[list[float]] = np.round(curves, DECIMALS).tolist()
    return values


# The most numbers for instances and for panels on a page, and the most pairs of arms.
MOST_UNIT_VALUES, MOST_PANEL_VALUES, MOST_PAIRS = 150_000, 150_000, 2000
# A browser takes long for tables with more rows than this.
MOST_INSTANCES, MOST_PANELS = 1000, 1000


class PageUnits(NamedTuple):
    """The numbers of the instances and panels on a page, in order."""

    units: Integers
    panels: Integers


def stored_data(study: Study, *, log_time: bool = False) -> PageData:
    """Collect the head, and all numbers that the page may show in one block."""
    cells = build_cells(study.scores[0].frame)
    chosen = choose_units(study, cells)
    pairs = page_pairs(study, cells)
    columns = [reference_column(entry.snapshot, study.envelopes) for entry in study.references]
    row_of_unit = np.unique(cells.unit, return_index=True)[1][chosen.units]
    names = [cells.units[unit][1] for unit in chosen.units.tolist()]
    # References are exact, since nothing was rounded here.
    exact = [Grid(0, exact=True)] * len(names)
    curves = curves_at_moments(study, cells.arm, len(cells.arms))
    head = page_document(study, cells) | {
        "units": {"name": names, "panel": cells.panel[chosen.units].tolist()},
        "snapshots": snapshot_words(study, names, [column[row_of_unit] for column in columns], exact),
        "logTime": {
            "seconds": log_start(study.envelopes),
            "share": log_start(study.envelopes, relative=True),
            "declared": log_time,
        },
    }
    # If no pair was tested, the page shows every pair that it can.
    untested = {"low": None, "high": None, "p": None, "p_holm": None, "declared": False, "reason": None}
    head["contrasts"] = head["contrasts"][: len(pairs)] or [
        {"a": cells.arms[a], "b": cells.arms[b], **untested} for a, b in pairs
    ]
    head["stored"] = {
        "runs": study.envelopes.runs.height,
        "instances": len(cells.units),
        "panelsShown": len(chosen.panels),
        "pairsShown": len(pairs),
        "pairs": len(cells.arms) * (len(cells.arms) - 1) // 2,
        "moments": len(curves.time),
    }
    horizons = study.envelopes.runs["horizon"]
    stored = {
        # The texts of the page only need the ends of the horizons.
        "horizons": [horizons.min(), horizons.max()],
        "missing": [[s.frame[name].null_count() for name in study.kernels] for s in study.scores],
        "arms": arm_numbers(study),
        "panels": panel_numbers(study, cells, chosen.panels),
        "units": unit_numbers(study, cells, chosen.units),
        "pairs": pair_numbers(study, cells, pairs),
        "curves": curves._asdict(),
    }
    return PageData(head, {"stored": encode.compress_json(stored)})


def choose_units(study: Study, cells: CellIndex) -> PageUnits:
    """Choose the instances on which the compared arms differ most, and the panels with the most instances."""
    per_row = len(cells.arms) * len(study.kernels) * len(study.references)
    compared = [k for k, arm in enumerate(cells.arms) if arm in (study.ranked_arms or study.tier_one)]
    means = _instance_means(cells, study.scores[0], study.kernels[0])[compared]
    # Instances without a mean of any compared arm have no spread, and come last.
    spread = np.fmax.reduce(means, axis=0, initial=-np.inf) - np.fmin.reduce(means, axis=0, initial=np.inf)
    units = _largest(spread, min(MOST_INSTANCES, max(1, MOST_UNIT_VALUES // per_row)))
    sizes = np.bincount(cells.panel, minlength=len(cells.panels)).astype(np.float64)
    return PageUnits(units, _largest(sizes, min(MOST_PANELS, max(1, MOST_PANEL_VALUES // (2 * per_row)))))


def _largest(values: Floats, most: int) -> Integers:
    """Return the positions of the largest values, in ascending order; of equal values the first ones."""
    return np.sort(np.argsort(-values, kind="stable")[:most])


def page_pairs(study: Study, cells: CellIndex) -> list[tuple[int, int]]:
    """Return the pairs of arms that the page can show, by number: only the tested ones, if there are any."""
    numbers = {arm: k for k, arm in enumerate(cells.arms)}
    if study.contrasts is not None and study.contrasts.frame.height:
        named = study.contrasts.frame.select("a", "b").head(MOST_PAIRS).iter_rows()
        return [(numbers[a], numbers[b]) for a, b in named]
    one, other = np.triu_indices(len(cells.arms), 1)
    return list(zip(one[:MOST_PAIRS].tolist(), other[:MOST_PAIRS].tolist(), strict=True))


def arm_numbers(study: Study, /) -> dict[str, Any]:
    """Return counts of every arm, sorted by name, and its means under each weighting and reference."""
    counts = study.summary.frame.sort("arm")
    ended = study.scores[0].frame.group_by("arm", "status").len().sort("arm", "status")
    statuses: dict[str, dict[str, int]] = {arm: {} for arm in counts["arm"]}
    for arm, status, number in ended.iter_rows():
        statuses[arm][status] = number
    found: dict[str, Any] = {
        **{name: counts[name].to_list() for name in ("runs", "empty", "rejected", "late", "unchecked")},
        "statuses": list(statuses.values()),
        "below": [s.frame.group_by("arm").agg(pl.col("beaten").sum()).sort("arm")["beaten"].to_list()
                  for s in study.scores],
        "score": {}, "finalGap": {}, "attained": {},
    }  # fmt: skip
    for rule in list(Weighting):
        means = [summarise(scores, weighting=rule).frame.sort("arm") for scores in study.scores]
        found["score"][rule.value] = [[_numbers(m[name]) for name in study.kernels] for m in means]
        found["finalGap"][rule.value] = [_numbers(m["final_gap"]) for m in means]
        found["attained"][rule.value] = [[_numbers(m[attainment_name(g)]) for g in study.goals] for m in means]
    return found


def panel_numbers(study: Study, cells: CellIndex, chosen: Integers, /) -> dict[str, Any]:
    """Return, for the chosen panels, instances, empty runs, and means: reference → kernel → arm → panel."""
    size = len(cells.panels)

    def by_panel(values: Floats) -> Floats:
        """Sum columns of units by panel."""
        return np.stack([np.bincount(cells.panel, weights=row, minlength=size) for row in values])

    counts = cells.counts()
    empty = cells.counts((study.scores[0].frame["steps"] == 0).to_numpy())
    rules = {"instance": (counts > 0).astype(np.float64), "run": counts}
    means: dict[str, list[Any]] = {name: [[] for _ in study.scores] for name in rules}
    for r, scores in enumerate(study.scores):
        for kernel in study.kernels:
            table = _instance_means(cells, scores, kernel)
            for name, weights in rules.items():
                with np.errstate(invalid="ignore"):
                    mean = by_panel(np.where(counts > 0, table * weights, 0.0)) / by_panel(weights)
                means[name][r].append(_lists(mean[:, chosen]))
    # Inside one panel, panel-equal is instance-equal.
    return {
        "chosen": chosen.tolist(),
        "instances": np.bincount(cells.panel, minlength=size)[chosen].tolist(),
        "empty": by_panel(empty)[:, chosen].astype(np.int64).tolist(),
        "score": {"panel": means["instance"], **means},
    }


def unit_numbers(study: Study, cells: CellIndex, chosen: Integers, /) -> dict[str, Any]:
    """Return, for the chosen instances, the results of each arm: arm → instance, scores by reference and kernel."""
    frame = study.scores[0].frame
    filled = (frame["steps"] > 0).to_numpy()
    best = np.full((len(cells.arms), len(cells.units)), np.inf)
    np.minimum.at(best, (cells.arm[filled], cells.unit[filled]), frame["best"].to_numpy()[filled])
    best[np.isinf(best)] = np.nan
    return {
        "runs": cells.counts()[:, chosen].astype(np.int64).tolist(),
        "empty": cells.counts(~filled)[:, chosen].astype(np.int64).tolist(),
        "best": _lists(best[:, chosen]),
        "score": [
            [_lists(_instance_means(cells, scores, kernel)[:, chosen]) for kernel in study.kernels]
            for scores in study.scores
        ],
        "finalGap": [
            _lists(cells.instance_means(scores.frame["final_gap"].fill_null(np.nan).to_numpy(), filled)[:, chosen])
            for scores in study.scores
        ],
    }


def pair_numbers(study: Study, cells: CellIndex, pairs: Sequence[tuple[int, int]], /) -> dict[str, Any]:
    """Return, for each pair, the difference of means over common instances, and the count of instances each wins."""
    counts = cells.counts()
    values: dict[str, list[Any]] = {rule.value: [[] for _ in study.scores] for rule in list(Weighting)}
    wins: list[list[list[list[int]]]] = [[] for _ in study.scores]
    for r, scores in enumerate(study.scores):
        for kernel in study.kernels:
            means = _instance_means(cells, scores, kernel)
            for rule, row in values.items():
                row[r].append(_numbers(_difference(means, counts, cells.panel, *pair, rule) for pair in pairs))
            wins[r].append([_wins(means, counts, *pair) for pair in pairs])
    declared = study.contrasts
    if declared is not None and declared.frame.height:
        # Show the tested difference, exact to its last bit.
        shown = declared.frame["difference"].head(len(pairs)).to_list()
        place = values[study.weighting][0][0]
        values[study.weighting][0][0] = [old if new is None else new for old, new in zip(place, shown, strict=True)]
    return {"of": [list(pair) for pair in pairs], "value": values, "wins": wins}


def _difference(means: Floats, counts: Floats, panel: Integers, a: int, b: int, rule: str) -> float:
    common = (counts[a] > 0) & (counts[b] > 0)
    if not common.any():
        return np.nan

    def mean(arm: int) -> float:
        if rule == Weighting.RUN:
            weights = counts[arm, common]
        elif rule == Weighting.INSTANCE:
            weights = np.ones(int(common.sum()))
        else:
            weights = 1.0 / np.bincount(panel[common])[panel[common]]
        return float(np.dot(weights, means[arm, common]) / weights.sum())

    return mean(a) - mean(b)


def _wins(means: Floats, counts: Floats, a: int, b: int) -> list[int]:
    common = (counts[a] > 0) & (counts[b] > 0)
    with np.errstate(invalid="ignore"):
        signs = sign(means[a, common] - means[b, common])
    return [int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())]


def _instance_means(cells: CellIndex, scores: Scores, kernel: str) -> Floats:
    """Return the means over seeds (arms × instances); NaN without a run, or with a run without a score."""
    return cells.instance_means(scores.frame[kernel].fill_null(np.nan).to_numpy())


def _numbers(values: Iterable[float | None]) -> list[float | str | None]:
    return [None if value is None or math.isnan(value) else number_or_overflow(value) for value in values]


def _lists(table: Floats) -> list[list[float | str | None]]:
    return [_numbers(row) for row in table.tolist()]

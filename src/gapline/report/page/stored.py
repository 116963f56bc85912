"""What a page carries where the steps of all runs would be too many: means, counts, pairs, and curves at moments.

Every number that the reader can switch to was computed here, once for each choice; the page only looks it up. What
would need the steps (another horizon, one run) is not offered.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.report.documents import number_or_overflow
from gapline.report.page import encode
from gapline.report.page.data import PageData, kernel_words, page_document, snapshot_words
from gapline.report.page.encode import Floats, Grid, Integers
from gapline.report.page.moments import curves_at_moments
from gapline.scoring.goals import attainment_name
from gapline.scoring.moments import log_start
from gapline.scoring.reading import reference_column
from gapline.scoring.scores import Scores
from gapline.scoring.weighting import Weighting
from gapline.study import Study
from gapline.summary.cells import Cells, build_cells, sign
from gapline.summary.means import summarise

# How many numbers a page can hold of its instances and of its panels, and how many pairs of arms.
MOST_UNIT_VALUES, MOST_PANEL_VALUES, MOST_PAIRS = 150_000, 150_000, 2000
# Of more rows than this a browser takes long to make a table.
MOST_INSTANCES, MOST_PANELS = 1000, 1000


@dataclass(frozen=True, slots=True)
class Carried:
    """Which instances and panels a page carries, by their numbers, in order."""

    units: Integers
    panels: Integers


def stored_data(study: Study, *, log_time: bool = False) -> PageData:
    """Collect the head, and every number that the page can be asked for in one block."""
    cells = build_cells(study.scores[0].frame)
    carried = choose_carried(study, cells)
    pairs = page_pairs(study, cells)
    columns = [reference_column(entry.snapshot, study.envelopes) for entry in study.references]
    row_of_unit = np.unique(cells.unit, return_index=True)[1][carried.units]
    names = [cells.units[unit][1] for unit in carried.units.tolist()]
    # Nothing was rounded here, so references are as they are.
    exact = [Grid(0, exact=True)] * len(names)
    curves = curves_at_moments(study, cells.arm, len(cells.arms))
    head = page_document(
        study,
        cells,
        units={"name": names, "panel": cells.panel[carried.units].tolist()},
        snapshots=snapshot_words(study, names, [column[row_of_unit] for column in columns], exact),
        kernels=kernel_words(study),
        clock=None,
        log_time={
            "seconds": log_start(study.envelopes),
            "share": log_start(study.envelopes, relative=True),
            "declared": log_time,
        },
        blocks={},
    )
    # The page shows every pair that it can make where it is told of none.
    untested = {"low": None, "high": None, "p": None, "p_holm": None, "declared": False, "reason": None}
    head["contrasts"] = head["contrasts"][: len(pairs)] or [
        {"a": cells.arms[a], "b": cells.arms[b], **untested} for a, b in pairs
    ]
    head["stored"] = {
        "runs": study.envelopes.runs.height,
        "instances": len(cells.units),
        "panelsShown": len(carried.panels),
        "pairsShown": len(pairs),
        "pairs": len(cells.arms) * (len(cells.arms) - 1) // 2,
        "moments": len(curves.time),
    }
    horizons = study.envelopes.runs["horizon"]
    stored = {
        # The ends of the horizons are all that the words on the page need of them.
        "horizons": [horizons.min(), horizons.max()],
        "missing": [[s.frame[name].null_count() for name in study.kernels] for s in study.scores],
        "arms": arm_numbers(study),
        "panels": panel_numbers(study, cells, carried.panels),
        "units": unit_numbers(study, cells, carried.units),
        "pairs": pair_numbers(study, cells, pairs),
        "curves": curves._asdict(),
    }
    text = json.dumps(stored, allow_nan=False, separators=(",", ":"))
    return PageData(head, {"stored": encode.compress(text.encode("utf-8"))})


def choose_carried(study: Study, cells: Cells) -> Carried:
    """Choose the instances on which the compared arms differ most, and the panels with the most instances."""
    per_row = len(cells.arms) * len(study.kernels) * len(study.references)
    compared = [k for k, arm in enumerate(cells.arms) if arm in (study.ranked_arms or study.tier_one)]
    means = _instance_means(cells, study.scores[0], study.kernels[0])[compared]
    # What no compared arm has a mean on has no spread, and comes last.
    spread = np.fmax.reduce(means, axis=0, initial=-np.inf) - np.fmin.reduce(means, axis=0, initial=np.inf)
    units = _largest(spread, min(MOST_INSTANCES, max(1, MOST_UNIT_VALUES // per_row)))
    sizes = np.bincount(cells.panel, minlength=len(cells.panels)).astype(np.float64)
    return Carried(units, _largest(sizes, min(MOST_PANELS, max(1, MOST_PANEL_VALUES // (2 * per_row)))))


def _largest(values: Floats, most: int) -> Integers:
    """Return the places of the largest values, in their order; of equal ones the first."""
    return np.sort(np.argsort(-values, kind="stable")[:most])


def page_pairs(study: Study, cells: Cells) -> list[tuple[int, int]]:
    """Return the pairs of arms that the page can show, by number: those that were tested first."""
    numbers = {arm: k for k, arm in enumerate(cells.arms)}
    if study.contrasts is not None and study.contrasts.frame.height:
        named = study.contrasts.frame.select("a", "b").head(MOST_PAIRS).iter_rows()
        return [(numbers[a], numbers[b]) for a, b in named]
    one, other = np.triu_indices(len(cells.arms), 1)
    return list(zip(one[:MOST_PAIRS].tolist(), other[:MOST_PAIRS].tolist(), strict=True))


def arm_numbers(study: Study, /) -> dict[str, Any]:
    """Return counts, and under each weighting and reference the means, of every arm, arms by name."""
    counts = study.summary.frame.sort("arm")
    frame = study.scores[0].frame
    ended = frame.group_by("arm", "status").len().sort("arm", "status")
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


def panel_numbers(study: Study, cells: Cells, chosen: Integers, /) -> dict[str, Any]:
    """Return, for the chosen panels, instances, empty runs, and means: reference → kernel → arm → panel."""
    size = len(cells.panels)

    def by_panel(values: Floats) -> Floats:
        """Add up columns of units by their panels."""
        return np.stack([np.bincount(cells.panel, weights=row, minlength=size) for row in values])

    counts = cells.counts()
    empty = cells.counts((study.scores[0].frame["steps"] == 0).to_numpy())
    means: dict[str, list[Any]] = {"instance": [], "run": []}
    for scores in study.scores:
        tables = [_instance_means(cells, scores, kernel) for kernel in study.kernels]
        for name, weights in (("instance", (counts > 0).astype(np.float64)), ("run", counts)):
            found = []
            for table in tables:
                with np.errstate(invalid="ignore"):
                    total = by_panel(np.where(counts > 0, table * weights, 0.0))
                    found.append(_lists((total / by_panel(weights))[:, chosen]))
            means[name].append(found)
    # Inside one panel, panel-equal is instance-equal.
    return {
        "chosen": chosen.tolist(),
        "instances": np.bincount(cells.panel, minlength=size)[chosen].tolist(),
        "empty": by_panel(empty)[:, chosen].astype(np.int64).tolist(),
        "score": {"panel": means["instance"], **means},
    }


def unit_numbers(study: Study, cells: Cells, chosen: Integers, /) -> dict[str, Any]:
    """Return, for the chosen instances, what each arm did on them: arm → instance, scores by reference and kernel."""
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


def pair_numbers(study: Study, cells: Cells, pairs: Sequence[tuple[int, int]], /) -> dict[str, Any]:
    """Return, for each pair, the difference of means over the instances that both have, and who wins on how many."""
    counts = cells.counts()
    values: dict[str, list[list[list[float | str | None]]]] = {rule.value: [] for rule in list(Weighting)}
    wins: list[list[list[list[int]]]] = []
    for scores in study.scores:
        for row in values.values():
            row.append([])
        wins.append([])
        for kernel in study.kernels:
            means = _instance_means(cells, scores, kernel)
            for rule, row in values.items():
                row[-1].append([_number(_difference(means, counts, cells.panel, *pair, rule)) for pair in pairs])
            wins[-1].append([_wins(means, counts, *pair) for pair in pairs])
    declared = study.contrasts
    if declared is not None and declared.frame.height:
        # The difference that was tested is the one that is shown, to its last bit.
        shown = declared.frame["difference"].head(len(pairs)).to_list()
        place = values[study.weighting][0][0]
        values[study.weighting][0][0] = [old if new is None else new for old, new in zip(place, shown, strict=True)]
    return {"of": [list(pair) for pair in pairs], "value": values, "wins": wins}


def _difference(means: Floats, counts: Floats, panel: Integers, a: int, b: int, rule: str) -> float:
    common = (counts[a] > 0) & (counts[b] > 0)
    if not common.any():
        return np.nan
    sides = []
    for arm in (a, b):
        if rule == Weighting.RUN:
            weights = counts[arm, common]
        elif rule == Weighting.INSTANCE:
            weights = np.ones(int(common.sum()))
        else:
            weights = 1.0 / np.bincount(panel[common])[panel[common]]
        sides.append(float(np.dot(weights, means[arm, common]) / weights.sum()))
    return sides[0] - sides[1]


def _wins(means: Floats, counts: Floats, a: int, b: int) -> list[int]:
    common = (counts[a] > 0) & (counts[b] > 0)
    with np.errstate(invalid="ignore"):
        signs = sign(means[a, common] - means[b, common])
    return [int((signs < 0).sum()), int((signs == 0).sum()), int((signs > 0).sum())]


def _instance_means(cells: Cells, scores: Scores, kernel: str) -> Floats:
    """Return, arms × instances, the mean over seeds; NaN where there is no run, or a run without a score."""
    return cells.instance_means(scores.frame[kernel].fill_null(np.nan).to_numpy())


def _numbers(column: pl.Series) -> list[float | str | None]:
    return [None if value is None else _number(value) for value in column.to_list()]


def _number(value: float) -> float | str | None:
    return None if np.isnan(value) else number_or_overflow(float(value))


def _lists(table: NDArray[np.float64]) -> list[list[float | str | None]]:
    return [[_number(value) for value in row] for row in table.tolist()]

"""Mean and attainment curves at a few hundred moments, under every choice that the page offers."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.passes import bring
from gapline.envelope.places import step_groups, step_places
from gapline.report.page.encode import Floats, Integers
from gapline.scoring.endpoints import first_steps
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.moments import log_start, moments_of_both
from gapline.scoring.reading import reference_column
from gapline.scoring.scores import goal_name
from gapline.scoring.weighting import Weighting, run_weights
from gapline.study import Study

# What a page can hold of curves, in numbers, and how many moments of one are worth drawing.
MOST_VALUES, MOST_MOMENTS, LEAST_MOMENTS = 400_000, 600, 12
# More digits than any figure shows, fewer than the order of a sum could change.
DECIMALS = 9


class Curves(NamedTuple):
    """Moments, and the curves of every arm there: weighting → reference → kernel or goal → arm → values.

    An arm whose mean curve does not exist (raw before a first incumbent) has an empty list.
    """

    time: list[float]
    mean: dict[str, list[list[list[list[float]]]]]
    attainment: dict[str, list[list[list[list[float]]]]]


def curves_at_moments(study: Study, arm: Integers, arms: int, /) -> Curves:
    """Return the curves of the arms, whose numbers the runs have in `arm`."""
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
    """Return moments at which curves are looked at, on whichever axis of time."""
    end = 1.0 if study.relative else float(study.envelopes.runs["horizon"].to_numpy().max())
    start = log_start(study.envelopes, relative=study.relative)
    return moments_of_both(start, end, count)


def _risen(hits: Floats, weights: Floats, arm: Integers, arms: int, moments: Floats) -> Floats:
    """Return, arms × moments, the weight of the runs that were there by each moment."""
    place = np.searchsorted(moments, hits, side="left")
    reached = place < len(moments)
    cells = arm[reached] * len(moments) + place[reached]
    added = np.bincount(cells, weights=weights[reached], minlength=arms * len(moments))
    return np.cumsum(added.reshape(arms, len(moments)), axis=1)


def _mean_curves(
    study: Study, arm: Integers, arms: int, moments: Floats, weights: dict[str, Floats]
) -> dict[str, list[Any]]:
    """Add up every run's changes of gap at the first moment that is not before them."""
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
        # A step at or before the end lies in the last place at the latest, however it was rounded.
        place = np.minimum(np.searchsorted(moments, scaled, side="left"), len(moments) - 1)
        cells = arm[run] * len(moments)
        cells += place
        # What a group holds at a time is most of what a page takes.
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
    there = _feasible_at_start(study, arm, arms)
    found: dict[str, list[Any]] = {}
    for name, sums in added.items():
        curves = np.cumsum(sums.reshape(*shape[:2], arms, len(moments)), axis=3)
        found[name] = [
            [_existing(curves[r, k] + (kernel.before or 0.0), kernel, there) for k, kernel in enumerate(kernels)]
            for r in range(len(references))
        ]
    return found


def _feasible_at_start(study: Study, arm: Integers, arms: int) -> NDArray[np.bool_]:
    """Say of each arm whether all of its runs have something at time 0."""
    late = first_steps(study.envelopes) != 0
    whole: NDArray[np.bool_] = np.bincount(arm[late], minlength=arms) == 0
    return whole


def _existing(curves: Floats, kernel: Kernel, there: NDArray[np.bool_]) -> list[list[float]]:
    whole = _rounded(curves)
    # A kernel without a value before the first incumbent has no curve where some run begins without one.
    return whole if kernel.before is not None else [c if here else [] for c, here in zip(whole, there, strict=True)]


def _rounded(curves: Floats) -> list[list[float]]:
    values: list[list[float]] = np.round(curves, DECIMALS).tolist()
    return values

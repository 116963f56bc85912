"""The area between two mean curves, exact from their steps."""

from collections.abc import Sequence

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.model.compiled import compiled
from gapline.model.reading import TOLERANCE
from gapline.model.tables import CURVE_AREAS
from gapline.reference.snapshot import Snapshot
from gapline.scoring.curve import group_curves
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.steps_apart import steps_apart
from gapline.scoring.two_sum import two_sum
from gapline.summary.cells import TIE

Floats = NDArray[np.float64]
Steps = tuple[Floats, Floats]


def curve_areas(
    envelopes: Envelopes,
    snapshot: Snapshot,
    pairs: Sequence[tuple[str, str]],
    /,
    *,
    kernel: str | Kernel = "squeezed",
    weighting: str = "panel",
    relative: bool = False,
    tolerance: float = TOLERANCE,
) -> pl.DataFrame:
    """Return the area between the mean curves of each pair of arms, divided by the horizon.

    `signed` is the mean over time of (curve of a) - (curve of b): the difference of their mean scores under the uniform
    weight, negative where a is better. `absolute` is the mean of its absolute value: as large as `signed` where one
    curve is never above the other, larger where they cross. `ahead` is the share of the time in which a is below b.

    Missing incumbents: the kernel's value before the first one (1), also for a run that has none. Beaten references:
    the curve runs below zero. Unbalanced cells: both curves are over the instances that both arms ran; None where there
    is none.

    >>> import gapline as gl
    >>> runs = [{"arm": arm, "instance": "i", "seed": 1, "horizon": 10, "trace": trace}
    ...         for arm, trace in (("a", [(2, 30.0)]), ("b", [(4, 10.0)]))]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> curve_areas(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"), [("a", "b")]).rows()
    [('a', 'b', 0.2, 0.4, 0.2)]
    """
    runs = envelopes.runs
    units = {arm: frozenset(part) for arm, part in _units(runs).items()}
    whole: dict[str, Steps] = {}
    parsed = parse_kernel(kernel, tolerance=tolerance)
    end = 1.0 if relative else float(runs["horizon"].to_numpy().max())

    def curves(chosen: Envelopes) -> dict[str, Steps]:
        found = group_curves(chosen, snapshot, parsed, ["arm"], weighting=weighting, relative=relative)
        return {str(arm): (time, value) for (arm,), time, value, _ in found}

    rows: list[tuple[str, str, float | None, float | None, float | None]] = []
    for a, b in pairs:
        both = units[a] & units[b]
        if not both:
            rows.append((a, b, None, None, None))
            continue
        if units[a] == units[b] == both:
            # Arms with the same instances share their curves with other pairs.
            if unseen := [arm for arm in (a, b) if arm not in whole]:
                whole |= curves(_of(envelopes, unseen, both))
            rows.append((a, b, *area_between(whole[a], whole[b], end)))
        else:
            own = curves(_of(envelopes, (a, b), both))
            rows.append((a, b, *area_between(own[a], own[b], end)))
    return pl.DataFrame(rows, schema=CURVE_AREAS, orient="row")


def area_between(a: Steps, b: Steps, end: float) -> tuple[float, float, float]:
    """Return the mean signed and absolute difference of two step curves over [0, end], and where a is below.

    >>> one, other = (np.array([0.0, 5.0]), np.array([1.0, 0.0])), (np.array([0.0]), np.array([0.5]))
    >>> area_between(one, other, 10.0)
    (0.0, 0.5, 0.5)
    """
    signed, absolute, ahead = _areas(*steps_apart(a, b), end)
    return float(signed) / end, float(absolute) / end, float(ahead) / end


@compiled(nogil=True)
def _areas(time, difference, end):  # type: ignore[no-untyped-def] # pragma: no cover
    """Add up a difference of steps, its absolute value, and the time in which it is below zero; compensated."""
    signed, absolute, ahead = 0.0, 0.0, 0.0
    lost = np.zeros(3)
    for k in range(len(time)):
        width = (time[k + 1] if k + 1 < len(time) else end) - time[k]
        signed, error = two_sum(signed, width * difference[k])
        lost[0] += error
        absolute, error = two_sum(absolute, width * abs(difference[k]))
        lost[1] += error
        if difference[k] < -TIE:
            ahead, error = two_sum(ahead, width)
            lost[2] += error
    return signed + lost[0], absolute + lost[1], ahead + lost[2]


def _units(runs: pl.DataFrame) -> dict[str, list[tuple[str, str]]]:
    parts = runs.select("arm", "panel", "instance").unique().partition_by("arm", as_dict=True, include_key=False)
    return {str(key[0]): part.rows() for key, part in parts.items()}


def _of(envelopes: Envelopes, arms: Sequence[str], units: frozenset[tuple[str, str]]) -> Envelopes:
    wanted = pl.DataFrame(list(units), schema=["panel", "instance"], orient="row")
    rows = envelopes.runs.select("arm", "panel", "instance").with_row_index("_row")
    kept = rows.filter(pl.col("arm").is_in(arms)).join(wanted, on=["panel", "instance"], how="semi")
    return envelopes.select(kept["_row"].sort().to_list())

"""Horizon sweep: the score at every horizon up to Γ as an exact curve per arm, and the swaps of two arms.

With A(t) the area of an arm's mean gap curve up to a breakpoint t, and g its value from there on, the mean score at the
horizon H is Λ(H) = (A(t) + g·(H - t)) / H until the next breakpoint. Two arms swap where the difference of their areas,
which is piecewise linear, crosses zero. No grid is involved.
"""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.contract.argument_checks import expect
from gapline.contract.instance_set import instance_groups
from gapline.contract.reading import TOLERANCE
from gapline.contract.result_table import Shown
from gapline.envelope.build import Envelopes
from gapline.errors import UsageError
from gapline.files.scratch_arrays import scratch_array
from gapline.native.compensated_sums import two_sum
from gapline.native.compilation import compiled
from gapline.references.choice import References, as_snapshot
from gapline.scoring.curve import group_rows
from gapline.scoring.events import Events, collect_groups, in_threads, steps_apart
from gapline.scoring.kernels import Kernel, parse_kernel
from gapline.scoring.run_references import reference_column
from gapline.scoring.weighting import Weighting, parse_weighting, run_weights
from gapline.statistics.cells import TIE

Floats = NDArray[np.float64]
GRID = 20


@dataclass(frozen=True, slots=True, eq=False)
class SweepCurve:
    """Λ(H) of one arm: breakpoints (0 first), the mean gap from each on, and the area up to each."""

    arm: str
    time: Floats
    value: Floats
    area: Floats

    def at(self, horizons: Floats | float, /) -> Floats:
        """Return the exact score at each horizon; at 0 the gap itself, which is the limit."""
        h = np.asarray(horizons, np.float64)
        # A new value holds from its breakpoint on, so equality belongs to the right piece.
        place = np.searchsorted(self.time, h, side="right") - 1
        total = self.area[place] + self.value[place] * (h - self.time[place])
        return np.where(h > 0, total / np.where(h > 0, h, 1.0), self.value[0])

    def log_weighted(self, horizon: float, cutoffs: Sequence[float], *, end: bool) -> Floats:
        """Return the score at the horizon under `early-log` (or `end-log`) weights, one per cutoff.

        Summed by parts over the mean curve, so that one logarithm per breakpoint serves every cutoff: with F the
        cumulated weight and W = F(horizon), the score is g_last - Σ Δg·F(t) / W.
        """
        return np.asarray(_log_weighted(self.time, self.value, horizon, np.array(cutoffs, np.float64), end))


@dataclass(frozen=True, slots=True)
class Swap:
    """A horizon at which two arms change order: `before` is better below it, `after` from it on."""

    horizon: float
    before: str
    after: str


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class HorizonSweep(Shown):
    """Exact score curves over the horizon, and the swaps of every pair of arms that ran the same instances."""

    curves: dict[str, SweepCurve]
    swaps: dict[tuple[str, str], tuple[Swap, ...]]
    horizon: float
    relative: bool
    kernel: str
    weighting: str

    def swaps_of(self, a: str, b: str) -> tuple[Swap, ...]:
        """Return the swaps of two arms in the order of the horizon; none for arms that ran different instances."""
        return self.swaps.get((a, b)) or self.swaps.get((b, a), ())

    def table(self, *, points: int = GRID) -> pl.DataFrame:
        """Return arm, horizon, score at equal steps up to the full horizon, for printing; the curves are exact."""
        grid = self.horizon * np.arange(1, points + 1) / points
        frames = [
            pl.DataFrame({"arm": [arm] * points, "horizon": grid, "score": curve.at(grid)})
            for arm, curve in self.curves.items()
        ]
        return pl.concat(frames)

    def to_polars(self) -> pl.DataFrame:
        """Return the scores at equal steps of the horizon."""
        return self.table()

    def caption(self) -> str:
        """Return a description in one line."""
        return f"mean {self.kernel} score over the horizon up to {self.horizon:g}; {self.weighting}-equal"

    def document(self) -> dict[str, Any]:
        """Return the content for JSON."""
        return {
            "kernel": self.kernel,
            "weighting": self.weighting,
            "horizon": self.horizon,
            "relative": self.relative,
            "scores": self.table().to_dicts(),
            "swaps": [{"a": a, "b": b, **asdict(swap)} for (a, b), swaps in self.swaps.items() for swap in swaps],
        }


def horizon_sweep(
    envelopes: Envelopes,
    snapshot: References,
    /,
    *,
    kernel: str | Kernel = "squeezed",
    weighting: str | Weighting = "panel",
    arms: Sequence[str] | None = None,
    relative: bool | None = None,
    events: Sequence[Events] | None = None,
    tolerance: float = TOLERANCE,
) -> HorizonSweep:
    """Compute the mean score of every arm at every horizon.

    Parameters
    ----------
    arms
        The arms to compare; by default all.
    relative
        Use horizons as shares of each run's own; by default only if the runs have several.
    events
        The steps of all arms in order of their names, if they were already collected.

    The solvers were given the full horizon: a score at a shorter one is conditional on that. Empty runs count with the
    kernel's value before the first incumbent; a beaten reference gives negative contributions.

    >>> import gapline as gl
    >>> runs = [{"arm": "early", "instance": "i", "seed": 1, "horizon": 10, "trace": [(1, 30.0)]},
    ...         {"arm": "late", "instance": "i", "seed": 1, "horizon": 10, "trace": [(4, 10.0)]}]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> sweep = horizon_sweep(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"))
    >>> sweep.swaps_of("early", "late")
    (Swap(horizon=7.0, before='early', after='late'),)
    """
    expect(envelopes, Envelopes, "horizon_sweep")
    chosen = parse_kernel(kernel, tolerance=tolerance)
    if chosen.before is None:
        raise UsageError(
            f"kernel {chosen.name}: expected one with a value before the first incumbent, such as squeezed"
        )
    rule = parse_weighting(weighting)
    horizons = envelopes.runs["horizon"].to_numpy()
    several = len(np.unique(horizons)) > 1
    relative = several if relative is None else relative
    if several and not relative:
        raise UsageError("horizon sweep: expected relative time where horizons differ, got relative=False")
    groups = group_rows(envelopes.runs, ["arm"])
    if events is None:
        references = reference_column(as_snapshot(snapshot), envelopes)
        events = collect_groups(envelopes, references, [rows for _, rows in groups], relative=relative)
    weights = run_weights(envelopes.runs, by=["arm"], weighting=rule)
    wanted = [
        (str(name), steps, weights[rows])
        for ((name,), rows), steps in zip(groups, events, strict=True)
        if arms is None or name in arms
    ]
    curves = {curve.arm: curve for curve in in_threads(lambda given: sweep_curve(*given, chosen), wanted)}
    end = 1.0 if relative else float(horizons[0])
    group = instance_groups(envelopes.rows)
    pairs = [(a, b) for a, b in combinations(curves, 2) if group[a] == group[b]]
    found = in_threads(lambda pair: find_swaps(curves[pair[0]], curves[pair[1]], end), pairs)
    swaps = dict(zip(pairs, found, strict=True))
    return HorizonSweep(curves, swaps, end, relative, chosen.name, rule.value)


def sweep_curve(arm: str, events: Events, weights: Floats, kernel: Kernel) -> SweepCurve:
    """Cumulate the mean curve of an arm and its area."""
    assert kernel.before is not None
    size = len(events.time) + 1
    time, value, area = scratch_array(size), scratch_array(size), scratch_array(size)
    last = np.full(events.runs, float(kernel.before))
    used = _sweep(
        events.run, events.time, events.gaps(kernel), weights / weights.sum(), float(kernel.before), last,
        time, value, area,
    )  # fmt: skip
    return SweepCurve(arm, time[:used], value[:used], area[:used])


def find_swaps(one: SweepCurve, other: SweepCurve, horizon: float) -> tuple[Swap, ...]:
    """Find the exact horizons at which the order of two arms changes; ties in between do not count."""
    return tuple(Swap(at, before, after) for at, after, before in find_crossings(_swaps, one, other, horizon))


def find_crossings(
    walk: Callable[..., int], one: SweepCurve, other: SweepCurve, *given: object
) -> list[tuple[float, str, str]]:
    """Return where a compiled walk over the difference of two curves finds a new leader: place, new and old leader.

    In the walk, -1 stands for the first arm as the leader and 1 for the other.
    """
    times, apart = steps_apart((one.time, one.value), (other.time, other.value))
    names = {-1: one.arm, 1: other.arm}
    # The compiled walk cannot grow its output: it counts all swaps, and is repeated if they did not fit.
    found, most = 64, 0
    while found > most:
        most = found
        at, side = np.empty(most), np.empty(most, np.int64)
        found = walk(times, apart, *given, TIE, at, side)
    return [(float(at[k]), names[int(side[k])], names[-int(side[k])]) for k in range(found)]


@compiled(nogil=True)
def _sweep(run, time, gap, weights, before, last, out_time, out_value, out_area):  # type: ignore[no-untyped-def] # pragma: no cover
    """Walk through the steps in order of time; sums of value and area are compensated."""
    value, lost, area, area_lost = before, 0.0, 0.0, 0.0
    out_time[0], out_value[0], out_area[0] = 0.0, before, 0.0
    place = 0
    for k in range(len(time)):
        # Equal stamps form one breakpoint; steps at time 0 change the first value.
        if time[k] > out_time[place]:
            piece = out_value[place] * (time[k] - out_time[place])
            area, error = two_sum(area, piece)
            area_lost += error
            place += 1
            out_time[place], out_area[place] = time[k], area + area_lost
        delta = weights[run[k]] * (gap[k] - last[run[k]])
        last[run[k]] = gap[k]
        value, error = two_sum(value, delta)
        lost += error
        out_value[place] = value + lost
    return place + 1


@compiled(nogil=True)
def _swaps(times, apart, horizon, tie, out_at, out_leader):  # type: ignore[no-untyped-def] # pragma: no cover
    """Walk up to the horizon along the area between the curves; its sign tells which arm has the smaller score."""
    area, lost = 0.0, 0.0
    leader, found = 0, 0
    for k in range(len(times)):
        now = times[k]
        if now >= horizon:
            break
        end = min(times[k + 1], horizon) if k + 1 < len(times) else horizon
        start = area + lost
        area, error = two_sum(area, apart[k] * (end - now))
        lost += error
        stop = area + lost
        # Differences of scores below the tie tolerance are ties, so areas are judged against it times the horizon.
        side = 1 if stop > tie * end else (-1 if stop < -tie * end else 0)
        if side * leader < 0:
            crossing = now if apart[k] == 0.0 else now - start / apart[k]
            if found < len(out_at):
                out_at[found], out_leader[found] = min(max(crossing, now), end), side
            found += 1
        # A tie keeps the leader: two arms that meet and separate again have not swapped.
        if side != 0:
            leader = side
    return found


@compiled(nogil=True)
def _log_weighted(time, value, horizon, cutoffs, end):  # type: ignore[no-untyped-def] # pragma: no cover
    totals = np.zeros(len(cutoffs))
    least = cutoffs.min()
    logs = np.log(cutoffs)
    whole = np.log(horizon) - logs
    for k in range(1, len(time)):
        drop = value[k] - value[k - 1]
        here = np.log(max(horizon - time[k] if end else time[k], least))
        for c in range(len(cutoffs)):
            spent = min(logs[c] + whole[c] - here, whole[c]) if end else max(here - logs[c], 0.0)
            totals[c] += drop * spent
    return value[-1] - totals / whole

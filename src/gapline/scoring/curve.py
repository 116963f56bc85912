"""Mean convergence curves: exact step functions on the union of all breakpoints, mergeable without loss."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from gapline.campaign.threads import in_slices
from gapline.contract.argument_checks import expect
from gapline.contract.names import parse_weight
from gapline.contract.reading import TOLERANCE
from gapline.contract.row_groups import Numbered
from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring, run_spans
from gapline.errors import GaplineError, HorizonError, UsageError, listing
from gapline.files.scratch_arrays import ScratchArray, scratch_array, spans
from gapline.native.arrays import Floats, Integers
from gapline.native.compensated_sums import cumulate, two_sum
from gapline.native.compilation import compiled
from gapline.native.order import sort_by_time
from gapline.native.slices import step_places
from gapline.references.choice import References, as_snapshot, label_reference
from gapline.references.snapshot import Snapshot
from gapline.scoring.endpoints import first_steps
from gapline.scoring.integral import integrate_envelopes, step_gaps
from gapline.scoring.kernels import Kernel, KernelCode, parse_kernel, refuse_signed
from gapline.scoring.run_references import ReadTable, build_reading, reference_column
from gapline.scoring.weighting import run_weights


def _fill_events(
    first: Integers, count: Integers, time: Floats, gaps: Floats, before: float, weights: Floats, scale: Floats,
    out_time: Floats, out_delta: Floats,
) -> None:  # fmt: skip
    """Fill in when each run changes the sum, and by how much; the steps of the runs are consecutive."""
    previous = np.append(before, gaps)[: len(gaps)]
    previous[first[count > 0]] = before
    out_time[:] = time / np.repeat(scale, count)
    out_delta[:] = np.repeat(weights, count) * (gaps - previous)


def cumulate_arrays(time: Floats, delta: Floats, start: float, out_time: Floats, out_value: Floats) -> int:
    """Fill in the breakpoints, 0 first, and the sum from each on; equal times become one, summed by size."""
    if len(time) > 1 and (time[1:] == time[:-1]).any():
        delta = delta[np.lexsort((delta, time))]
    totals, lost = cumulate(np.array([start]), delta[None, :])
    value = (totals + lost)[0]
    last = np.append(time[1:] != time[:-1], True)[: len(time)]
    moments, sums = time[last], value[1:][last]
    out_time[0], out_value[0] = 0.0, start
    # A step at 0 is part of the value there.
    if len(moments) and not moments[0] > 0.0:
        out_value[0], moments, sums = sums[0], moments[1:], sums[1:]
    out_time[1 : len(moments) + 1] = moments
    out_value[1 : len(moments) + 1] = sums
    return len(moments) + 1


# A number of equidistant moments, the moments themselves, or a function of the end of a curve that returns them.
Points = int | Sequence[float] | Callable[[float], Floats]
AREA_TOLERANCE = 1e-12


@dataclass(frozen=True, slots=True, eq=False)
class CurveSum:
    """A weighted sum of step functions: its value `before` any step, and the change at each time.

    `weights` are those of the runs, `horizon` is their common end. Sums over disjoint runs merge by concatenation; the
    resulting curve is the same to the last bit, however the runs were split.
    """

    before: float
    weights: Floats
    time: Floats
    delta: Floats
    horizon: float

    @property
    def total_weight(self) -> float:
        """The sum of the weights, correctly rounded: a plain sum would depend on the order of the runs."""
        return math.fsum(self.weights)

    def curve(self) -> tuple[Floats, Floats]:
        """Return breakpoints (0 first) and the mean from each breakpoint on."""
        time, delta = sort_by_time(self.time, self.delta)
        times, values = ScratchArray(len(time) + 1), ScratchArray(len(time) + 1)
        total = self.total_weight
        outputs = times.reserve(len(time) + 1), values.reserve(len(time) + 1)
        size = _cumulate(time, delta, self.before * total, *outputs)
        for span in spans(size):
            values.array[span] /= total
        return times.cut(size), values.cut(size)


def curve_sum(
    envelopes: Envelopes, references: Floats, weights: Floats, *, kernel: Kernel, relative: bool = False
) -> CurveSum:
    """Add up the gap curves of runs; slices do not change a bit of the sum, and on relative time every horizon is 1."""
    refuse_signed([kernel], envelopes.scale)
    end = common_horizon(envelopes.runs, relative=relative)
    before = kernel.before
    if before is None:
        # Also false if a run has no step at all.
        if not (first_steps(envelopes) == 0).all():
            raise UsageError(
                f"kernel {kernel.name}: its mean curve exists only where every run is feasible at time 0",
                hint="use a kernel with a value before the first incumbent, such as squeezed",
            )
        before = 0.0
    here = bring(envelopes)
    first, count = here.runs["first"].to_numpy(), here.runs["count"].to_numpy()
    scale = here.runs["horizon"].to_numpy() if relative else np.ones(len(first))
    ends = np.cumsum(count)
    size = int(ends[-1]) if len(ends) else 0
    time, delta = scratch_array(size), scratch_array(size)

    def fill(low: int, high: int) -> None:
        own, starts = step_places(first[low:high], count[low:high])
        gaps, _ = step_gaps(here.objective, first[low:high], count[low:high], references[low:high], kernel)
        out = slice(int(ends[low] - count[low]), int(ends[high - 1])) if high > low else slice(0, 0)
        _fill_events(
            starts, count[low:high], here.time[own], gaps, float(before), weights[low:high], scale[low:high],
            time[out], delta[out],
        )  # fmt: skip

    for start, stop in run_spans(count):
        in_slices(count[start:stop], lambda low, high, start=start: fill(start + low, start + high))  # type: ignore[misc]
    return CurveSum(before=float(before), weights=weights, time=time, delta=delta, horizon=end)


def common_horizon(runs: pl.DataFrame, *, relative: bool = False) -> float:
    """Return the end of a curve over these runs: their common horizon, or 1 on relative time."""
    if relative:
        return 1.0
    horizons = runs["horizon"].unique().sort().to_list()
    if len(horizons) != 1:
        raise HorizonError(
            f"curve: expected one horizon, got {listing(f'{h:g}' for h in horizons)}",
            hint="ask for relative time t/Γ (relative=True, --relative)",
        )
    return float(horizons[0])


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MeanCurves(ReadTable):
    """Step curves: one row per breakpoint and group, `value` holds from `time` to the next breakpoint of the group.

    With `points`, the number of moments, the values are those at the moments, and steps in between are not shown.
    """

    by: tuple[str, ...]
    relative: bool
    horizons: dict[tuple[str, ...], float]
    points: int | None = None

    @property
    def kernel(self) -> str:
        """The kernel of the gap."""
        return self.reading.kernels[0]

    def caption(self) -> str:
        """Return the choices behind the curve, in one line."""
        clock = "relative time t/Γ" if self.relative else "time in seconds"
        shown = "" if self.points is None else f", exact at {self.points:,} moments"
        return f"mean {self.kernel} gap over {clock}{shown}; {self.reading.line()}"

    def groups(self) -> list[tuple[tuple[str, ...], Floats, Floats]]:
        """Return (group, times, values) for each curve."""
        if not self.by:
            return [((), self.frame["time"].to_numpy(), self.frame["value"].to_numpy())]
        parts = self.frame.partition_by(self.by, as_dict=True, maintain_order=True)
        return [
            (tuple(map(str, key)), part["time"].to_numpy(), part["value"].to_numpy()) for key, part in parts.items()
        ]


def mean_curve(
    envelopes: Envelopes,
    snapshot: References,
    /,
    *,
    kernel: str | Kernel = "squeezed",
    by: str | Sequence[str] = "arm",
    weighting: str = "panel",
    relative: bool = False,
    tolerance: float = TOLERANCE,
    policy: str | None = None,
    points: Points | None = None,
) -> MeanCurves:
    """Return the mean convergence curve of each group, as an exact step function.

    With `points`, return its exact values at these moments instead, for curves with too many steps to look at. A number
    means that many equidistant moments; a list contains increasing times from 0 to the horizon.

    Empty runs count: before its first incumbent a run contributes the kernel's value there (1 when bounded).

    >>> import gapline as gl
    >>> runs = [{"arm": "a", "instance": "i", "seed": s, "horizon": 10, "trace": [(s, 30.0)]} for s in (1, 2)]
    >>> envelopes = gl.build_envelopes(gl.Campaign.from_runs(runs))
    >>> curve = gl.mean_curve(envelopes, gl.Snapshot.from_values({"i": 10.0}, name="mine"))
    >>> curve.frame.rows()
    [('a', 0.0, 1.0), ('a', 1.0, 0.75), ('a', 2.0, 0.5)]
    """
    expect(envelopes, Envelopes, "mean_curve")
    snapshot = as_snapshot(snapshot)
    chosen = parse_kernel(kernel, tolerance=tolerance)
    groups = [by] if isinstance(by, str) else list(by)
    frames, horizons = [], {}
    found = group_curves(envelopes, snapshot, chosen, groups, weighting=weighting, relative=relative, points=points)
    for key, time, value, horizon in found:
        horizons[tuple(map(str, key))] = horizon
        named = {name: pl.Series([cell]).new_from_index(0, len(time)) for name, cell in zip(groups, key, strict=True)}
        frames.append(pl.DataFrame({**named, "time": time, "value": value}))
    return MeanCurves(
        frame=pl.concat(frames) if frames else pl.DataFrame(schema={"time": pl.Float64, "value": pl.Float64}),
        by=tuple(groups),
        relative=relative,
        reading=build_reading(
            envelopes,
            label_reference(snapshot, envelopes, policy=policy),
            kernels=(chosen.name,),
            tolerance=tolerance,
            weighting=str(weighting),
        ),
        horizons=horizons,
        # The same number in every group; there may be no group.
        points=None if points is None else max((len(frame) for frame in frames), default=0),
    )


def group_curves(
    envelopes: Envelopes,
    snapshot: Snapshot,
    kernel: Kernel,
    groups: list[str],
    *,
    weighting: str,
    relative: bool,
    points: Points | None = None,
) -> Iterator[tuple[tuple[object, ...], Floats, Floats, float]]:
    """Yield key, times, values and end of each group's curve, with its area checked; long curves in scratch files."""
    references = reference_column(snapshot, envelopes)
    weights = run_weights(envelopes.runs, by=groups, weighting=weighting)
    for key, rows in group_rows(envelopes.runs, groups):
        part, part_references, part_weights = envelopes.select(rows.tolist()), references[rows], weights[rows]
        total = curve_sum(part, part_references, part_weights, kernel=kernel, relative=relative)
        time, value = total.curve()
        _check_area(part, part_references, part_weights, kernel, step_area(time, value, total.horizon) / total.horizon)
        if points is not None:
            at = _moments(points, total.horizon)
            time, value = at, evaluate_steps(time, value, at)
        yield key, time, value, total.horizon


def _moments(points: Points, end: float) -> Floats:
    """Return the requested moments of a curve with this end."""
    if isinstance(points, int):
        return np.linspace(0.0, end, points)
    times = points(end) if callable(points) else np.array(points, np.float64)
    if np.any(np.diff(times) < 0):
        raise UsageError("curve: expected moments that rise from 0 on, got others")
    if times.ndim != 1 or not len(times) or not np.all((times >= 0) & (times <= end)):
        shown = listing(f"{time:g}" for time in times.ravel().tolist())
        raise UsageError(f"points: expected times from 0 to {end:g}, got {shown or 'none'}")
    return times


def group_rows(runs: pl.DataFrame | Numbered, by: Sequence[str]) -> list[tuple[tuple[object, ...], Integers]]:
    """Return the rows of each group, groups in order of their key."""
    numbered = runs if isinstance(runs, Numbered) else Numbered(runs)
    if not by:
        return [((), np.arange(numbered.table.height))]
    group = numbered.by(*by)
    # NumPy uses radix sort for 16-bit integers.
    order = np.argsort(group.row.astype(np.uint16) if group.size < 1 << 16 else group.row, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(group.row, minlength=group.size))[:-1])
    keys = numbered.table.select(by)[group.first_row].with_row_index("_group").sort(by)
    return list(zip(keys.select(by).iter_rows(), (parts[k] for k in keys["_group"]), strict=True))


def step_area(time: Floats, value: Floats, horizon: float) -> float:
    """Return the area under a step curve from 0 to the horizon."""
    total = 0.0
    for span in spans(len(time)):
        end = time[span.stop] if span.stop < len(time) else horizon
        # Sums, not dot products, which wait for the threads of BLAS.
        total += float(np.sum(np.diff(np.append(time[span], end)) * value[span]))
    return total


def evaluate_steps(time: Floats, value: Floats, at: Floats) -> Floats:
    """Return the value of a right-continuous step curve (first breakpoint 0) at the given times."""
    return value[np.searchsorted(time, at, side="right") - 1]


def _check_area(
    envelopes: Envelopes,
    references: Floats,
    weights: Floats,
    kernel: Kernel,
    area: float,
) -> None:
    """Assert the area identity: the mean of the scores is the area of the mean curve over the horizon."""
    scores = integrate_envelopes(envelopes, references, kernels=[kernel], weight=parse_weight("uniform"))[:, 0]
    mean = float(np.sum(scores * weights) / weights.sum())
    scale = max(1.0, abs(mean))
    if kernel.code is not KernelCode.CUSTOM and not abs(mean - area) <= AREA_TOLERANCE * scale:
        raise GaplineError(f"area identity broken: mean of scores {mean!r}, area of the mean curve {area!r}")


@compiled(nogil=True, small=cumulate_arrays)
def _cumulate(time, delta, start, out_time, out_value):  # type: ignore[no-untyped-def] # pragma: no cover
    """Cumulate with compensation; equal times become one breakpoint, summed by size so that order does not matter."""
    total, lost = start, 0.0
    out_time[0], out_value[0] = 0.0, start
    size = 1
    k = 0
    while k < len(time):
        stop = k + 1
        while stop < len(time) and time[stop] == time[k]:
            stop += 1
        if stop - k > 1:
            delta[k:stop] = np.sort(delta[k:stop])
        for j in range(k, stop):
            total, error = two_sum(total, delta[j])
            lost += error
        if time[k] > 0.0:
            out_time[size] = time[k]
            size += 1
        out_value[size - 1] = total + lost
        k = stop
    return size

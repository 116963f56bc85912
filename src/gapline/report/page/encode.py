"""Encode the steps of runs for the page: as deltas on a decimal grid, compressed, in pieces."""

import base64
import json
import math
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring
from gapline.files.scratch_arrays import scratch_array, spans
from gapline.native.slices import AT_ONCE, side_by_side, step_groups
from gapline.scoring.kernels import Kernel
from gapline.statistics.cells import CellIndex

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

# Up to this number of steps, the page can use grids far below the displayed precision.
FINE_STEPS = 200_000
FINE_TIME_DECIMALS, COARSE_TIME_DECIMALS = 9, 3
GAP_DECIMALS = 14
FINE_RELATIVE, COARSE_RELATIVE = 1e-12, 1e-7
# The browser computes in doubles, which represent integers exactly up to 2^53.
MOST_UNITS = 2.0**51
LEVEL = 6
# The largest page in letters, which a browser opens without delay. A larger page contains summaries; campaigns with
# more steps are not even tried: fewer than two and a half letters per step would be left for time and objective.
MOST_BYTES, MOST_STEPS = 10_000_000, 4_000_000


@dataclass(frozen=True, slots=True)
class Grid:
    """Multiples of 10^-decimals; `exact` if all values of the column are on the grid."""

    decimals: int
    exact: bool

    def units(self, values: Floats) -> Floats:
        """Return values as the nearest integer numbers of grid steps."""
        return units_on_grids(values, self.decimals)

    def values(self, units: Floats) -> Floats:
        """Return the values of integer numbers of grid steps, as the browser computes them."""
        return units / 10.0**self.decimals if self.decimals >= 0 else units * 10.0**-self.decimals

    def snap(self, values: Floats) -> Floats:
        """Return the nearest values on the grid."""
        return self.values(self.units(values))


# Python computes these powers exactly; ten to the 300 is about the largest one that a double can hold and divide by.
_MOST_DECIMALS = 300
_POWERS = np.array([10.0**k for k in range(_MOST_DECIMALS + 1)])


def units_on_grids(values: Floats, decimals: Integers | int) -> Floats:
    """Return values as the nearest integer numbers of grid steps, with one grid for all or one per value."""
    # Only positive powers of ten are exact: 10.0**-3 is not a thousandth.
    units: Floats = np.rint(values * _POWERS[np.maximum(decimals, 0)] / _POWERS[np.maximum(-decimals, 0)])
    return units


def choose_grid(values: Floats, *, finest: int) -> Grid:
    """Return the coarsest decimal grid that represents all values exactly, or the finest one allowed.

    >>> choose_grid(np.array([12.5, 3.25]), finest=9)
    Grid(decimals=2, exact=True)
    >>> choose_grid(np.array([1 / 3]), finest=3)
    Grid(decimals=3, exact=False)
    """
    most = max(abs(float(values.min())), abs(float(values.max()))) if len(values) else 0.0
    if most > 0:
        finest = min(finest, math.floor(math.log10(MOST_UNITS / most)))
    for decimals in range(min(0, finest), finest + 1):
        grid = Grid(decimals, exact=True)
        # A few values rule out most grids; only the other grids are tested on the whole column.
        parts = (values[span] for span in (slice(16), *pieces(len(values))))
        if all(np.array_equal(grid.snap(part), part) for part in parts):
            return grid
    return Grid(finest, exact=False)


def pieces(size: int) -> Iterable[slice]:
    """Return slices that cover `size` steps, so that no temporary array is as long as all of them."""
    return spans(size, most=AT_ONCE)


def objective_grids(parts: Sequence[Floats], *, scales: Sequence[float], steps: int) -> list[Grid]:
    """Return the grid of the objectives of each instance; its `scale` is the smallest value that matters there.

    >>> objective_grids([np.array([12.5, 3.0]), np.array([4.0])], scales=[3.0, 4.0], steps=3)
    [Grid(decimals=1, exact=True), Grid(decimals=0, exact=True)]
    """
    relative = FINE_RELATIVE if steps <= FINE_STEPS else COARSE_RELATIVE
    finest = [min(math.ceil(-math.log10(scale) - math.log10(relative)), _MOST_DECIMALS) for scale in scales]
    return [choose_grid(part, finest=fine) for part, fine in zip(parts, finest, strict=True)]


def time_grid(values: Floats, *, steps: int) -> Grid:
    """Return the grid of all times: exact if possible, 1 ms in a large campaign."""
    return choose_grid(values, finest=FINE_TIME_DECIMALS if steps <= FINE_STEPS else COARSE_TIME_DECIMALS)


def time_units(grid: Grid, time: Floats, horizon: Floats) -> Floats:
    """Round times to the grid, but not to time 0 or beyond their horizon, which would change a score."""
    # A raw score exists only for a run that is feasible at 0: no later time may be rounded to 0.
    units = np.where(time > 0, np.maximum(grid.units(time), 1.0), 0.0)
    last = grid.units(horizon)
    last = np.where(grid.values(last) > horizon, last - 1.0, last)
    return np.minimum(units, np.maximum(last, 0.0))


def deltas(units: Floats, first: Integers) -> Floats:
    """Return differences to the previous value; the positions in `first` begin a run and keep their value."""
    out = np.diff(units, prepend=0.0)
    inside = first[first < len(units)]
    # Not the difference to the previous run: the page decodes each run alone.
    out[inside] = units[inside]
    return out


def zigzag(values: Floats) -> Floats:
    """Map signed integers to nonnegative ones, small ones to small ones: 0, -1, 1, -2 → 0, 1, 2, 3."""
    return np.where(values >= 0, 2.0 * values, -2.0 * values - 1.0)


class Block:
    """Columns of nonnegative integers, compressed together; the page decodes a block as a whole."""

    def __init__(self) -> None:
        self._planes: list[bytearray] = []
        self.columns: list[dict[str, str | int]] = []

    def add(self, name: str, values: NDArray[np.generic]) -> None:
        """Append a column: its low bytes, then its next bytes, and so on, which compresses best."""
        self.add_pieces(name, [values])

    def add_pieces(self, name: str, parts: Iterable[NDArray[np.generic]]) -> None:
        """Append a column that comes in pieces; only its bytes are kept."""
        planes, length = [bytearray()], 0
        for part in parts:
            whole = np.ascontiguousarray(part).astype("<u8")
            width = (int(whole.max()).bit_length() + 7) // 8 if len(whole) else 0
            # Previous pieces were narrower: their higher bytes are zeros.
            planes += [bytearray(length) for _ in range(len(planes), width)]
            places = whole.view(np.uint8).reshape(-1, 8)
            for place, plane in enumerate(planes):
                plane.extend(places[:, place].tobytes())
            length += len(whole)
        self._planes += planes
        self.columns.append({"name": name, "length": length, "width": len(planes)})

    def encode(self) -> str:
        """Return the compressed columns as text."""
        return compress(*self._planes)


def compress(*parts: bytes | bytearray) -> str:
    """Return zlib data as base64 text, which the browser's DecompressionStream("deflate") opens."""
    packer = zlib.compressobj(LEVEL)
    packed = [*map(packer.compress, parts), packer.flush()]
    return base64.b64encode(b"".join(packed)).decode("ascii")


def compress_json(document: Any) -> str:
    """Return a document as JSON, compressed in the same way."""
    return compress(json.dumps(document, allow_nan=False, separators=(",", ":")).encode("utf-8"))


class Piece(NamedTuple):
    """Consecutive steps: their positions, the run of each, and which of them begin a run."""

    span: slice
    run: Integers
    begins: Integers


class Steps:
    """The steps of all runs, in the order of the units; runs of one unit are contiguous."""

    def __init__(self, envelopes: Envelopes, cells: CellIndex, order: Integers) -> None:
        ordered = bring(envelopes.select(order.tolist()))
        self.signed = envelopes.scale.signed
        self.horizon = ordered.runs["horizon"].to_numpy()
        self.unit = cells.unit[order]
        self._count: Integers = ordered.runs["count"].to_numpy()
        self.total = int(self._count.sum())
        here = side_by_side(ordered.runs["first"].to_numpy(), self._count)
        assert here is not None
        self.time, self.objective = ordered.time[here], ordered.objective[here]
        sizes = np.bincount(self.unit, weights=self._count, minlength=len(cells.units)).astype(np.int64)
        self.by_unit = np.split(self.objective, np.cumsum(sizes)[:-1])

    def pieces(self) -> Iterator[Piece]:
        """Yield all steps in pieces of whole runs."""
        stop = 0
        for low, high in step_groups(self._count):
            run = np.repeat(np.arange(low, high), self._count[low:high])
            start, stop = stop, stop + len(run)
            yield Piece(slice(start, stop), run, np.flatnonzero(np.diff(run, prepend=-1)))

    def add(self, block: Block, clock: Grid, grids: Sequence[Grid]) -> None:
        """Add the times, on a common grid, and the objectives, each on the grid of its unit."""
        times = ((time_units(clock, self.time[one.span], self.horizon[one.run]), one) for one in self.pieces())
        block.add_pieces("time", (deltas(units, one.begins) for units, one in times))
        decimals = np.array([grid.decimals for grid in grids], np.int64)[self.unit]
        objectives = ((units_on_grids(self.objective[one.span], decimals[one.run]), one) for one in self.pieces())
        block.add_pieces("objective", (self._falls(units, one.begins) for units, one in objectives))

    def _falls(self, units: Floats, begins: Integers) -> Floats:
        # Objectives only fall within a run: negated, every difference but the first value is positive.
        falls = -deltas(units, begins)
        falls[begins] = zigzag(units[begins]) if self.signed else units[begins]
        return falls

    def add_gaps(self, block: Block, name: str, kernel: Kernel, references: Floats) -> Grid:
        """Add the gaps of a user-defined kernel at every step, since the kernel exists in Python only."""
        gaps = scratch_array(self.total)
        for piece in self.pieces():
            gaps[piece.span] = kernel(self.objective[piece.span], references[piece.run])
        grid = choose_grid(gaps, finest=GAP_DECIMALS)
        block.add_pieces(name, (zigzag(grid.units(gaps[span])) for span in pieces(self.total)))
        return grid

    def grids(self, references: Sequence[Floats]) -> list[Grid]:
        """Return the grid of the objectives of each unit, given a column of values for each reference."""
        stated = zip(*(column.tolist() for column in references), strict=True)
        scales = [_smallest(part, values) for part, values in zip(self.by_unit, stated, strict=True)]
        return objective_grids(self.by_unit, scales=scales, steps=self.total)


def _smallest(objectives: Floats, stated: Sequence[float]) -> float:
    """Return the smallest nonzero magnitude among references and the ends of the objectives; 1 if there is none."""
    ends = (float(objectives.min()), float(objectives.max())) if len(objectives) else ()
    return min((abs(value) for value in (*stated, *ends) if 0 < abs(value) < math.inf), default=1.0)

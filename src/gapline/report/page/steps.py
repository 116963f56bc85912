"""The steps of every run as the page carries them, encoded piece by piece: of all of them only the bytes are held."""

import math
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

import numpy as np

from gapline.envelope.build import Envelopes
from gapline.envelope.passes import bring
from gapline.model.scratch import scratch_array
from gapline.report.page import encode
from gapline.report.page.encode import Block, Floats, Grid, Integers
from gapline.scoring.kernels import Kernel
from gapline.summary.cells import Cells


class Piece(NamedTuple):
    """Some steps that lie side by side: which, of which run each is, and which of them begin a run."""

    span: slice
    run: Integers
    begins: Integers


class Steps:
    """The steps of all runs, in the order of the units; runs of one unit lie together."""

    def __init__(self, envelopes: Envelopes, cells: Cells, order: Integers) -> None:
        ordered = bring(envelopes.select(order.tolist()))
        self.signed = envelopes.scale.signed
        self.horizon = ordered.runs["horizon"].to_numpy()
        self.unit = cells.unit[order]
        count = ordered.runs["count"].to_numpy()
        self._ends: Integers = np.cumsum(count)
        self.total = int(self._ends[-1]) if len(count) else 0
        filled = ordered.runs["first"].to_numpy()[count > 0]
        # Side by side from wherever the first of them lies.
        here = slice(int(filled[0]), int(filled[0]) + self.total) if len(filled) else slice(0, 0)
        self.time, self.objective = ordered.time[here], ordered.objective[here]
        # A unit without any step has an empty slice.
        ends = np.cumsum(np.bincount(self.unit, weights=count, minlength=len(cells.units)).astype(np.int64)).tolist()
        self.by_unit = [self.objective[low:high] for low, high in zip([0, *ends[:-1]], ends, strict=True)]

    def pieces(self) -> Iterator[Piece]:
        """Yield all steps; a long run may be in several pieces."""
        for span in encode.pieces(self.total):
            low = int(np.searchsorted(self._ends, span.start, "right"))
            high = int(np.searchsorted(self._ends, span.stop, "left")) + 1
            edges = np.concatenate(([span.start], np.minimum(self._ends[low:high], span.stop)))
            run = np.repeat(np.arange(low, high), np.diff(edges))
            begins = np.flatnonzero(np.diff(run, prepend=-1))
            # The first step of a piece begins a run unless the run began before.
            if len(begins) and span.start > (self._ends[low - 1] if low else 0):
                begins = begins[1:]
            yield Piece(span, run, begins)

    def add_times(self, block: Block, clock: Grid) -> None:
        """Add the stamps, on the grid of all."""
        block.add_pieces(
            "time",
            self._changes(lambda piece: encode.time_units(clock, self.time[piece.span], self.horizon[piece.run])),
        )

    def add_objectives(self, block: Block, grids: Sequence[Grid]) -> None:
        """Add the objectives, each on the grid of its unit."""
        # Powers of ten are exact as positive exponents only.
        times = np.array([10.0 ** max(grid.decimals, 0) for grid in grids])
        over = np.array([10.0 ** max(-grid.decimals, 0) for grid in grids])

        def units(piece: Piece) -> Floats:
            unit = self.unit[piece.run]
            scaled: Floats = self.objective[piece.span] * times[unit] / over[unit]
            return np.rint(scaled)

        block.add_pieces("objective", self._changes(units, falling=True))

    def _changes(self, units: Callable[[Piece], Floats], *, falling: bool = False) -> Iterator[Floats]:
        """Yield the difference of each step to the one before, of the first one of a run itself."""
        before = 0.0
        for piece in self.pieces():
            found = units(piece)
            changes = encode.deltas(found, piece.begins, before)
            if falling:
                # Objectives only fall within a run: turned round, every difference but the first value is positive.
                first = changes[piece.begins]
                changes = -changes
                changes[piece.begins] = encode.zigzag(first) if self.signed else first
            before = float(found[-1])
            yield changes

    def add_gaps(self, block: Block, name: str, kernel: Kernel, references: Floats) -> Grid:
        """Add what a kernel says of every step: a function of the user's own exists in Python alone."""
        gaps = scratch_array(self.total)
        for piece in self.pieces():
            gaps[piece.span] = kernel(self.objective[piece.span], references[piece.run])
        grid = encode.choose_grid(gaps, finest=encode.GAP_DECIMALS)
        block.add_pieces(name, (encode.zigzag(grid.units(gaps[span])) for span in encode.pieces(self.total)))
        return grid

    def grids(self, references: Sequence[Floats]) -> list[Grid]:
        """Return the grid of the objectives of each unit, whose references are in the columns."""
        stated = zip(*(column.tolist() for column in references), strict=True)
        scales = [_smallest(part, values) for part, values in zip(self.by_unit, stated, strict=True)]
        return encode.objective_grids(self.by_unit, scales=scales, steps=self.total)


def _smallest(objectives: Floats, stated: Sequence[float]) -> float:
    """Return the smallest size, not zero, among references and the ends of the objectives; 1 where there is none."""
    ends = (float(objectives.min()), float(objectives.max())) if len(objectives) else ()
    return min((abs(value) for value in (*stated, *ends) if 0 < abs(value) < math.inf), default=1.0)

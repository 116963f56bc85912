"""Every step of mean curves that have more of them than are held or drawn: made anew when they are written."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from gapline.envelope.places import AT_ONCE
from gapline.model.scratch import spans
from gapline.scoring.curve import group_curves
from gapline.scoring.kernels import parse_kernel
from gapline.study import Study

Floats = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class EveryStep:
    """The mean curves of a study's first kernel by their groups, step by step."""

    study: Study
    by: tuple[str, ...]
    relative: bool

    def curves(self) -> Iterator[tuple[tuple[object, ...], Floats, Floats]]:
        """Yield group, times and values of one curve after the other; in scratch files where they are long."""
        study = self.study
        kernel = parse_kernel(study.kernels[0], tolerance=study.tolerance)
        found = group_curves(
            study.envelopes,
            study.references[0].snapshot,
            kernel,
            list(self.by),
            weighting=study.weighting,
            relative=self.relative,
        )
        return ((key, time, value) for key, time, value, _ in found)

    def frames(self) -> Iterator[pl.DataFrame]:
        """Yield the rows of `MeanCurves.frame`, some at a time."""
        for key, time, value in self.curves():
            for span in spans(len(time), most=AT_ONCE):
                size = span.stop - span.start
                named = {n: pl.Series([cell]).new_from_index(0, size) for n, cell in zip(self.by, key, strict=True)}
                yield pl.DataFrame({**named, "time": time[span], "value": value[span]})

    def documents(self) -> list[dict[str, Any]]:
        """Return one entry per curve for JSON, which holds them all."""
        return [
            dict(zip(self.by, key, strict=True)) | {"time": time.tolist(), "value": value.tolist()}
            for key, time, value in self.curves()
        ]

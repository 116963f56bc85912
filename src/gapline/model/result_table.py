"""Results that are one table with the choices that made it."""

from dataclasses import dataclass

import polars as pl

from gapline.model.shown import Shown


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResultTable(Shown):
    """A Polars frame with the choices that made it."""

    frame: pl.DataFrame

    def to_polars(self) -> pl.DataFrame:
        """Return the frame."""
        return self.frame

    def __len__(self) -> int:
        return self.frame.height

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return ""

    def __str__(self) -> str:
        return f"{self.caption()}\n{self.frame}".lstrip()

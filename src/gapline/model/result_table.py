"""Results that a notebook shows as a table and that any Arrow library takes as they are."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResultTable:
    """A Polars frame with the choices that made it."""

    frame: pl.DataFrame

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.frame.__arrow_c_stream__(requested_schema)

    def __len__(self) -> int:
        return self.frame.height

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return ""

    def __repr__(self) -> str:
        return f"{self.caption()}\n{self.frame}".lstrip()

    def _repr_html_(self) -> str:
        from html import escape

        return f"<p>{escape(self.caption())}</p>" + self.frame._repr_html_()

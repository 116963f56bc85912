"""Results that a notebook shows as a table with a line above it, and that any library of tables takes as they are."""

from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import polars as pl

from gapline.errors import EnvironmentLacksError


class Shown:
    """The one way of a result to a notebook, to Polars, to pandas and, by the PyCapsule interface, to Arrow."""

    __slots__ = ()

    def to_polars(self) -> pl.DataFrame:
        """Return the table that it stands for, as a Polars frame."""
        raise NotImplementedError

    def to_pandas(self) -> Any:
        """Return the same table as a pandas frame."""
        if find_spec("pandas") is None:
            raise EnvironmentLacksError("to_pandas: expected pandas to be installed", hint="pip install pandas")
        frame = self.to_polars()
        if find_spec("pyarrow") is not None:
            return frame.to_pandas()
        return import_module("pandas").DataFrame({name: frame[name].to_numpy() for name in frame.columns})

    def caption(self) -> str:
        """Return what it is, in one line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.caption()})"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.caption())}</p>" + self.to_polars()._repr_html_()

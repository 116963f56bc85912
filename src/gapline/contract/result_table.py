"""Results: shown as a table in notebooks, exchanged with any table library, written as JSON."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import Enum
from html import escape
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import polars as pl

from gapline.errors import EnvironmentLacksError


class Shown:
    """Shows a result in notebooks and converts it to Polars, pandas and, by the PyCapsule interface, Arrow."""

    __slots__ = ()

    def to_polars(self) -> pl.DataFrame:
        """Return the result as a Polars frame; of several tables, the first of its fields."""
        values = (getattr(self, field.name) for field in fields(self))  # type: ignore[arg-type]
        return next(value for value in values if isinstance(value, pl.DataFrame))

    def to_pandas(self) -> Any:
        """Return the same table as a pandas frame."""
        if find_spec("pandas") is None:
            raise EnvironmentLacksError("to_pandas: expected pandas to be installed", hint="pip install pandas")
        frame = self.to_polars()
        if find_spec("pyarrow") is not None:
            return frame.to_pandas()
        return import_module("pandas").DataFrame({name: frame[name].to_numpy() for name in frame.columns})

    def caption(self) -> str:
        """Return a description in one line."""
        raise NotImplementedError

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.caption()})"

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_polars().__arrow_c_stream__(requested_schema)

    def _repr_html_(self) -> str:
        return f"<p>{escape(self.caption())}</p>" + self.to_polars()._repr_html_()


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ResultTable(Shown):
    """A Polars frame with the choices that made it."""

    frame: pl.DataFrame

    def __len__(self) -> int:
        return self.frame.height

    def caption(self) -> str:
        """Return the choices behind the numbers, in one line."""
        return ""

    def __str__(self) -> str:
        return f"{self.caption()}\n{self.frame}".lstrip()


def as_document(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass for JSON: tables as lists of rows, nested results by their own `document`.

    >>> from gapline.contract.reading import ReferenceLabel
    >>> as_document(ReferenceLabel("frozen", "bks", "sha256:1"))
    {'policy': 'frozen', 'name': 'bks', 'digest': 'sha256:1', 'unreferenced': []}
    """
    return {field.name: as_json(getattr(value, field.name)) for field in fields(value)}


def as_json(value: Any) -> Any:
    """Return a result, or any nest of results, for JSON."""
    if hasattr(value, "document"):
        return value.document()
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if hasattr(value, "__dataclass_fields__"):
        return as_document(value)
    if isinstance(value, Mapping):
        return {name: as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [as_json(inner) for inner in value]
    return value.value if isinstance(value, Enum) else value

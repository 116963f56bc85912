"""Results as JSON: one rule for every dataclass, so that a new field cannot be forgotten."""

from collections.abc import Mapping
from dataclasses import fields
from enum import Enum
from typing import Any

import polars as pl


def as_document(value: Any) -> dict[str, Any]:
    """Return the fields of a dataclass for JSON: tables as lists of rows, nested results by their own `document`.

    >>> from gapline.model.reading import ReferenceLabel
    >>> as_document(ReferenceLabel("frozen", "bks", "sha256:1"))
    {'policy': 'frozen', 'name': 'bks', 'digest': 'sha256:1', 'unreferenced': []}
    """
    return {field.name: _plain(getattr(value, field.name)) for field in fields(value)}


def _plain(value: Any) -> Any:
    if hasattr(value, "document"):
        return value.document()
    if isinstance(value, pl.DataFrame):
        return value.to_dicts()
    if hasattr(value, "__dataclass_fields__"):
        return as_document(value)
    if isinstance(value, Mapping):
        return {name: _plain(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return value.value if isinstance(value, Enum) else value

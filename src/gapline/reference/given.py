"""References as callers of the Python interface give them: a snapshot, values by instance, or a file of them."""

from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

from gapline.errors import UsageError
from gapline.model.expected import expect
from gapline.reference.snapshot import Snapshot, read_references

References: TypeAlias = Snapshot | Mapping[str, float] | str | Path


def as_snapshot(given: References, what: str = "references") -> Snapshot:
    """Return the snapshot that was given, or one of the values that were: by instance, or in a file or store.

    >>> as_snapshot({"i": 10}).values["i"].value
    10.0
    """
    if isinstance(given, Snapshot):
        return given
    if isinstance(given, Mapping):
        if not given:
            raise UsageError(f"{what}: expected a value by instance, got none")
        return Snapshot.from_values(given, name="given")
    if isinstance(given, str | Path):
        return read_references(given)
    return expect(given, Snapshot, what)

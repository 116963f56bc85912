"""Results as JSON."""

import json
from dataclasses import dataclass

import polars as pl

from gapline.contract.reading import ReferenceLabel
from gapline.contract.result_table import as_document
from gapline.contract.tables import RunStatus


@dataclass(frozen=True)
class Inner:
    """A result without a document of its own."""

    status: RunStatus


@dataclass(frozen=True)
class Outer:
    """A result of every kind of field."""

    rows: pl.DataFrame
    label: ReferenceLabel
    inner: tuple[Inner, ...]
    by_name: dict[str, Inner]
    nothing: None = None


def test_every_field_is_there_and_json_takes_it():
    label = ReferenceLabel("frozen", "bks", "sha256:1")
    ended = Inner(RunStatus.KILLED)
    outer = Outer(pl.DataFrame({"a": [1, 2]}), label, (ended,), {"x": ended})
    assert json.loads(json.dumps(as_document(outer))) == {
        "rows": [{"a": 1}, {"a": 2}],
        "label": {"policy": "frozen", "name": "bks", "digest": "sha256:1", "unreferenced": []},
        "inner": [{"status": "killed"}],
        "by_name": {"x": {"status": "killed"}},
        "nothing": None,
    }

"""Whether a document is what the published schema of `results.json` says, by a validator that is not ours."""

import json
from pathlib import Path
from typing import Any

from jsonschema import Draft202012Validator

from gapline.report import results

SCHEMA = json.loads(Path(results.__file__).with_name("results.schema.json").read_text(encoding="utf-8"))


def assert_fits(document: dict[str, Any]) -> None:
    """Find every field where it should be, and none of which the schema does not speak."""
    for schema in (SCHEMA, _closed(SCHEMA)):
        Draft202012Validator.check_schema(schema)
        found = Draft202012Validator(schema).iter_errors(document)
        assert [f"{error.json_path}: {error.message[:200]}" for error in found] == []


def _closed(schema: Any) -> Any:
    """Return a schema that takes no field beside those it names: what we write today is all in it."""
    if isinstance(schema, list):
        return [_closed(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    inner = {name: _closed(one) for name, one in schema.items()}
    return inner | {"additionalProperties": False} if "properties" in schema else inner

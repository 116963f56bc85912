"""What may stand in a `study.toml`, from its JSON Schema: the table of docs/contract.md and a page of the site."""

import json
from collections.abc import Iterator, Mapping
from importlib.resources import files
from itertools import groupby
from typing import Any, NamedTuple

from handbook.markdown import markdown_table

Schema = Mapping[str, Any]


class Field(NamedTuple):
    """One field: where it stands, its name, its kind, what it means, and what holds when it is left out."""

    section: str
    name: str
    kind: str
    meaning: str
    default: str


def contract_schema() -> dict[str, Any]:
    """Return the schema that ships with gapline."""
    document: dict[str, Any] = json.loads(files("gapline.contract").joinpath("study.schema.json").read_text("utf-8"))
    return document


def contract_fields() -> list[Field]:
    """Return every field, in the order of the schema; those of the top of the file first."""
    schema = contract_schema()
    definitions = schema["$defs"]
    own = [name for name, value in schema["properties"].items() if not _table(value, definitions)]
    fields = list(_fields("", {**schema, "properties": {name: schema["properties"][name] for name in own}}))
    for name, value in schema["properties"].items():
        if table := _table(value, definitions):
            fields += _sections(f"[[{name}]]" if value.get("type") == "array" else f"[{name}]", table, definitions)
    return fields


def _sections(section: str, table: Schema, definitions: Schema) -> Iterator[Field]:
    yield from _fields(section, table)
    for name, value in table["properties"].items():
        if inner := _table(value, definitions):
            inside = f"[{section.strip('[]')}.{name}]"
            yield from _fields(f"[{inside}]" if value.get("type") == "array" else inside, inner)


def _table(value: Schema, definitions: Schema) -> Schema | None:
    """Return the table that a value is, or is a list of; None where it is no table."""
    options = [value, value.get("items", {}), *value.get("anyOf", [])]
    for option in options:
        reference = option.get("$ref", "").rpartition("/")[2]
        if reference and definitions[reference].get("type") == "object":
            found: Schema = definitions[reference]
            return found
    return None


def _fields(section: str, table: Schema) -> Iterator[Field]:
    required = table.get("required", [])
    for name, value in table["properties"].items():
        default = "needed" if name in required else _default(value.get("default"))
        yield Field(section, name, _kind(value), value.get("description", ""), default)


def _default(value: Any) -> str:
    if value in (None, "", [], {}):
        return "none"
    return f"`{json.dumps(value, ensure_ascii=False)}`" if not isinstance(value, dict) else "see its own table"


def _kind(value: Schema) -> str:
    """Say in a few words what a value may be."""
    if "enum" in value:
        return " or ".join(f"`{one}`" for one in value["enum"])
    if "const" in value:
        return f"`{value['const']}`"
    if options := value.get("anyOf") or value.get("oneOf"):
        kinds = [_kind(option) for option in options if option.get("type") != "null"]
        return ", or ".join(dict.fromkeys(kinds))
    if "$ref" in value:
        return "a table"
    if value.get("type") == "array":
        return f"a list ({_kind(value['items'])})" if value.get("items") else "a list"
    words = {"string": "text", "integer": "whole number", "number": "number", "boolean": "true or false"}
    words |= {"object": "a table"}
    bounds = {
        "minimum": "from {}",
        "exclusiveMinimum": "above {}",
        "exclusiveMaximum": "below {}",
        "maximum": "up to {}",
    }
    limits = [text.format(value[key]) for key, text in bounds.items() if key in value]
    return " ".join([words.get(value.get("type", ""), "anything"), *limits])


def fields_table() -> str:
    """Return the fields as one Markdown table, the name of a section where it begins."""
    rows = [["section", "field", "meaning", "when left out"]]
    for section, fields in groupby(contract_fields(), key=lambda field: field.section):
        for k, field in enumerate(fields):
            shown = "" if k else f"`{section}`" if section else "at the top"
            rows.append([shown, f"`{field.name}`", field.meaning, field.default])
    return markdown_table(rows)


def contract_page() -> str:
    """Return the page of the site on `study.toml`: a table for each section, with the kind of each field."""
    parts = [
        "# study.toml\n\nEvery field of a contract, from the JSON Schema that ships with gapline. "
        "[Write a contract](../contract.md) explains them by example."
    ]
    for section, fields in groupby(contract_fields(), key=lambda field: field.section):
        rows = [[f"`{field.name}`", field.kind, field.meaning, field.default] for field in fields]
        head = f"`{section}`" if section else "At the top of the file"
        parts.append(f"## {head}\n\n" + markdown_table([["field", "kind", "meaning", "when left out"], *rows]))
    return "\n\n".join(parts) + "\n"

"""Parts of pages that are made from the code, so that they stay true.

In a page, `<!-- made: NAME -->` and `<!-- end -->` stand around such a part; `PARTS` has the function of each name.
"""

import json
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.resources import files
from pathlib import Path

import msgspec
import polars as pl

from gapline.campaign.campaign import OPTIONAL_COLUMNS, REQUIRED_COLUMNS
from gapline.checkers.load import CHECKERS
from gapline.contract.choices import choice_fields, choice_help, find_choice
from gapline.contract.layout import PackageDocument
from gapline.contract.tables import CARRIED, RUN_RECORD, RUNS, TRACE_OPTIONAL, TRACE_REQUIRED
from gapline.journal.records import Ending, Order
from gapline.journal.register import Entry
from gapline.logs.formats import BUILT_IN
from gapline.references.snapshot import Reference, Snapshot
from gapline.solvers.catalogue import ADAPTERS, Option
from handbook.contract_fields import fields_table
from handbook.markdown import markdown_table

_PART = re.compile(r"(<!-- made: ([\w-]+) -->\n)(?:(?!<!--).*\n)*?(<!-- end -->)")


def solvers_table() -> str:
    """Return every solver that ships, with what it needs and what may be set."""
    rows = [["solver", "package", "install", "options"]]
    for name, adapter in ADAPTERS.items():
        options = ", ".join(f"`{option}` ({_values(kind)})" for option, kind in adapter.options.items())
        rows.append([f"`{name}`", adapter.package, f"`gapline[{adapter.extra}]`", options])
    rows.append(["`command`", "any program", "", "none: its arguments stand in `command`"])
    return markdown_table(rows)


def _values(option: Option) -> str:
    if option.among:
        return ", ".join(map(str, option.among))
    names = {int: "whole number", float: "number", str: "text", list: "list"}
    kinds = " or ".join(dict.fromkeys(names[kind] for kind in option.kind))
    return f"{kinds} from {option.least:g}" if int in option.kind else kinds


def checkers_table() -> str:
    """Return every checker that ships, with what its own words say of it."""
    rows = [["checker", "what it does"]]
    for name, place in CHECKERS.items():
        module, _, kind = place.partition(".")
        said = getattr(import_module(f"gapline.checkers.{module}"), kind).__doc__ or ""
        rows.append([f"`{name}`", said.strip().partition("\n\n")[0]])
    rows.append(["`command:PROGRAM`", "a program of yours that answers JSON lines"])
    rows.append(["`python:MODULE:FUNCTION`", "a function of yours: path and solution in, objective or reason out"])
    return markdown_table(rows)


def formats_list() -> str:
    """Return the names of all log formats."""
    return ", ".join(f"`{name}`" for name in BUILT_IN)


def _columns(schema: Mapping[str, pl.DataType]) -> str:
    words = {"String": "text", "Int64": "whole number", "Float64": "number", "Boolean": "true or false"}
    return markdown_table([["column", "holds"], *([f"`{name}`", words[str(kind)]] for name, kind in schema.items())])


def _names(names: Mapping[str, object] | tuple[str, ...]) -> str:
    return ", ".join(f"`{name}`" for name in names)


def candidate_columns() -> str:
    """Return the columns of candidates of a campaign, with their type on disk."""
    rows = [["file", "type", "always there"]]
    for columns, there in ((REQUIRED_COLUMNS, "yes"), (OPTIONAL_COLUMNS, "no")):
        rows += [[f"`{name}.npy`", kind.__name__, there] for name, kind in columns.items()]
    return markdown_table(rows)


def _fields(struct: type[msgspec.Struct]) -> str:
    return ", ".join(f"`{field.name}`" for field in msgspec.structs.fields(struct))


def _model_fields(model: type[Snapshot] | type[Reference]) -> str:
    return ", ".join(f"`{field.alias or name}`" for name, field in model.model_fields.items())


def results_table() -> str:
    """Return what stands at the top of `results.json`, with what the schema says of it."""
    schema = json.loads(files("gapline.report").joinpath("results.schema.json").read_text("utf-8"))
    rows = [["field", "holds"]]
    for name, value in schema["properties"].items():
        inner = next(
            (one["$ref"] for one in (value, value.get("items", {}), *value.get("anyOf", [])) if "$ref" in one), ""
        )
        said = value.get("description") or schema["$defs"].get(inner.rpartition("/")[2], {}).get("description", "")
        rows.append([f"`{name}`", said])
    return markdown_table(rows)


def choices_table() -> str:
    """Return the choices that `study.toml` can state: the field of each, its option, and what it does."""
    rows = [["field", "option", "what it does"]]
    for field, name in choice_fields().items():
        option = (find_choice(name)[1].option or name).replace("_", "-").partition("/")[0]
        rows.append([f"`{field}`", f"`--{option}`", choice_help(name)])
    return markdown_table(rows)


PARTS: dict[str, Callable[[], str]] = {
    "fields": fields_table,
    "choices": choices_table,
    "solvers": solvers_table,
    "checkers": checkers_table,
    "formats": formats_list,
    "trace-columns": lambda: f"Needed: {_names(TRACE_REQUIRED)}. Optional: {_names(TRACE_OPTIONAL)}.",
    "run-columns": lambda: _columns(RUNS),
    "carried-columns": lambda: _names(CARRIED),
    "record-columns": lambda: _names(tuple(name for name in RUN_RECORD if name not in CARRIED)),
    "candidate-columns": candidate_columns,
    "order-fields": lambda: _fields(Order),
    "ending-fields": lambda: _fields(Ending),
    "register-fields": lambda: _fields(Entry),
    "snapshot-fields": lambda: _model_fields(Snapshot),
    "reference-fields": lambda: _model_fields(Reference),
    "results-fields": results_table,
    "package-fields": lambda: _fields(PackageDocument),
}


def with_parts(text: str) -> str:
    """Return a page with its generated parts made anew."""
    return _PART.sub(lambda found: f"{found[1]}\n{PARTS[found[2]]()}\n\n{found[3]}", text)


def refresh_parts(page: Path) -> bool:
    """Write the generated parts of a page anew; say whether it changed."""
    text = page.read_text(encoding="utf-8")
    made = with_parts(text)
    if made != text:
        page.write_text(made, encoding="utf-8")
    return made != text

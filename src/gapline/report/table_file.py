"""Write tables as a file in the format of its name: .csv, .md, .tex, .json or .txt."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import polars as pl

from gapline.errors import UsageError, listing
from gapline.files.atomic_write import refuse_no_file, write_atomically
from gapline.report.table import Table
from gapline.report.writers.csv import to_csv
from gapline.report.writers.latex import to_latex
from gapline.report.writers.markdown import to_markdown
from gapline.report.writers.terminal import to_text

FORMS = ("csv", "md", "tex", "json", "txt")


def form_of(path: Path) -> str:
    """Return the format for a file name; refuse a name without a known format.

    >>> form_of(Path("scores.CSV"))
    'csv'
    """
    form = path.suffix.lstrip(".").lower()
    if form not in FORMS:
        raise UsageError(f"{path}: expected a name ending in .csv, .md, .tex, .json or .txt, got {form or 'none'}")
    return form


def write_tables(tables: Sequence[Table], path: Path, document: Any) -> None:
    """Write tables to a file: CSV has all numbers of one table, JSON the `document` that `--json` prints."""
    refuse_no_file(path)
    form = form_of(path)
    if form == "csv":
        data = to_csv(joined(tables))
    elif form == "json":
        data = (json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False) + "\n").encode()
    else:
        write = {"md": to_markdown, "tex": to_latex, "txt": lambda table: to_text(table) + "\n"}[form]
        data = "\n".join(map(write, _with_labels(tables) if form == "tex" else tables)).encode()
    write_atomically(path, lambda stream: stream.write(data))


def joined(tables: Sequence[Table]) -> pl.DataFrame:
    """Return the numbers of one table, or of one table under several readings with a column for the reading."""
    names = list(dict.fromkeys(table.name for table in tables))
    if len(names) != 1:
        raise UsageError(
            f"CSV: expected one table, got {listing(names) or 'none'}",
            hint="--table NAME chooses one; .md, .tex, .json and .txt hold several",
        )
    if len(tables) == 1:
        return tables[0].frame
    # The first note is the reading, the only difference between them.
    frames = [
        table.frame.select(pl.lit(table.notes[0] if table.notes else "").alias("reading"), pl.all()) for table in tables
    ]
    return pl.concat(frames, how="diagonal_relaxed")


def _with_labels(tables: Sequence[Table]) -> Iterator[Table]:
    """Give tables with the same name, under several readings, distinct names for labels and captions."""
    seen: Counter[str] = Counter()
    for table in tables:
        seen[table.name] += 1
        number = seen[table.name]
        yield table if number == 1 else replace(table, name=f"{table.name}-{number}")

"""What every command that prints tables takes, `-o FILE` and `--all-columns`, and how its tables come out."""

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.terminal import say

if TYPE_CHECKING:
    from gapline.report.table import Table

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options; the command gets `outputs` and `all_columns`."""
    columns = click.option("--all-columns", is_flag=True, help="Every column, stacked where the terminal is narrow.")
    files = click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=click.Path(dir_okay=False),
        help="Write the table to a file instead (repeatable): .csv, .md, .tex, .json or .txt, by its name.",
    )
    return files(columns(function))


def show(
    tables: "Sequence[Table]",
    *,
    outputs: Sequence[str] = (),
    all_columns: bool = False,
    document: Callable[[], Any] = dict,
    as_csv: bool = False,
) -> None:
    """Print tables, or write them to files; `document` gives what `--json` prints."""
    if outputs:
        from pathlib import Path

        from gapline.report.table_file import form_of, write_tables

        # All names first: half of the files is worse than none.
        forms = [form_of(Path(output)) for output in outputs]
        answer = document() if "json" in forms else None
        for output in outputs:
            write_tables(tables, Path(output), answer)
            say(f"wrote {output}", err=as_csv)
    if as_csv:
        from gapline.report.table_file import joined
        from gapline.report.writers.csv import to_csv

        say(to_csv(joined(tables)).decode().rstrip("\n"))
    elif not outputs:
        from gapline.report.writers.terminal import View, print_tables

        print_tables(tables, View(all_columns, "--all-columns shows them, -o FILE.csv writes them"))

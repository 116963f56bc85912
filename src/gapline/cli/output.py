"""Output shared by commands: their tables, a progress line, and suggested next commands."""

import shlex
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import rich_click as click

from gapline.contract.progress import Doing, told
from gapline.terminal import clipped_line, on_output, redraw, say

if TYPE_CHECKING:
    from gapline.report.table import Table

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def options(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of a command that prints tables; it gets them as `out`, an `Output`."""

    @wraps(function)
    def bundled(*, outputs: tuple[str, ...], all_columns: bool, as_json: bool, **rest: Any) -> Any:
        return function(out=Output(outputs, all_columns, as_json), **rest)

    columns = click.option("--all-columns", is_flag=True, help="Every column, stacked where the terminal is narrow.")
    files = click.option(
        "-o",
        "--output",
        "outputs",
        multiple=True,
        type=click.Path(dir_okay=False),
        help="Write the table to a file instead (repeatable): .csv, .md, .tex, .json or .txt, by its name.",
    )
    return files(columns(as_json(bundled)))


class Output(NamedTuple):
    """Where a command writes its tables: to files, or to the terminal, which may show every column; or JSON."""

    files: tuple[str, ...]
    all_columns: bool
    as_json: bool

    def show(self, tables: "Sequence[Table]", document: Callable[[], Any], *, as_csv: bool = False) -> None:
        """Print tables, or write them to files; `document` returns the data for `--json`."""
        if self.files:
            from gapline.report.table_file import form_of, write_tables

            # Check all names first: half of the files would be worse than none.
            forms = [form_of(Path(output)) for output in self.files]
            answer = document() if "json" in forms else None
            for output in self.files:
                write_tables(tables, Path(output), answer)
                say(f"wrote {output}", err=as_csv)
        if as_csv:
            from gapline.report.table_file import joined
            from gapline.report.writers.csv import to_csv

            say(to_csv(joined(tables)).decode().rstrip("\n"))
        elif not self.files:
            from gapline.report.writers.terminal import View, print_tables

            print_tables(tables, View(self.all_columns, "--all-columns shows them, -o FILE.csv writes them"))


# Commands that end within this time show no progress line.
AFTER = 2.0
EVERY = 0.2


class Working:
    """Redraws the progress line until something is printed."""

    def __init__(self, draw: Callable[[str], None] = redraw) -> None:
        self._draw = draw
        self._began = time.monotonic()
        self._now = Doing("working")
        self._drawn = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Start the drawing thread."""
        self._thread.start()

    def tell(self, now: Doing) -> None:
        """Set the current activity."""
        self._now = now

    def stop(self) -> None:
        """Erase the line, and stop drawing."""
        with self._lock:
            self._over.set()
            if self._drawn:
                self._draw("")
                self._drawn = False

    def _watch(self) -> None:
        wait = AFTER
        while not self._over.wait(wait):
            wait = EVERY
            with self._lock:
                # The command may have printed while we waited for the lock.
                if not self._over.is_set():
                    self._draw(clipped_line(f"{self._now} … {time.monotonic() - self._began:.0f} s"))
                    self._drawn = True


@contextmanager
def working() -> Iterator[None]:
    """Show the current activity until the first line of output; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    line = Working()
    line.start()
    try:
        with told(line.tell), on_output(line.stop):
            yield
    finally:
        line.stop()


def show_work() -> None:
    """Show the activity of the current command until it prints or ends."""
    context = click.get_current_context()
    assert context is not None
    context.with_resource(working())


def running_commands(study: str) -> list[str]:
    """Return the next commands for a new study."""
    return [f"gapline {words}" for words in (f"status {shlex.quote(study)} --plan", f"run {shlex.quote(study)}")]


def scoring_commands(study: str) -> tuple[list[str], str | None]:
    """Return the next commands for a campaign whose runs are complete, and what its declared scores still need."""
    from gapline.contract.study_file import load_contract

    reference = load_contract(study).reference
    lacks = reference.snapshot is None or not (Path(study) / reference.snapshot).is_file()
    lacks = lacks and reference.policy != "analysis"
    policy = " --policy analysis" if lacks else ""
    commands = [f"gapline {command} {shlex.quote(study)}{policy}" for command in ("score", "report")]
    words = (
        f"the contract says {reference.policy}, and there are no references: the best of these runs takes their place"
    )
    return commands, words if lacks else None


def print_next(commands: Sequence[str]) -> None:
    """Print commands below each other, after one label."""
    for place, command in enumerate(commands):
        say(f"{'next: ' if not place else '      '}{command}")

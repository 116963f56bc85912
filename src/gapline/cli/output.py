"""Output that commands share: their tables, a progress line, and what to do next."""

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
    """Where the tables of a command go: to files, else to the terminal, which may show every column; or JSON."""

    files: tuple[str, ...]
    all_columns: bool
    as_json: bool

    def show(self, tables: "Sequence[Table]", document: Callable[[], Any], *, as_csv: bool = False) -> None:
        """Print tables, or write them to files; `document` gives what `--json` prints."""
        if self.files:
            from gapline.report.table_file import form_of, write_tables

            # All names first: half of the files is worse than none.
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


# What ends within that time needs no sign of life.
AFTER = 2.0
EVERY = 0.2


class Working:
    """Draws the line again and again until something is printed."""

    def __init__(self, draw: Callable[[str], None] = redraw) -> None:
        self._draw = draw
        self._began = time.monotonic()
        self._now = Doing("working")
        self._drawn = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def tell(self, now: Doing) -> None:
        """Take note of what is done now."""
        self._now = now

    def stop(self) -> None:
        """Take the line away, and draw no other."""
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
                # It may have ended while we waited for the lock.
                if not self._over.is_set():
                    self._draw(clipped_line(f"{self._now} … {time.monotonic() - self._began:.0f} s"))
                    self._drawn = True


@contextmanager
def working() -> Iterator[None]:
    """Show what is done until the first line of the answer; nothing where nobody watches."""
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
    """Show what the command at hand is doing until it answers or ends."""
    context = click.get_current_context()
    assert context is not None
    context.with_resource(working())


def running_commands(study: str) -> list[str]:
    """Return what follows on a new study."""
    return [f"gapline {words}" for words in (f"status {shlex.quote(study)} --plan", f"run {shlex.quote(study)}")]


def scoring_commands(study: str) -> tuple[list[str], str | None]:
    """Return what follows on a campaign whose runs are all there, and what it lacks for the scores it declares."""
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
    """Print commands below each other, behind one label."""
    for place, command in enumerate(commands):
        say(f"{'next: ' if not place else '      '}{command}")

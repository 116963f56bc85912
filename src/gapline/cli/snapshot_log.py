"""`gapline snapshot log` and `page`: where a snapshot and its values come from, in words and as an offline page."""

from typing import TYPE_CHECKING

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli import snapshot_options as words
from gapline.cli.command import Command
from gapline.terminal import say, say_words
from gapline.text import counted, printable

if TYPE_CHECKING:
    from gapline.references.history import Link, SnapshotLog

_FOLDERS = click.option(
    "--folder", "folders", multiple=True, type=click.Path(file_okay=False), help="A folder of parents (repeatable)."
)
_STORE = click.option("--store", metavar="mamut:PATH", help="A git store at hand: its commits are searched too.")


@click.command("log", cls=Command)
@click.argument("file", type=click.Path(dir_okay=False))
@click.argument("instances", nargs=-1, metavar="[INSTANCE]...", shell_complete=completion.names("instance"))
@_FOLDERS
@_STORE
@words.TOLERANCE
@words.SENSE
@output.options
def log(
    *,
    file: str,
    instances: tuple[str, ...],
    folders: tuple[str, ...],
    store: str | None,
    tolerance: float,
    sense: str | None,
    out: output.Output,
) -> int:
    """Show the parents of a snapshot, and where the values of instances (names or patterns) come from.

    Example: gapline snapshot log references/mine-2.json 'n=20/*' --store mamut:store
    """
    from gapline.errors import UsageError
    from gapline.references.history import snapshot_log
    from gapline.report.tables.snapshots import step_table

    if store is not None and not instances:
        raise UsageError("--store: expected instances whose commits are wanted, got none", hint="'*' means all of them")
    found = snapshot_log(file, *instances, folders=folders, store=store, tolerance=tolerance, sense=sense)
    code = 1 if found.alarms or found.changed else 0
    if out.as_json:
        options.print_json(found.document())
        return code
    for link in found.links:
        _print_link(link)
    if found.steps:
        say()
        table = step_table(found.steps, store)
        out.show([table], found.document)
    options.print_lines("note: ", found.notes())
    options.print_lines("ALARM ", found.alarms)
    return code


@click.command("page", cls=Command)
@click.argument("file", type=click.Path(dir_okay=False))
@words.OUT
@_FOLDERS
@_STORE
@words.TOLERANCE
@words.SENSE
@options.as_json
def page(
    file: str,
    output: str,
    folders: tuple[str, ...],
    store: str | None,
    tolerance: float,
    sense: str | None,
    as_json: bool,
) -> int:
    """Write who improved what, and when, as one page that needs no network.

    Example: gapline snapshot page references/mine-2.json -o chain.html
    """
    from gapline.references.history import snapshot_log
    from gapline.report.chain.page import write_chain

    found = snapshot_log(file, "*", folders=folders, store=store, tolerance=tolerance, sense=sense)
    write_chain(found, output)
    code = 1 if found.alarms or found.changed else 0
    if as_json:
        document = found.document()
        options.print_json(
            {"file": output} | {name: document[name] for name in ("snapshots", "missing", "notes", "alarms")}
        )
        return code
    say(f"wrote {output}")
    say_words(_summary(found))
    options.print_lines("note: ", found.notes())
    options.print_lines("ALARM ", found.alarms)
    return code


def _summary(found: "SnapshotLog") -> str:
    improved = sum("improved" in step.change for steps in found.steps.values() for step in steps if step.commit is None)
    known = counted(len(found.steps), "instance")
    return f"{counted(len(found.links), 'snapshot')}, {known}, {counted(improved, 'improvement')}"


def _print_link(link: "Link") -> None:
    from gapline.references.history import link_facts

    facts = link_facts(link)
    dated = f"as of {facts['as_of']}" if facts["as_of"] else "undated"
    counts = f"{counted(facts['instances'], 'instance')}, {facts['certified']} certified"
    say_words(f"{printable(facts['name'])} {facts['digest'][:19]}… {dated}, {counts}")
    changes, store = facts["changes"], facts["store"]
    if changes is not None:
        told = ", ".join(f"{number} {kind.replace('_', ' ')}" for kind, number in changes.items() if number)
        say_words(f"  {told or 'nothing changed'} since its parent {str(facts['parent'])[:19]}…")
    origin = f"{store['name']} {store.get('version') or ''}".rstrip()
    say_words(f"  {printable(facts['file'])}, from {printable(origin)}")

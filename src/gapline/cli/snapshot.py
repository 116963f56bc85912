"""`gapline snapshot`: freeze, diff, verify and show reference sets; fold, log and page have files of their own."""

from typing import Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli import snapshot_options as words
from gapline.cli.output import show_work
from gapline.cli.snapshot_fold import fold
from gapline.cli.snapshot_log import log, page
from gapline.contract.progress import doing
from gapline.terminal import say, say_words
from gapline.text import counted


@click.group("snapshot", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Freeze, fold, diff, verify and show reference sets, and tell where their values come from.

    Example: gapline snapshot freeze refs.csv --name mine -o references/mine.json
    """


command.add_command(fold)
command.add_command(log)
command.add_command(page)


@command.command("freeze")
@click.argument("sources", nargs=-1, required=True, metavar="FILE|STORE:PLACE...", shell_complete=completion.files)
@words.NAME
@words.OUT
@click.option("--objective", help="Objective to read, in a store with several.")
@words.FAMILY
@words.CLONES
@words.AS_OF
@click.option("--store-version", "version", help="Version of the store, where it does not say so itself.")
@click.option("--url", help="Address of the store.")
@click.option("--checker", help="The checker that priced the values.")
@options.tables_of_traces
@words.VALIDATION
@click.option("--reprice", is_flag=True, help="Evaluate stored routes again with the installed checker.")
@words.TOLERANCE
@options.as_json
def freeze(sources: tuple[str, ...], name: str, output: str, validation: str, as_json: bool, **facts: Any) -> int:
    """Freeze FILE.csv, FILE.solu, FILE.json, cvrplib:DIR, mamut:PATH@COMMIT, campaign:DIR, history:FILE, combopt:PATH.

    Several stores become one snapshot, in which each value names its own. A file of another suffix is named with its
    store, csv:FILE or solu:FILE.

    Example: gapline snapshot freeze mamut:store@v1.2 --objective Duration --name v1.2 -o references/v1.2.json
    """
    from gapline.references.alarms import find_alarms
    from gapline.references.freeze import freeze as freeze_store

    show_work()
    doing("reading the stores")
    reading = {one: facts[one] if one == "sense" else facts.pop(one) for one in options.TABLE_CHOICES}
    frozen = freeze_store(*sources, name=name, trust_solver=validation == "solver", reading=reading, **facts)
    snapshot = frozen.snapshot
    snapshot.save(output)
    alarms = find_alarms(snapshot)
    if as_json:
        moved = [words.moved(one) for one in frozen.moved]
        options.print_json(
            words.facts(snapshot) | {"file": output, "notes": frozen.notes, "moved": moved} | words.alarms(alarms)
        )
        return 1 if frozen.moved or alarms else 0
    say(f"wrote {output}")
    words.print_facts(snapshot)
    options.print_lines("note: ", frozen.notes)
    for one in frozen.moved:
        say_words(f"moved: {words.moved_words(one)}")
    options.print_lines("ALARM ", alarms)
    return 1 if frozen.moved or alarms else 0


@command.command("diff")
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@words.TOLERANCE
@words.SENSE
@output.options
@options.as_json
def diff(
    *,
    old: str,
    new: str,
    tolerance: float,
    sense: str | None,
    outputs: tuple[str, ...],
    all_columns: bool,
    as_json: bool,
) -> int:
    """Say what changed between two snapshots; exit code 1 where a certificate is contradicted.

    Example: gapline snapshot diff references/mine.json references/mine-2.json
    """
    from gapline.references.alarms import find_alarms
    from gapline.references.diff import diff_snapshots
    from gapline.references.resolve import rewritten_instances
    from gapline.references.snapshot import Snapshot
    from gapline.report.tables.snapshots import difference_table

    before, after = Snapshot.load(old), Snapshot.load(new)
    found = diff_snapshots(before, after, tolerance=tolerance, sense=sense)
    alarms = find_alarms([before, after], tolerance=tolerance, sense=sense)
    notes = rewritten_instances([before, after])
    document = found.document() | {"notes": notes} | words.alarms(alarms)
    if as_json:
        options.print_json(document)
        return 1 if alarms else 0
    certificates = f"; {counted(len(alarms), 'certificate')} contradicted: see ALARM" if alarms else ""
    say_words(f"{found.common} instances in both, {found.unchanged} of them unchanged{certificates}")
    table = difference_table(found.classes())
    if table.rows or outputs:
        say()
        output.show([table], outputs=outputs, all_columns=all_columns, document=lambda: document)
    options.print_lines("note: ", notes)
    options.print_lines("ALARM ", alarms)
    return 1 if alarms else 0


@command.command("verify")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@words.TOLERANCE
@words.SENSE
@options.as_json
def verify(files: tuple[str, ...], tolerance: float, sense: str | None, as_json: bool) -> int:
    """Verify digests, and that certificates of several snapshots agree.

    Example: gapline snapshot verify references/mine.json references/mine-2.json
    """
    from pathlib import Path

    from gapline.errors import GaplineError
    from gapline.references.alarms import find_alarms
    from gapline.references.diff import find_snapshot
    from gapline.references.snapshot import Snapshot

    results: list[dict[str, object]] = []
    whole = []
    for file in files:
        try:
            snapshot = Snapshot.load(file)
        except GaplineError as error:
            results.append({"file": file, "whole": False, "error": str(error)})
            continue
        whole.append(snapshot)
        parent = find_snapshot(snapshot.parent, Path(file).parent)
        results.append(
            {"file": file, "whole": True}
            | words.facts(snapshot)
            | {"parent_file": None if parent is None else str(parent)}
        )
    alarms = find_alarms(whole, tolerance=tolerance, sense=sense)
    broken = len(whole) < len(files)
    if as_json:
        options.print_json({"files": results} | words.alarms(alarms))
        return 1 if broken or alarms else 0
    for result in results:
        if not result["whole"]:
            say_words(f"BROKEN {result['error']}")
            continue
        parent_note = ""
        if result["parent"]:
            parent_note = f", parent {result['parent_file'] or str(result['parent']) + ' not at hand'}"
        say_words(f"whole {result['file']}: {result['digest']}{parent_note}")
    options.print_lines("ALARM ", alarms)
    return 1 if broken or alarms else 0


@command.command("show")
@click.argument("file", type=click.Path())
@click.option(
    "--instance",
    "patterns",
    multiple=True,
    shell_complete=options.instances,
    help="Only instances that match this name or pattern.",
)
@output.options
@options.as_json
def show(file: str, patterns: tuple[str, ...], outputs: tuple[str, ...], all_columns: bool, as_json: bool) -> None:
    """Show a snapshot: where it comes from, and its values.

    Example: gapline snapshot show references/mine.json --instance 'n=20/*'
    """
    from fnmatch import fnmatchcase

    from gapline.references.snapshot import Snapshot
    from gapline.report.tables.snapshots import value_table

    snapshot = Snapshot.load(file)
    kept = {
        instance: entry
        for instance, entry in snapshot.values.items()
        if not patterns or any(instance == pattern or fnmatchcase(instance, pattern) for pattern in patterns)
    }
    document = snapshot.document() | {"digest": snapshot.digest}
    document["values"] = {instance: entry.document() for instance, entry in kept.items()}
    if as_json:
        options.print_json(document)
        return
    words.print_facts(snapshot)
    say()
    output.show([value_table(kept)], outputs=outputs, all_columns=all_columns, document=lambda: document)

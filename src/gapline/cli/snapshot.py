"""`gapline snapshot`: freeze, fold, diff, verify and show reference sets; log and page have a file of their own."""

from typing import Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli import snapshot_options as words
from gapline.cli.command import Command
from gapline.cli.output import show_work
from gapline.cli.snapshot_log import log, page
from gapline.contract.progress import doing
from gapline.terminal import say, say_words
from gapline.text import counted, matches, printable


@click.group("snapshot", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Freeze, fold, diff, verify and show reference sets, and tell where their values come from.

    Example: gapline snapshot freeze refs.csv --name mine -o references/mine.json
    """


command.add_command(log)
command.add_command(page)


@command.command("freeze", cls=Command)
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


@command.command("fold", cls=Command)
@click.argument("snapshot", type=click.Path(dir_okay=False))
@click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completion.files)
@words.NAME
@words.OUT
@options.tables_of_traces
@click.option("--horizon", type=float, help="Horizon in seconds, for runs that state none.")
@click.option("--transform", help="Declared transform of the objective, such as shift:10.")
@click.option("--include-late", is_flag=True, help="Also take checked candidates after the horizon.")
@click.option("--add", is_flag=True, help="Also add instances that the snapshot does not have.")
@click.option(
    "--validation",
    type=click.Choice(["checker", "solver"]),
    default="checker",
    show_default=True,
    help="With `solver`, also take candidates and values that nobody checked, on your word.",
)
@click.option("--allow-unchecked", is_flag=True, help="Leave unchecked candidates out instead of refusing.")
@click.option("--reprice", is_flag=True, help="Take the checker's price where a stored solution has another one.")
@words.FAMILY
@words.CLONES
@words.AS_OF
@words.TOLERANCE
@options.as_json
def fold(
    *,
    snapshot: str,
    sources: tuple[str, ...],
    output: str,
    horizon: float | None,
    transform: str | None,
    validation: str,
    allow_unchecked: bool,
    reprice: bool,
    family: str | None,
    clones: str | None,
    as_json: bool,
    **choices: Any,
) -> int:
    """Fold what beat a snapshot into a new one; the old file stays as it is.

    SOURCE is a study, a campaign, a trace, or values: FILE.csv (instance,value), FILE.solu, another snapshot, and any
    store that `freeze` takes. Stored solutions are checked first.

    Example: gapline snapshot fold references/mine.json campaign/ theirs.csv --name mine-2 -o references/mine-2.json
    """
    import gapline as gl
    from gapline.errors import UsageError
    from gapline.references.fold import fold as fold_sources
    from gapline.references.fold_candidates import read_offer
    from gapline.references.freeze import holds_values
    from gapline.traces.merge import contract_senses

    show_work()
    doing("reading")
    old = gl.Snapshot.load(snapshot)
    trust = validation == "solver"
    runs = [source.removeprefix("campaign:") for source in sources if not holds_values(source)]
    tables = {name: choices[name] if name == "sense" else choices.pop(name) for name in options.TABLE_CHOICES}
    campaign = gl.read(runs, **tables) if runs else None
    envelopes = None
    if campaign is not None:
        # Refused by default: a value that is too good to be true, once it is a reference, is beaten by nothing.
        unchecked = "solver" if trust else "leave-out" if allow_unchecked else "refuse"
        allow_empty, senses = tables["allow_empty"], contract_senses(runs)
        envelopes = gl.build_envelopes(
            campaign, horizon=horizon, transform=transform, unchecked=unchecked, sense=senses, allow_empty=allow_empty
        )
    elif choices["include_late"] or horizon is not None or transform is not None:
        raise UsageError("--horizon, --transform and --include-late: expected runs among the sources, got values alone")
    told = {"as_of": choices["as_of"], "sense": choices["sense"], "tolerance": choices["tolerance"]}
    stores = {"family": family, "clones": clones, "objective": old.objective} | told
    offers = [read_offer(source, reprice=reprice, trust=trust, **stores) for source in sources if holds_values(source)]
    folded = fold_sources(old, envelopes, offers=offers, campaign=campaign, trust_solver=trust, **choices)
    folded.snapshot.save(output)
    code = 1 if folded.alarms or folded.rejected else 0
    if as_json:
        facts: dict[str, Any] = {"file": output, "summary": folded.summary(), "notes": folded.notes}
        facts |= {"changes": [change.document() for change in folded.changes]}
        facts |= {"rejected": [words.moved(one) for one in folded.rejected]}
        options.print_json(words.facts(folded.snapshot) | facts | words.alarms(folded.alarms))
        return code
    say(f"wrote {output}")
    say_words(folded.summary())
    words.print_facts(folded.snapshot)
    for change in folded.changes:
        was = "nothing" if change.old is None else repr(change.old)
        by = f"by {change.run} at {change.time:g} s" if change.run is not None else f"by {change.source}"
        say_words(f"beaten: {printable(change.instance)}: {was} -> {change.new!r} {printable(by)}")
    for one in folded.rejected:
        say_words(f"rejected: {words.moved_words(one)}")
    options.print_lines("note: ", folded.notes)
    options.print_lines("ALARM ", folded.alarms)
    return code


@command.command("diff", cls=Command)
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@words.TOLERANCE
@words.SENSE
@output.options
def diff(*, old: str, new: str, tolerance: float, sense: str | None, out: output.Output) -> int:
    """Say what changed between two snapshots; exit code 1 where a certificate is contradicted.

    Example: gapline snapshot diff references/mine.json references/mine-2.json
    """
    import gapline as gl
    from gapline.references.resolve import rewritten_instances
    from gapline.report.tables.snapshots import difference_table

    before, after = gl.Snapshot.load(old), gl.Snapshot.load(new)
    found = gl.diff_snapshots(before, after, tolerance=tolerance, sense=sense)
    alarms = gl.find_alarms([before, after], tolerance=tolerance, sense=sense)
    notes = rewritten_instances([before, after])
    document = found.document() | {"notes": notes} | words.alarms(alarms)
    if out.as_json:
        options.print_json(document)
        return 1 if alarms else 0
    certificates = f"; {counted(len(alarms), 'certificate')} contradicted: see ALARM" if alarms else ""
    say_words(f"{found.common} instances in both, {found.unchanged} of them unchanged{certificates}")
    table = difference_table(found.classes())
    if table.rows or out.files:
        say()
        out.show([table], lambda: document)
    options.print_lines("note: ", notes)
    options.print_lines("ALARM ", alarms)
    return 1 if alarms else 0


@command.command("verify", cls=Command)
@click.argument("files", nargs=-1, required=True, type=click.Path())
@words.TOLERANCE
@words.SENSE
@options.as_json
def verify(files: tuple[str, ...], tolerance: float, sense: str | None, as_json: bool) -> int:
    """Verify digests, and that certificates of several snapshots agree.

    Example: gapline snapshot verify references/mine.json references/mine-2.json
    """
    from pathlib import Path

    import gapline as gl
    from gapline.references.snapshot import find_snapshot

    results: list[dict[str, object]] = []
    whole = []
    for file in files:
        try:
            snapshot = gl.Snapshot.load(file)
        except gl.GaplineError as error:
            results.append({"file": file, "whole": False, "error": str(error)})
            continue
        whole.append(snapshot)
        parent = find_snapshot(snapshot.parent, Path(file).parent)
        results.append(
            {"file": file, "whole": True}
            | words.facts(snapshot)
            | {"parent_file": None if parent is None else str(parent)}
        )
    alarms = gl.find_alarms(whole, tolerance=tolerance, sense=sense)
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


@command.command("show", cls=Command)
@click.argument("file", type=click.Path())
@click.option(
    "--instance",
    "patterns",
    multiple=True,
    shell_complete=completion.names("instance"),
    help="Only instances that match this name or pattern.",
)
@output.options
def show(file: str, patterns: tuple[str, ...], out: output.Output) -> None:
    """Show a snapshot: where it comes from, and its values.

    Example: gapline snapshot show references/mine.json --instance 'n=20/*'
    """
    from gapline.references.snapshot import Snapshot
    from gapline.report.tables.snapshots import value_table

    snapshot = Snapshot.load(file)
    kept = {
        instance: entry for instance, entry in snapshot.values.items() if not patterns or matches(instance, patterns)
    }
    document = snapshot.document() | {"digest": snapshot.digest}
    document["values"] = {instance: entry.document() for instance, entry in kept.items()}
    if out.as_json:
        options.print_json(document)
        return
    words.print_facts(snapshot)
    say()
    out.show([value_table(kept)], lambda: document)

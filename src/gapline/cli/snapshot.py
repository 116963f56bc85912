"""`gapline snapshot`: freeze, fold, diff, verify and show versioned reference sets."""

import rich_click as click

from gapline.model.text import counted, printable

_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
_NAME = click.option("--name", required=True, help="Name of the new snapshot.")
_OUT = click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File to write.")
_TOLERANCE = click.option("--tolerance", default=1e-9, show_default=True, help="Relative difference that is no news.")
_AS_OF = click.option("--as-of", help="When the values were known, as ISO 8601.")
_SENSE = click.option("--sense", type=click.Choice(["min", "max"]), help="Direction of the stored values.")
_VALIDATION = click.option(
    "--validation",
    type=click.Choice(["checker", "solver"]),
    default="checker",
    show_default=True,
    help="Whose word on a candidate counts.",
)


@click.group("snapshot", context_settings={"help_option_names": ["-h", "--help"]})
def command() -> None:
    """Freeze, fold, diff, verify and show reference sets.

    Example: gapline snapshot freeze csv:refs.csv --name mine -o references/mine.json
    """


@command.command("freeze")
@click.argument("source")
@_NAME
@_OUT
@click.option("--objective", help="Objective to read, in a store with several.")
@click.option("--family", help="Folder of the family inside a git store.")
@_AS_OF
@click.option("--store-version", "version", help="Version of the store, where it does not say so itself.")
@click.option("--url", help="Address of the store.")
@click.option("--checker", help="The checker that priced the values.")
@_SENSE
@_VALIDATION
@click.option("--reprice", is_flag=True, help="Evaluate stored routes again with the installed checker.")
@_TOLERANCE
@_JSON
def freeze(source: str, name: str, output: str, validation: str, as_json: bool, **options: object) -> int:
    """Freeze a store: csv:FILE, solu:FILE, cvrplib:DIR, mamut:PATH@COMMIT, campaign:DIR.

    Example: gapline snapshot freeze mamut:store@v1.2 --objective Duration --name v1.2 -o references/v1.2.json
    """
    import json
    from dataclasses import asdict

    from gapline.reference.alarm import find_alarms
    from gapline.reference.freeze import freeze as freeze_store

    frozen = freeze_store(source, name=name, trust_solver=validation == "solver", **options)
    snapshot = frozen.snapshot
    snapshot.save(output)
    alarms = tuple(find_alarms(snapshot))
    if as_json:
        facts = _facts(snapshot) | {"file": output, "notes": frozen.notes, "moved": [asdict(m) for m in frozen.moved]}
        click.echo(json.dumps(facts | {"alarms": [alarm.document() for alarm in alarms]}, indent=1))
    else:
        click.echo(f"wrote {output}")
        _print_facts(snapshot)
        _print_notes(frozen.notes)
        for moved in frozen.moved:
            now = "infeasible" if moved.repriced is None else repr(moved.repriced)
            why = f" ({printable(moved.reason)})" if moved.reason else ""
            click.echo(f"moved: {printable(moved.instance)}: stored {moved.stored!r}, now {now}{why}")
        _print_alarms(alarms)
    return 1 if frozen.moved or alarms else 0


@command.command("fold")
@click.argument("snapshot", type=click.Path(dir_okay=False))
@click.argument("sources", nargs=-1, required=True)
@_NAME
@_OUT
@click.option("--horizon", type=float, help="Horizon in seconds, for runs that state none.")
@click.option("--transform", help="Declared transform of the objective, such as shift:10.")
@click.option("--include-late", is_flag=True, help="Also take checked candidates after the horizon.")
@click.option("--add", is_flag=True, help="Also add instances that the snapshot does not have.")
@_VALIDATION
@click.option("--allow-unchecked", is_flag=True, help="Leave unchecked candidates out instead of refusing.")
@_AS_OF
@_TOLERANCE
@_JSON
def fold(
    *,
    snapshot: str,
    sources: tuple[str, ...],
    name: str,
    output: str,
    horizon: float | None,
    transform: str | None,
    include_late: bool,
    add: bool,
    validation: str,
    allow_unchecked: bool,
    as_of: str | None,
    tolerance: float,
    as_json: bool,
) -> int:
    """Fold what beat a snapshot into a new one; the old file stays as it is.

    Example: gapline snapshot fold references/mine.json campaign/ --name mine-2 -o references/mine-2.json
    """
    import json

    from gapline.capture.read import read
    from gapline.envelope.build import build_envelopes
    from gapline.reference.fold import fold as fold_runs
    from gapline.reference.snapshot import Snapshot

    old = Snapshot.load(snapshot)
    campaign = read(list(sources))
    unchecked = "solver" if validation == "solver" else "leave-out" if allow_unchecked else "refuse"
    folded = fold_runs(
        old,
        build_envelopes(campaign, horizon=horizon, transform=transform, unchecked=unchecked),
        name=name,
        tolerance=tolerance,
        include_late=include_late,
        campaign=campaign,
        add=add,
        trust_solver=validation == "solver",
        as_of=as_of,
    )
    folded.snapshot.save(output)
    if as_json:
        facts = _facts(folded.snapshot) | {
            "file": output,
            "summary": folded.summary(),
            "changes": [change.document() for change in folded.changes],
            "alarms": [alarm.document() for alarm in folded.alarms],
            "notes": folded.notes,
        }
        click.echo(json.dumps(facts, indent=1))
        return 1 if folded.alarms else 0
    click.echo(f"wrote {output}")
    click.echo(folded.summary())
    _print_facts(folded.snapshot)
    for change in folded.changes:
        was = "nothing" if change.old is None else repr(change.old)
        by = f"by {printable(change.run)} at {change.time:g} s"
        click.echo(f"beaten: {printable(change.instance)}: {was} -> {change.new!r} {by}")
    _print_notes(folded.notes)
    return _print_alarms(folded.alarms)


@command.command("diff")
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@_TOLERANCE
@_SENSE
@_JSON
def diff(old: str, new: str, tolerance: float, sense: str | None, as_json: bool) -> int:
    """Say what changed between two snapshots; exit code 1 where a certificate is contradicted.

    Example: gapline snapshot diff references/mine.json references/mine-2.json
    """
    import json

    from gapline.reference.alarm import find_alarms
    from gapline.reference.diff import diff_snapshots
    from gapline.reference.snapshot import Snapshot

    before, after = Snapshot.load(old), Snapshot.load(new)
    found = diff_snapshots(before, after, tolerance=tolerance, sense=sense)
    alarms = find_alarms([before, after], tolerance=tolerance, sense=sense)
    if as_json:
        click.echo(json.dumps(found.document() | {"alarms": [alarm.document() for alarm in alarms]}, indent=1))
        return 1 if alarms else 0
    certificates = f"; {counted(len(alarms), 'certificate')} contradicted: see ALARM" if alarms else ""
    click.echo(f"{found.common} instances in both, {found.unchanged} of them unchanged{certificates}")
    for kind, differences in found.classes().items():
        if not differences:
            continue
        click.echo(f"{kind.replace('_', ' ')}: {len(differences)}")
        for d in differences:
            line = f"  {printable(d.instance)}: {_value(d.old, d.old_certified)} -> {_value(d.new, d.new_certified)}"
            if kind == "instance_changed":
                line += f"  ({d.old_instance_digest} -> {d.new_instance_digest}: not comparable)"
            elif d.new_source:
                line += f"  ({printable(d.new_source)})"
            click.echo(line)
    return _print_alarms(tuple(alarms))


@command.command("verify")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@_TOLERANCE
@_SENSE
@_JSON
def verify(files: tuple[str, ...], tolerance: float, sense: str | None, as_json: bool) -> int:
    """Verify digests, and that certificates of several snapshots agree.

    Example: gapline snapshot verify references/mine.json references/mine-2.json
    """
    import json
    from pathlib import Path

    from gapline.errors import GaplineError
    from gapline.reference.alarm import find_alarms
    from gapline.reference.relatives import find_snapshot
    from gapline.reference.snapshot import Snapshot

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
            {"file": file, "whole": True} | _facts(snapshot) | {"parent_file": None if parent is None else str(parent)}
        )
    alarms = find_alarms(whole, tolerance=tolerance, sense=sense)
    broken = len(whole) < len(files)
    if as_json:
        click.echo(json.dumps({"files": results, "alarms": [alarm.document() for alarm in alarms]}, indent=1))
        return 1 if broken or alarms else 0
    for result in results:
        if not result["whole"]:
            click.echo(f"BROKEN {result['error']}")
            continue
        parent_note = ""
        if result["parent"]:
            parent_note = f", parent {result['parent_file'] or str(result['parent']) + ' not at hand'}"
        click.echo(f"whole  {result['file']}: {result['digest']}{parent_note}")
    return _print_alarms(tuple(alarms)) or int(broken)


@command.command("show")
@click.argument("file", type=click.Path())
@click.option("--instance", "patterns", multiple=True, help="Only instances that match this name or pattern.")
@_JSON
def show(file: str, patterns: tuple[str, ...], as_json: bool) -> None:
    """Show a snapshot: where it comes from, and its values.

    Example: gapline snapshot show references/mine.json --instance 'n=20/*'
    """
    import json
    from fnmatch import fnmatchcase

    from gapline.reference.snapshot import Snapshot

    snapshot = Snapshot.load(file)
    kept = {
        instance: entry
        for instance, entry in snapshot.values.items()
        if not patterns or any(instance == pattern or fnmatchcase(instance, pattern) for pattern in patterns)
    }
    if as_json:
        document = snapshot.document() | {"digest": snapshot.digest}
        document["values"] = {instance: entry.document() for instance, entry in kept.items()}
        click.echo(json.dumps(document, indent=1))
        return
    _print_facts(snapshot)
    width = max((len(printable(instance)) for instance in kept), default=0)
    for instance, entry in kept.items():
        value = _value(entry.value, entry.certified)
        click.echo(f"  {printable(instance):<{width}}  {value:<22}  {printable(entry.source)}".rstrip())


def _facts(snapshot: object) -> dict[str, object]:
    from gapline.reference.snapshot import Snapshot

    assert isinstance(snapshot, Snapshot)
    return {
        "name": snapshot.name,
        "digest": snapshot.digest,
        "instances": len(snapshot),
        "certified": sum(entry.certified for entry in snapshot.values.values()),
        "as_of": snapshot.as_of,
        "objective": snapshot.objective,
        "checker": snapshot.checker,
        "parent": snapshot.parent,
        "store": snapshot.store.model_dump(exclude_unset=True),
    }


def _print_facts(snapshot: object) -> None:
    facts = _facts(snapshot)
    store = facts.pop("store")
    assert isinstance(store, dict)
    shown = {name: value for name, value in facts.items() if value is not None}
    shown |= {f"store {name}": value for name, value in store.items() if value}
    for name, value in shown.items():
        click.echo(f"{name:<14} {printable(value)}")


def _print_notes(notes: tuple[str, ...]) -> None:
    for note in notes:
        click.echo(f"note: {printable(note)}")


def _print_alarms(alarms: tuple[object, ...]) -> int:
    for alarm in alarms:
        click.echo(f"ALARM {printable(alarm)}")
    return 1 if alarms else 0


def _value(value: float | None, certified: bool) -> str:
    return ("none" if value is None else repr(value)) + (" certified" if certified else "")

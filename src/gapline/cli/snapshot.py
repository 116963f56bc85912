"""`gapline snapshot`: freeze, fold, diff, verify and show versioned reference sets."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.model.text import counted, printable
from gapline.terminal import say

if TYPE_CHECKING:
    from collections.abc import Iterable

    from gapline.reference.alarm import Alarm
    from gapline.reference.snapshot import Snapshot

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
@click.argument("sources", nargs=-1, required=True, metavar="STORE:PLACE...")
@_NAME
@_OUT
@click.option("--objective", help="Objective to read, in a store with several.")
@click.option("--family", help="Folder of the family inside a git store.")
@click.option("--clones", type=click.Path(file_okay=False), help="Folder of clones of a git store's submodules.")
@_AS_OF
@click.option("--store-version", "version", help="Version of the store, where it does not say so itself.")
@click.option("--url", help="Address of the store.")
@click.option("--checker", help="The checker that priced the values.")
@_SENSE
@_VALIDATION
@click.option("--reprice", is_flag=True, help="Evaluate stored routes again with the installed checker.")
@_TOLERANCE
@options.as_json
def freeze(sources: tuple[str, ...], name: str, output: str, validation: str, as_json: bool, **facts: object) -> int:
    """Freeze csv:FILE, solu:FILE, cvrplib:DIR, mamut:PATH@COMMIT, campaign:DIR, history:FILE, combopt:PATH.

    Several stores become one snapshot, in which each value names its own.

    Example: gapline snapshot freeze mamut:store@v1.2 --objective Duration --name v1.2 -o references/v1.2.json
    """
    from dataclasses import asdict

    from gapline.reference.alarm import find_alarms
    from gapline.reference.freeze import freeze as freeze_store

    frozen = freeze_store(*sources, name=name, trust_solver=validation == "solver", **facts)
    snapshot = frozen.snapshot
    snapshot.save(output)
    alarms = find_alarms(snapshot)
    if as_json:
        moved = [asdict(one) for one in frozen.moved]
        options.print_json(_facts(snapshot) | {"file": output, "notes": frozen.notes, "moved": moved} | _alarms(alarms))
        return 1 if frozen.moved or alarms else 0
    say(f"wrote {output}")
    _print_facts(snapshot)
    options.print_lines("note: ", frozen.notes)
    for one in frozen.moved:
        now = "infeasible" if one.repriced is None else repr(one.repriced)
        why = f" ({printable(one.reason)})" if one.reason else ""
        say(f"moved: {printable(one.instance)}: stored {one.stored!r}, now {now}{why}")
    options.print_lines("ALARM ", alarms)
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
    as_json: bool,
    **choices: Any,
) -> int:
    """Fold what beat a snapshot into a new one; the old file stays as it is.

    Example: gapline snapshot fold references/mine.json campaign/ --name mine-2 -o references/mine-2.json
    """
    from gapline.capture.read import read
    from gapline.envelope.build import build_envelopes
    from gapline.reference.fold import fold as fold_runs
    from gapline.reference.snapshot import Snapshot

    old = Snapshot.load(snapshot)
    campaign = read(list(sources))
    # Refused by default: a value that is too good to be true, once it is a reference, is beaten by nothing.
    unchecked = "solver" if validation == "solver" else "leave-out" if allow_unchecked else "refuse"
    envelopes = build_envelopes(campaign, horizon=horizon, transform=transform, unchecked=unchecked)
    folded = fold_runs(old, envelopes, campaign=campaign, trust_solver=validation == "solver", **choices)
    folded.snapshot.save(output)
    if as_json:
        changes = [change.document() for change in folded.changes]
        facts = {"file": output, "summary": folded.summary(), "changes": changes, "notes": folded.notes}
        options.print_json(_facts(folded.snapshot) | facts | _alarms(folded.alarms))
        return 1 if folded.alarms else 0
    say(f"wrote {output}")
    say(folded.summary())
    _print_facts(folded.snapshot)
    for change in folded.changes:
        was = "nothing" if change.old is None else repr(change.old)
        by = f"by {printable(change.run)} at {change.time:g} s"
        say(f"beaten: {printable(change.instance)}: {was} -> {change.new!r} {by}")
    options.print_lines("note: ", folded.notes)
    options.print_lines("ALARM ", folded.alarms)
    return 1 if folded.alarms else 0


@command.command("diff")
@click.argument("old", type=click.Path(dir_okay=False))
@click.argument("new", type=click.Path(dir_okay=False))
@_TOLERANCE
@_SENSE
@options.as_json
def diff(old: str, new: str, tolerance: float, sense: str | None, as_json: bool) -> int:
    """Say what changed between two snapshots; exit code 1 where a certificate is contradicted.

    Example: gapline snapshot diff references/mine.json references/mine-2.json
    """
    from gapline.reference.alarm import find_alarms
    from gapline.reference.comparable import rewritten_instances
    from gapline.reference.diff import diff_snapshots
    from gapline.reference.snapshot import Snapshot

    before, after = Snapshot.load(old), Snapshot.load(new)
    found = diff_snapshots(before, after, tolerance=tolerance, sense=sense)
    alarms = find_alarms([before, after], tolerance=tolerance, sense=sense)
    notes = rewritten_instances([before, after])
    if as_json:
        options.print_json(found.document() | {"notes": notes} | _alarms(alarms))
        return 1 if alarms else 0
    certificates = f"; {counted(len(alarms), 'certificate')} contradicted: see ALARM" if alarms else ""
    say(f"{found.common} instances in both, {found.unchanged} of them unchanged{certificates}")
    for kind, differences in found.classes().items():
        if not differences:
            continue
        say(f"{kind.replace('_', ' ')}: {len(differences)}")
        for d in differences:
            line = f"  {printable(d.instance)}: {_value(d.old, d.old_certified)} -> {_value(d.new, d.new_certified)}"
            if kind == "instance_changed":
                line += f"  ({d.old_instance_digest} -> {d.new_instance_digest}: not comparable)"
            elif d.new_source:
                line += f"  ({printable(d.new_source)})"
            say(line)
    options.print_lines("note: ", notes)
    options.print_lines("ALARM ", alarms)
    return 1 if alarms else 0


@command.command("verify")
@click.argument("files", nargs=-1, required=True, type=click.Path())
@_TOLERANCE
@_SENSE
@options.as_json
def verify(files: tuple[str, ...], tolerance: float, sense: str | None, as_json: bool) -> int:
    """Verify digests, and that certificates of several snapshots agree.

    Example: gapline snapshot verify references/mine.json references/mine-2.json
    """
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
        options.print_json({"files": results} | _alarms(alarms))
        return 1 if broken or alarms else 0
    for result in results:
        if not result["whole"]:
            say(f"BROKEN {result['error']}")
            continue
        parent_note = ""
        if result["parent"]:
            parent_note = f", parent {result['parent_file'] or str(result['parent']) + ' not at hand'}"
        say(f"whole  {result['file']}: {result['digest']}{parent_note}")
    options.print_lines("ALARM ", alarms)
    return 1 if broken or alarms else 0


@command.command("show")
@click.argument("file", type=click.Path())
@click.option("--instance", "patterns", multiple=True, help="Only instances that match this name or pattern.")
@options.as_json
def show(file: str, patterns: tuple[str, ...], as_json: bool) -> None:
    """Show a snapshot: where it comes from, and its values.

    Example: gapline snapshot show references/mine.json --instance 'n=20/*'
    """
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
        options.print_json(document)
        return
    _print_facts(snapshot)
    width = max((len(printable(instance)) for instance in kept), default=0)
    for instance, entry in kept.items():
        value = _value(entry.value, entry.certified)
        say(f"  {printable(instance):<{width}}  {value:<22}  {printable(entry.source)}".rstrip())


def _facts(snapshot: "Snapshot") -> dict[str, Any]:
    counts = {"instances": len(snapshot), "certified": sum(entry.certified for entry in snapshot.values.values())}
    rest = {name: getattr(snapshot, name) for name in ("as_of", "objective", "checker", "parent")}
    store = {"store": snapshot.store.model_dump(exclude_unset=True)}
    return {"name": snapshot.name, "digest": snapshot.digest} | counts | rest | store


def _print_facts(snapshot: "Snapshot") -> None:
    facts = _facts(snapshot)
    store = facts.pop("store")
    parts = [f"{one['name']} {one.get('version') or ''}".strip() for one in store.pop("stores", ())]
    facts |= {f"store {name}": value or None for name, value in store.items()}
    facts |= {f"store {number}": part for number, part in enumerate(parts, start=1)}
    for name, value in facts.items():
        if value is not None:
            say(f"{name:<14} {printable(value)}")


def _alarms(alarms: "Iterable[Alarm]") -> dict[str, Any]:
    return {"alarms": [alarm.document() for alarm in alarms]}


def _value(value: float | None, certified: bool) -> str:
    return ("none" if value is None else repr(value)) + (" certified" if certified else "")

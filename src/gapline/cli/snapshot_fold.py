"""`gapline snapshot fold`: a new snapshot from an old one, and from the runs and values that beat it."""

from typing import Any

import rich_click as click

from gapline.cli import completion, options
from gapline.cli import snapshot_options as words
from gapline.cli.command import Command
from gapline.cli.output import show_work
from gapline.contract.progress import doing
from gapline.terminal import say, say_words
from gapline.text import printable


@click.command("fold", cls=Command)
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

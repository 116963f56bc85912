"""`gapline merge`: campaigns with disjoint runs into one."""

from typing import Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.cli.output import show_work
from gapline.contract.progress import doing
from gapline.terminal import say_words


@click.command("merge", cls=Command)
@options.sources
@options.memory
@options.choice_options(*options.FILTER_CHOICES, *options.TABLE_CHOICES)
@click.option("-o", "--output", required=True, type=click.Path(), help="Campaign directory to write.")
@click.option("--flat", is_flag=True, help="One set of columns instead of a part per campaign; copies everything.")
def command(sources: tuple[str, ...], output: str, flat: bool, **choices: Any) -> None:
    """Merge traces, campaigns or studies with disjoint runs; clashes are listed and refused.

    Campaign directories become parts of the new one: their files are linked, where the file system allows it, and not
    copied.

    Example: gapline merge monday/ tuesday/ -o both/
    """
    from functools import partial
    from pathlib import Path

    from gapline.campaign.join import join_campaigns
    from gapline.campaign.partitions import Part
    from gapline.campaign.store import read_manifest
    from gapline.cli.export import contents, filter_and_count
    from gapline.traces.direction import state_sense
    from gapline.traces.merge import parts_of, write_parts
    from gapline.traces.read import matching, read

    show_work()
    doing("reading")
    filters = {name: choices.pop(name) for name in options.FILTER_CHOICES}
    reader = partial(read, **choices)
    opened = parts_of((path for source in sources for path in matching(source)), reader)
    stated = [state_sense(part.campaign, choices["sense"]) for part in opened]
    # What a directory does not say is written anew; its files are linked where nothing is added.
    parts = [part if one is part.campaign else Part(one) for part, one in zip(opened, stated, strict=True)]
    campaign, lines = filter_and_count(join_campaigns([part.campaign for part in parts]), filters)
    doing("writing")
    if flat or len(parts) == 1:
        digest = read_manifest(campaign.save(output))["digest"]
    else:
        written = write_parts(parts, campaign, Path(output))
        digest = written.digest
        files = [f"{n:,} files {how}" for n, how in ((written.linked, "linked"), (written.copied, "copied")) if n]
        lines.insert(0, ", ".join([f"in {len(parts)} parts", *files]))
    say_words(f"wrote {output}: {contents(campaign)}, {digest}")
    options.print_lines("", (*campaign.diagnostics.lines(), *lines))

"""`gapline export`: campaigns as neutral trace files."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.model.text import counted
from gapline.terminal import say

if TYPE_CHECKING:
    from gapline.model.campaign import Campaign
    from gapline.model.diagnostics import Diagnostics

SHOWN_PROBLEMS = 10


@click.command("export")
@options.sources
@options.filters
@options.checker
@click.option("-o", "--output", required=True, type=click.Path(), help="File: .csv, .jsonl, .parquet or .arrow.")
@click.option(
    "--format", "form", type=click.Choice(["csv", "jsonl", "parquet", "arrow"]), help="Where the name does not say it."
)
def command(sources: tuple[str, ...], output: str, form: str | None, checker: str | None, **filters: Any) -> None:
    """Write campaigns or studies as one neutral trace file, which scores again to the same bits.

    Example: gapline export campaign/ -o traces.csv
    """
    import shlex
    from pathlib import Path

    from gapline.capture.export import not_in_a_trace, with_senses, write_trace
    from gapline.capture.planned import runs_of_contract
    from gapline.model.contract import load_contract
    from gapline.model.layout import JOURNALS, is_study
    from gapline.model.reading import TOLERANCE
    from gapline.study import declared_choices, score_options

    campaign, lines = read_and_count(sources, filters, checker)
    command = ""
    if len(sources) == 1 and is_study(sources[0]):
        # What the study scores is what is written: not the runs of arms that its contract no longer has.
        contract, folder = load_contract(sources[0]), Path(sources[0])
        campaign, removed = runs_of_contract(campaign, contract, cells=(folder / JOURNALS).is_dir())
        if removed:
            lines.append(f"left out, because the contract does not have their arms or cells: {counted(removed, 'run')}")
        stated = declared_choices(contract)
        campaign = with_senses(campaign, stated["sense"])
        command = shlex.join(["gapline", "score", output, *score_options(contract, folder)])
        if stated["tolerance"] != TOLERANCE:
            lines.append(f"not in the file, and without an option: the contract's tolerance {stated['tolerance']:g}")
    write_trace(campaign, Path(output), form=form)
    say(f"wrote {output}: {len(campaign):,} runs, {campaign.candidates:,} events")
    options.print_lines("", (*lines, *not_in_a_trace(campaign)))
    if command:
        options.print_lines("", [f"next, to score it as the study does: {command}"])


def read_and_count(
    sources: tuple[str, ...], filters: dict[str, Any], checker: str | None = None
) -> "tuple[Campaign, list[str]]":
    """Read and filter the runs, and say in lines what of the sources is not among them."""
    from gapline.capture.read import read

    whole = read(sources[0] if len(sources) == 1 else list(sources), checker=checker)
    campaign = whole.filter(**filters)
    lines = []
    if left := len(whole) - len(campaign):
        lines.append(f"left out by the filters: {counted(left, 'run')} of {len(whole):,}")
    if number := whole.diagnostics.problem_count:
        lines += [f"{counted(number, 'problem')} while reading:", *first_problems(whole.diagnostics)]
    return campaign, lines


def first_problems(read: "Diagnostics") -> list[str]:
    """Return the first problems of what was read, indented, and how many more there are."""
    left = read.problem_count - SHOWN_PROBLEMS
    more = [f"  and {left:,} more"] if left > 0 else []
    return [*(f"  {problem}" for problem in read.problems[:SHOWN_PROBLEMS]), *more]

"""`gapline pack`: a study as one file that others can check, verify and run again."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say, say_words

if TYPE_CHECKING:
    from gapline.package.pack import Packed

SHOWN = 20


@click.command("pack", cls=Command)
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(dir_okay=False), help="File: .zip or .tar.zst.")
@click.option("--with-alarms", is_flag=True, help="Pack although an integrity alarm rings; the package says so.")
@click.option(
    "--without-instances",
    is_flag=True,
    help="Leave the instances out, where their licence forbids to copy them: digests and where to get them stand in.",
)
@click.option("--keep-hosts", is_flag=True, help="Keep host names, user names and paths of the machines as they are.")
@click.option("--also", multiple=True, metavar="PATTERN", help="Files of the study that nobody names (repeatable).")
@click.option("--stored", is_flag=True, help="Do not compress: the bytes of a .zip then depend on no library.")
@click.option("--allow-code", is_flag=True, help="Run Python functions that the contract names, for the report.")
@options.memory
@options.as_json
def command(study: str, output: str, as_json: bool, **choices: Any) -> int:
    """Pack a study: contract, register, journals, verdicts, snapshots, instances, campaign and results, in one file.

    The same study gives the same bytes on any machine and day. Host names and paths are taken out of the journals.
    Refused are studies with runs under way, broken digests, damaged journals, results that say other numbers, alarms.

    Example: gapline pack my-study -o my-study.zip
    """
    from gapline.package.pack import pack
    from gapline.run.progress import phase_progress

    with phase_progress() as tell:
        packed = pack(study, output, progress=tell, **choices)
    if as_json:
        options.print_json(packed.document())
    else:
        _show(packed)
    return 0


def _show(packed: "Packed") -> None:
    from gapline.contract.layout import DOCUMENT
    from gapline.errors import listing
    from gapline.package.excluded_files import NEVER
    from gapline.text import counted

    say_words(f"wrote {packed.path}: {counted(len(packed.members), 'file')}, {packed.coverage}")
    say(packed.identity.sha256)
    say(packed.identity.swhid)
    times: dict[str, int] = {}
    for one in packed.taken_out:
        times[one.what] = times.get(one.what, 0) + one.times
    if times:
        each = ", ".join(f"{what} {counted(number, 'time')}" for what, number in times.items())
        say_words(f"taken out of journals and logs: {each}; {DOCUMENT} lists where")
    if packed.programs:
        say_words(f"packed programs and code of the study: {listing(packed.programs, most=SHOWN)}")
    own = [f"{one.path} ({one.why})" for one in packed.left_out if one.path not in NEVER]
    options.print_lines("left out: ", own[:SHOWN])
    if len(own) > SHOWN:
        say_words(f"left out: {len(own) - SHOWN:,} more, see {DOCUMENT}")
    options.print_lines("note: ", packed.notes)
    options.print_lines("", packed.unstated)
    if packed.alarms:
        say_words(f"packed with {counted(packed.alarms, 'alarm')}, which the package says")

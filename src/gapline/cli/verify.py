"""`gapline verify`: recompute every result of a package or study and compare it with the stored files."""

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.package.checks.rows import Verification
from gapline.terminal import say, say_words, width, wrapped
from gapline.text import counted, printable


@click.command("verify", cls=Command)
@click.argument("source", type=click.Path(exists=True), metavar="PACKAGE|STUDY")
@click.option("--recheck", is_flag=True, help="Run the checker again on every candidate.")
@click.option("-j", "--jobs", type=click.IntRange(min=1), help="Processes that check, with --recheck (default: one).")
@click.option("--allow-code", is_flag=True, help="Run Python functions that the contract names.")
@options.memory
@options.as_json
def command(source: str, recheck: bool, jobs: int | None, allow_code: bool, as_json: bool) -> int:
    """Make everything that a package or a study says again, and compare it with what is there.

    In this order: the sums, what package.json states, the register, journals, verdicts, the campaign that they make,
    and every number, table, figure, macro, sentence and page of results/, byte by byte. A row for each says whether it
    is shown, differs, or cannot be shown, and why. Exit code 1 where anything differs. Without --recheck and
    --allow-code nothing of the study is run.

    Example: gapline verify study.zip --recheck
    """
    from gapline.package.verify import verify
    from gapline.run.progress import phase_progress

    with phase_progress() as progress:
        found = verify(
            source,
            recheck=recheck,
            allow_code=allow_code,
            jobs=jobs,
            say=lambda text: say(text, err=True),
            progress=progress,
        )
    if as_json:
        options.print_json(found.document())
    else:
        print_verification(found)
    return 0 if found.passed else 1


# Where the words have less room beside the numbers than the first, they stand below them; beyond the second a line is
# too long to be read.
_LEAST, _MOST = 28, 120


def print_verification(found: Verification) -> None:
    """Print the verdict and what differs first, then a row for each thing that was looked at."""
    left = f"{counted(len(found.left), 'row')} not shown" if found.left else "everything is shown"
    say_words(f"{found.kind} {printable(found.source)}: {f'nothing differs; {left}' if found.passed else 'it differs'}")
    if found.first is not None:
        say_words(f"first difference: {printable(found.first)}")
        if others := len(found.differences) - 1 + found.more:
            say_words(f"and {others:,} more; --json names {'the first of them' if found.more else 'them'}")
    say()
    first, second = (max(len(text) for text in texts) for texts in zip(*_heads(found), strict=True))
    for row in found.rows:
        head = f"{row.what:<{first}}  {row.counted:>{second}}  {row.outcome:<9}  "
        told = "; ".join(text for text in (row.how, row.why) if text)
        room = min(width(), _MOST)
        if room - len(head) < _LEAST:
            say(head.rstrip())
            say("\n".join(wrapped(f"    {printable(told)}", room, hang="    ")))
            continue
        lines = wrapped(printable(told), room - len(head))
        say(f"{head}{lines[0]}".rstrip())
        for line in lines[1:]:
            say(" " * len(head) + line)


def _heads(found: Verification) -> list[tuple[str, str]]:
    return [(row.what, row.counted) for row in found.rows]

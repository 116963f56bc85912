"""`gapline verify`: what of a package or a study can be shown to be true."""

import rich_click as click

from gapline.cli import options
from gapline.terminal import say


@click.command("verify")
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
    from gapline.archive.verify import verify
    from gapline.cli.verified_words import print_verification
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

"""`gapline watch`: a study in the terminal while it runs."""

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command


@click.command("watch", cls=Command)
@click.argument("source", type=options.study_path, metavar="STUDY")
@click.option("--once", is_flag=True, help="Print the state of this moment and end.")
def command(source: str, once: bool) -> int:
    """Show how far a study is while it runs: progress, the table of arms, newest events and alarms.

    It ends when every planned run is whole, or with Ctrl-C; no run notices. A folder without a study is waited in until
    there is one. In a pipe it prints plain lines. The exit code is 1 where an integrity alarm rang.

    Example: gapline watch my-study
    """
    from gapline.live.cpu_affinity import go_quietly

    go_quietly()
    from gapline.live.watch import watch

    return watch(source, once=once)

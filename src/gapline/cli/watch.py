"""`gapline watch`: a study in the terminal while it runs."""

from typing import Any

import rich_click as click

from gapline.cli import options


@click.command("watch")
@click.argument("source", type=options.StudyDirectory(exists=True), metavar="STUDY|TRACES")
@click.option("--once", is_flag=True, help="Print the state of this moment and end.")
@options.trace_file
def command(source: str, once: bool, **choices: Any) -> int:
    """Show how far a study is while it runs: progress, the table of arms, newest events and alarms.

    A trace file (CSV or JSONL) that a solver is still writing is followed too. It ends when every planned run is whole,
    or every run of the file says that it has ended, or with Ctrl-C; no run notices. A folder without a study is waited
    in until there is one. In a pipe it prints plain lines. The exit code is 1 where an integrity alarm rang.

    Example: gapline watch my-study
    """
    from gapline.live.cpu_affinity import go_quietly

    go_quietly()
    from gapline.live.trace_follower import opener
    from gapline.live.watch import watch

    return watch(source, opened=opener(**choices), once=once)

"""`gapline watch`: a study in the terminal while it runs."""

import rich_click as click


@click.command("watch")
@click.argument("study", type=click.Path(exists=True, file_okay=False))
@click.option("--once", is_flag=True, help="Print the state of this moment and end.")
def command(study: str, once: bool) -> int:
    """Show how far a study is while it runs: progress, the table of arms, newest events and alarms.

    It ends when every planned run is whole, or with Ctrl-C; no run notices. In a pipe it prints plain lines. The exit
    code is 1 where an integrity alarm rang.

    Example: gapline watch my-study
    """
    from gapline.serve.quiet import go_quietly

    go_quietly()
    from gapline.serve.live import LiveStudy
    from gapline.serve.watch import watch

    live = LiveStudy(study)
    try:
        return watch(live, once=once)
    finally:
        live.close()

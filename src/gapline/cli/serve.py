"""`gapline serve`: a live page of studies while they run."""

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say


@click.command("serve", cls=Command)
@click.argument("source", default=".", type=options.study_path, metavar="[STUDY|FOLDER]")
@click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="Port; 0 picks one.")
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Address to listen on; others than this need a token."
)
@click.option("--token", help="Token that a browser or a script has to bring; made up where --host needs one.")
@click.option("--no-open", is_flag=True, help="Do not open a browser.")
def command(source: str, port: int, host: str, token: str | None, no_open: bool) -> int:
    """Serve a page that follows a study while it runs, wherever it runs: it reads the journals of the study directory.

    A folder shows all studies right below it, also those that appear later.
    Nothing is written, and nobody is let in: it listens on this machine alone unless --host says otherwise, which
    needs the token of the link. The address is the only line on standard output; Ctrl-C ends it, and no run notices.

    Example: gapline serve my-study --port 0 --no-open
    """
    from gapline.errors import EnvironmentLacksError, UsageError

    if token is not None and (not token.isascii() or not token.isprintable() or len(token) < 8 or " " in token):
        raise UsageError("--token: expected at least 8 letters, digits or signs, without spaces")
    # Before Polars is loaded, which starts its threads then.
    from gapline.live.cpu_affinity import go_quietly

    go_quietly()
    try:
        from gapline.live.server import serve
    except ModuleNotFoundError as error:
        raise EnvironmentLacksError.for_extra(str(error.name), "serve") from error

    def tell(address: str) -> None:
        say(address)
        if not no_open:
            import webbrowser

            webbrowser.open(address)

    serve(source, host=host, port=port, token=token, tell=tell)
    return 0

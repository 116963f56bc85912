"""The command line: one call of the public API per command, one file per command."""

import sys


def main() -> None:
    """Run `gapline`; errors of ours become one message and an exit code, never a traceback."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        # Answered before anything else is imported: release scripts ask for it often.
        from gapline.model.version import VERSION

        print(f"gapline {VERSION}")
        return
    from gapline.cli.app import run
    from gapline.terminal import open_closed, replace_unencodable, say

    open_closed()
    replace_unencodable()
    try:
        code = run(arguments)
    except Exception:
        # Only with --debug: the traceback shows data of others too.
        import traceback

        say(traceback.format_exc().rstrip(), err=True)
        code = 1
    sys.exit(code)

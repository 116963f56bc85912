"""The command line: one call of the public API per command, one file per command."""

import gc
import sys


def main() -> None:
    """Run `gapline`; errors of ours become one message and an exit code, never a traceback."""
    arguments = sys.argv[1:]
    if arguments == ["--version"]:
        # Answered before anything else is imported: release scripts ask for it often.
        from gapline.contract.version import VERSION

        print(f"gapline {VERSION}")
        return
    # What is imported stays: to look through it for garbage, again and again and at the end, took a fifth of a small
    # command.
    gc.set_threshold(50_000)
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
    gc.freeze()
    sys.exit(code)

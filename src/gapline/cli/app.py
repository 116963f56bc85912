"""The `gapline` group: commands are loaded when they are called."""

import os
import sys
from importlib import import_module
from keyword import iskeyword
from typing import Any

import rich_click as click
from click.exceptions import Exit

from gapline import __version__
from gapline.errors import GaplineError, closest

# In the order of the flow; `NAME` lives in `gapline.cli.NAME` as `command`.
COMMANDS = (
    "demo",
    "init",
    "generate",
    "run",
    "status",
    "check",
    "import",
    "export",
    "merge",
    "snapshot",
    "score",
    "curve",
    "compare",
    "analyse",
    "report",
    "paper",
    "doctor",
)


class _Commands(click.RichGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:  # noqa: ARG002 (click's signature)
        if name not in COMMANDS:
            return None
        # `import` is a keyword, so its module is `import_`.
        module = name.replace("-", "_") + "_" * iskeyword(name)
        command = import_module(f"gapline.cli.{module}").command
        assert isinstance(command, click.Command)
        return command

    def resolve_command(self, ctx: click.Context, args: list[str]) -> Any:
        if args and args[0] not in COMMANDS and not args[0].startswith("-"):
            near = closest(args[0], COMMANDS)
            hint = f" Did you mean {near!r}?" if near else ""
            raise click.UsageError(f"No such command {args[0]!r}.{hint}", ctx=ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="gapline", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def gapline(debug: bool) -> None:
    """Judge anytime solvers by the whole line of the gap over time.

    Example: gapline score traces.csv --references refs.csv --horizon 30
    """


def run(arguments: list[str]) -> int:  # noqa: PLR0911 (one return per way to end)
    """Run one command line and return its exit code."""
    debug = "--debug" in arguments
    # Accepted anywhere on the line: people add it at the end of the command that failed.
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        result = gapline.main(arguments, prog_name="gapline", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except Exit as stop:
        return int(stop.exit_code)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        print("interrupted", file=sys.stderr)
        return 130
    except BrokenPipeError:
        # The reader of our output went away (`gapline score … | head`): nothing is wrong.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except GaplineError as error:
        if debug:
            raise
        print(f"error: {error}", file=sys.stderr)
        return error.exit_code
    except Exception as error:
        if debug:
            raise
        print(f"internal error: {type(error).__name__}: {error}\nHint: run it again with --debug", file=sys.stderr)
        return 1

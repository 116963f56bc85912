"""The `gapline` group: commands are imported when they are called."""

import errno
import io
import os
import sys
from importlib import import_module
from keyword import iskeyword
from pathlib import Path
from typing import Any

import rich_click as click
from click.exceptions import Exit

from gapline.contract.version import VERSION
from gapline.errors import EnvironmentLacksError, GaplineError, TraceError, UsageError, closest
from gapline.terminal import say
from gapline.text import printable

# In the order of the workflow; `NAME` lives in `gapline.cli.NAME` as `command`.
COMMANDS = (
    "demo", "init", "generate", "run", "status", "serve", "watch", "check", "import", "export", "merge", "snapshot",
    "score", "curve", "compare", "analyse", "plan", "report", "pack", "verify", "replicate", "paper", "scale", "doctor",
)  # fmt: skip


class _Commands(click.RichGroup):
    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        return list(COMMANDS)

    # Imported by name: `gapline --help` must not import every command's libraries.
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
@click.version_option(VERSION, prog_name="gapline", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show the traceback of an error.")
def gapline(debug: bool) -> None:
    """Judge anytime solvers by the whole line of the gap over time.

    Example: gapline score traces.csv --references refs.csv --horizon 30
    """


def run(arguments: list[str]) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(arguments)
    finally:
        # Look it up without importing it: if the module is not loaded, nothing was compiled and there are no notes.
        compiled = sys.modules.get("gapline.native.compilation")
        while compiled is not None and compiled.notes:
            say(f"note: {compiled.notes.pop()}", err=True)
        _clear_leftovers()


def _clear_leftovers() -> None:
    """Remove unpacked files of killed commands; skip it if this command did not use scratch files."""
    if "gapline.files.scratch_arrays" in sys.modules:
        from gapline.files.scratch_folder import clear_leftovers

        clear_leftovers()


def _run(arguments: list[str]) -> int:  # noqa: PLR0911 (one return per way to end)
    debug = "--debug" in arguments
    # Accepted anywhere on the line: users append it to the command that failed.
    arguments = [argument for argument in arguments if argument != "--debug"]
    try:
        _refuse_odd_arguments(arguments)
        result = gapline.main(arguments, prog_name="gapline", standalone_mode=False)
        return result if isinstance(result, int) else 0
    except Exit as stop:
        return int(stop.exit_code)
    except click.ClickException as error:
        shown = io.StringIO()
        error.show(shown)
        say(shown.getvalue().rstrip("\n"), err=True)
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        say("interrupted", err=True)
        return 130
    except BrokenPipeError:
        # The reader closed the pipe (`gapline score … | head`), which is no error.
        # Python flushes at exit, and would fail again on the closed pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except Exception as error:
        if debug:
            raise
        known = _in_words(error)
        if known is None:
            say(f"internal error: {type(error).__name__}: {error}\nHint: run it again with --debug", err=True)
            return 1
        say(f"error: {known}", err=True)
        return known.exit_code


def _refuse_odd_arguments(arguments: list[str]) -> None:
    """Refuse an empty argument or value, as from a variable that was never set, and one with a NUL."""
    for place, argument in enumerate(arguments):
        if "\0" in argument:
            raise UsageError(f"expected a text without NUL characters, got {argument!r}")
        option, equals, value = argument.partition("=")
        if not argument.strip() or (option.startswith("--") and equals and not value.strip()):
            before = option if equals else " ".join(arguments[max(0, place - 1) : place])
            raise UsageError(f"{printable(before)}: expected a value, got an empty one")


# Errors of a path given by the user; all other system errors are problems of the machine.
_WRONG_PLACE = (
    errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOTEMPTY, errno.ENAMETOOLONG, errno.ELOOP,
)  # fmt: skip


def _in_words(error: Exception) -> GaplineError | None:
    """Explain a failure of the file system or of an encoding; None for one that can only be a defect of gapline."""
    if isinstance(error, GaplineError):
        return error
    if isinstance(error, UnicodeDecodeError):
        bad = error.object[error.start : error.start + 1].hex()
        return TraceError(f"expected text in UTF-8, got byte 0x{bad} at position {error.start}")
    if isinstance(error, UnicodeEncodeError):
        return UsageError(f"expected names in UTF-8, got {error.object[error.start : error.end]!a}")
    if isinstance(error, MemoryError):
        return EnvironmentLacksError("expected more memory, got none", hint="score parts of the runs: --panel, --arm")
    return _system_error(error) if isinstance(error, OSError) else None


def _system_error(error: OSError) -> GaplineError:
    words = error.strerror or str(error) or type(error).__name__
    words = words[0].lower() + words[1:]
    # The second name is the target of a rename, which is the path that the user gave.
    where = error.filename2 or error.filename
    if not isinstance(where, str | bytes | os.PathLike):
        return EnvironmentLacksError(words)
    place = Path(os.fsdecode(where))
    if error.errno in (errno.EEXIST, errno.ENOTDIR):
        # The system names the folder that it could not create; the user needs the file that is in its way.
        for part in (place, *place.parents):
            if part.is_file():
                place, words = part, "expected a directory, got a file"
                break
    said = f"{printable(place)}: {words}"
    return (UsageError if error.errno in _WRONG_PLACE else EnvironmentLacksError)(said)

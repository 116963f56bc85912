"""The reference of every command, made from the commands themselves."""

import re
from collections.abc import Iterator

import click

from gapline.cli.app import COMMANDS, gapline
from handbook.markdown import markdown_table


def all_commands() -> Iterator[tuple[str, click.Command]]:
    """Yield every command with its name as typed; those of a group behind it."""
    context = click.Context(gapline)
    for name in COMMANDS:
        command = gapline.get_command(context, name)
        assert command is not None
        yield name, command
        if isinstance(command, click.Group):
            inner = click.Context(command)
            for sub in command.list_commands(inner):
                found = command.get_command(inner, sub)
                assert found is not None
                yield f"{name} {sub}", found


def command_pages() -> dict[str, str]:
    """Return a page per command, by the path below `reference/`, and one that lists them."""
    found = list(all_commands())
    rows = [["command", "does"]]
    rows += [[f"[`gapline {name}`](commands/{_slug(name)}.md)", _words(command)[0]] for name, command in found]
    listing = "# Commands\n\nMade from the commands themselves; `gapline COMMAND --help` says the same.\n\n"
    exits = (
        "\n\nExit codes: 0 fine, 1 the data failed a check, 2 wrong use, 3 the environment lacks something; `run` and "
        "`replicate` have further ones. An error is one message; `gapline --debug COMMAND …` shows the traceback.\n"
    )
    pages = {f"commands/{_slug(name)}.md": _page(name, command) for name, command in found}
    return {"commands.md": listing + markdown_table(rows) + exits} | pages


def _slug(name: str) -> str:
    return name.replace(" ", "-")


def _words(command: click.Command) -> list[str]:
    """Return the sentences of a command's help, paragraph by paragraph."""
    text = (command.help or "").replace("\b", "")
    return [" ".join(part.split()) for part in re.split(r"\n\s*\n", text) if part.strip()]


def _page(name: str, command: click.Command) -> str:
    context = click.Context(command, info_name=f"gapline {name}")
    usage = " ".join([f"gapline {name}", *command.collect_usage_pieces(context)])
    parts = [f"# gapline {name}", f"```sh\n{usage}\n```"]
    for words in _words(command):
        head, sign, example = words.partition("Example: ")
        parts += [head.strip()] * bool(head.strip())
        parts += [f"```sh\n{example}\n```"] * bool(sign)
    given = [parameter for parameter in command.params if not getattr(parameter, "hidden", False)]
    rows = [_row(option, context) for option in given if isinstance(option, click.Option)]
    if isinstance(command, click.Group):
        names = command.list_commands(context)
        parts.append("Commands: " + ", ".join(f"[`{sub}`]({_slug(name)}-{sub}.md)" for sub in names))
    if rows:
        parts.append("## Options\n\n" + markdown_table([["option", "what it does"], *rows]))
    return "\n\n".join(parts) + "\n"


def _row(option: click.Option, context: click.Context) -> list[str]:
    """Return an option with its value, and what it does; what holds without it stands behind that."""
    value = "" if option.is_flag or option.count else f" {option.make_metavar(context)}"
    # With room to break a line of many choices.
    value = value.replace("|", " | ") if value.count("|") > 1 else value
    names = [*option.opts, *option.secondary_opts]
    typed = ", ".join([*(f"`{name}`" for name in names[:-1]), f"`{names[-1]}{value}`"])
    default = option.to_info_dict()["default"]
    plain = isinstance(default, str | int | float) and default is not False and default != ""
    holds = f" Default: `{default}`." if plain and "default" not in (option.help or "") else ""
    return [typed, (option.help or "") + holds + " Needed." * option.required]

"""The common features of commands: a short help in groups, a longer one, and `--set` for choices of the contract."""

import re
import tomllib
from typing import Any

import rich_click as click
from click.core import ParameterSource
from rich_click.rich_panel import RichOptionPanel

from gapline.cli.options import option_of
from gapline.contract.choices import GROUPS, choice_fields, find_choice
from gapline.errors import UsageError, closest

# The number of options on a short help page, and in one list without groups.
MOST, ONE_LIST = 20, 12
START, COMPUTING, OUTPUT = GROUPS[0], GROUPS[-1], GROUPS[-2]
HELP = "help"
_FIRST = ("references", "horizon", "columns", "sense", "time_unit", "kernels")
# The groups of options that are no choices of an analysis; all others are in the command's own group.
_PLACES = dict.fromkeys(("output", "outputs"), START) | dict.fromkeys(("jobs", "on", "memory"), COMPUTING)
_PLACES |= dict.fromkeys(
    ("as_json", "as_csv", "all_columns", "log_time", "formats", "width", "no_title", "captions", "font_size", "grey",
     "markdown", "junit", "per_run"),
    OUTPUT,
)  # fmt: skip
_PLACES |= dict.fromkeys(("help", "help_all", "settings"), HELP)


def _help_all(context: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not context.resilient_parsing:
        context.meta[__name__] = True
        # As `--help` prints it, in colour where the terminal has any.
        option = context.command.get_help_option(context)
        assert option is not None
        assert option.callback is not None
        option.callback(context, option, True)


_HELP_ALL = click.Option(
    ["--help-all"],
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show all options and exit.",
)


class Command(click.RichCommand):
    """A command whose `--help` has at most twenty options; `more` are parameters of its own that `--help-all` adds."""

    def __init__(self, *args: Any, more: tuple[str, ...] = (), **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.more = more

    def get_help_option_names(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 (click's signature)
        """Return the names of the short help option, the same for every command."""
        return ["--help", "-h"]

    def get_params(self, ctx: click.Context) -> list[click.Parameter]:
        """Return the parameters, including the help options."""
        return [*super().get_params(ctx), _HELP_ALL]

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the line; then `--set` makes those choices that no option made."""
        rest = super().parse_args(ctx, args)
        made: dict[str, str] = {}
        # During completion the line is not finished yet.
        for text in () if ctx.resilient_parsing else ctx.params.pop("settings", ()):
            field, name, value = read_setting(text)
            option = next((one for one in self.params if one.name == name), None)
            if name in made or ctx.get_parameter_source(name) is ParameterSource.COMMANDLINE:
                other = f"--set {made[name]}" if name in made else (option.opts[-1] if option else name)
                raise UsageError(f"{other} and --set {field}: expected one of the two, got both")
            made[name] = field
            ctx.params[name] = _as_typed(option or option_of(name), value, ctx, f"--set {field}")
        return rest

    def shown(self, ctx: click.Context) -> dict[str, list[str]]:
        """Return the options of a help page by group."""
        options = [one for one in self.get_params(ctx) if isinstance(one, click.Option) and not one.hidden]
        if len(options) <= MOST + 1:
            # The short help already shows everything, so that `--help-all` is not needed.
            options.remove(_HELP_ALL)
        elif not ctx.meta.get(__name__):
            options = [one for one in options if self._is_short(one)]
        own = f"gapline {ctx.info_name}" if ctx.parent is None else ctx.command_path
        groups: dict[str, list[str]] = {}
        for one in options:
            group = getattr(one, "panel", None) or _PLACES.get(str(one.name), own)
            groups.setdefault("Options" if len(options) <= ONE_LIST else str(group), []).append(str(one.name))
        first = groups.get(START, [])
        first.sort(key=lambda name: _FIRST.index(name) if name in _FIRST else len(_FIRST))
        order = [START, *(name for name in groups if name not in (*GROUPS, HELP)), *GROUPS[1:], HELP]
        return {group: groups[group] for group in order if group in groups}

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the groups, each in a frame."""
        for group, names in self.shown(ctx).items():
            title = group if group.startswith("gapline") else group.capitalize()
            formatter.write(RichOptionPanel(title, options=names).render(self, ctx, formatter))  # type: ignore[arg-type]

    def _is_short(self, option: click.Option) -> bool:
        if getattr(option, "panel", None) is None:
            return option.name not in self.more
        return getattr(option, "panel", "") == START or find_choice(str(option.name))[1].common


def read_setting(text: str) -> tuple[str, str, Any]:
    """Read FIELD=VALUE: return the field, the choice that it sets, and its value.

    >>> read_setting("aggregate.weighting=instance"), read_setting("score.kernel=['raw']")
    (('aggregate.weighting', 'weighting', 'instance'), ('score.kernel', 'kernels', ['raw']))
    """
    field, equals, value = (part.strip() for part in text.partition("="))
    fields = choice_fields()
    # The plural form, which is the name in Python, is accepted too.
    names = fields | {f"{known.rpartition('.')[0]}.{name}": name for known, name in fields.items()}
    if not equals or not value:
        raise UsageError(f"--set: expected FIELD=VALUE, got {text!r}", hint="such as aggregate.weighting=instance")
    if field not in names:
        near = closest(field, fields)
        hint = f"did you mean {near!r}?" if near else f"fields are {', '.join(sorted(fields))}"
        raise UsageError(f"--set: expected a field of study.toml that is a choice, got {field!r}", hint=hint)
    try:
        table = tomllib.loads(f"value = {value}")
    except tomllib.TOMLDecodeError as error:
        # A text needs no quotes, which would be tedious to type in a shell.
        if re.match(r"[\[{\"']", value):
            raise UsageError(f"--set {field}: expected a value as in study.toml, got {value!r}: {error}") from None
        table = {"value": value}
    if len(table) > 1:
        raise UsageError(f"--set {field}: expected one value, got {value!r}")
    return field, names[field], table["value"]


def _as_typed(option: click.Parameter, value: Any, context: click.Context, where: str) -> Any:
    """Return a value converted by the option's own type, with the option's own error messages."""
    if isinstance(value, dict):
        value = [f"{key}={one}" for key, one in value.items()]
    elif option.multiple and not isinstance(value, list):
        value = [value]
    if option.nargs == 2 and value and not isinstance(value[0], list):
        value = [value]
    if isinstance(value, list) and not option.multiple:
        raise UsageError(f"{where}: expected one value, got {len(value)}")
    try:
        return option.type_cast_value(context, _texts(value))
    except click.BadParameter as error:
        error.param_hint = f"'{where}'"
        raise


def _texts(value: Any) -> Any:
    """Return values as a user would type them."""
    return [_texts(one) for one in value] if isinstance(value, list) else str(value)

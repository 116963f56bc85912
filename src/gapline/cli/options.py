"""Options shared by all commands that score, defined once: their names are those of `gapline.open_study`."""

import sys
from collections.abc import Callable, Iterable, Sequence
from functools import wraps
from shlex import quote
from types import UnionType
from typing import TYPE_CHECKING, Any, Union, get_args, get_origin

import rich_click as click

from gapline.cli import completion, output
from gapline.contract.choices import (
    ChoiceArguments,
    FilterChoices,
    TableChoices,
    choice_fields,
    choice_help,
    choice_values,
    find_choice,
)
from gapline.errors import UsageError
from gapline.terminal import say, say_json, say_words

if TYPE_CHECKING:
    from gapline.study import Study

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
as_json = output.as_json
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _together(*decorators: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


# The command for a package that replaces one for a study directory.
_INSTEAD = {
    "run": "`gapline replicate {path} -o DIR` runs its campaign again here",
    "check": "`gapline verify --recheck {path}` runs its checker again",
    "status": "`gapline score {path}` counts its runs, `gapline verify {path}` shows what it holds",
    "watch": "nothing runs in it: `gapline report {path} -o DIR` writes its page",
    "serve": "nothing runs in it: `gapline report {path} -o DIR` writes its page",
}

_FOLLOWERS = ("watch", "serve")


class StudyDirectory(click.Path):
    """A study directory to work in; for a package or a file to follow, the error names the command that takes it."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of a directory."""
        command = (ctx.info_name if ctx is not None else None) or ""
        if command in _INSTEAD:
            from pathlib import Path

            if Path(value).is_file():
                from gapline.contract.layout import CONTRACT_FILE
                from gapline.traces.package_source import refuse_package

                refuse_package(value, command=command, instead=_INSTEAD[command].format(path=value))
                if command in _FOLLOWERS:
                    is_contract = Path(value).name == CONTRACT_FILE
                    score = f"`gapline score {quote(str(value))}` scores what is in it now"
                    follow = f"`gapline {command} {quote(str(Path(value).parent))}` follows its study"
                    raise UsageError(
                        f"{value}: {command} follows study directories, and this is a file",
                        hint=follow if is_contract else score,
                    )
        return super().convert(value, param, ctx)


study_path = StudyDirectory(exists=True, file_okay=False)
study_directory = click.argument("study", type=study_path)


def _limit_memory(context: click.Context, _option: click.Parameter, amount: str | None) -> None:
    if amount is not None:
        from gapline.files.memory import limited_memory, use_one_heap

        use_one_heap()
        # The limit holds until the command ends.
        context.with_resource(limited_memory(amount))


# How a shell completes the values of a choice, by the kind in `Choice.names`.
_COMPLETED: dict[str, completion.Complete] = {
    "file": completion.files,
    "snapshot": completion.snapshots,
    "kernel": completion.names("kernel", *completion.KERNELS),
    "weight": completion.names("weight", *completion.WEIGHTS),
    "checker": completion.words(*completion.CHECKERS),
    "statistic": completion.words(*completion.STATISTICS),
    "place": completion.words(*completion.PLACES),
} | {kind: completion.names(kind) for kind in ("arm", "instance", "panel")}


def option_of(name: str, *, about: str = "", but: str = "") -> click.RichOption:
    """Return the option of a choice; `about` is put before its help, `but` is a value that it does not offer."""
    kind, choice = find_choice(name)
    option = f"--{choice.option or name}".replace("_", "-")
    parts = get_args(kind) if get_origin(kind) in (Union, UnionType) else (kind,)
    kinds = {get_origin(part) or part for part in parts}
    attributes: dict[str, Any] = {"panel": choice.group}
    if bool in kinds:
        # Without the flag the value is None, which differs from `--pointwise`.
        attributes |= {"is_flag": True, "default": None if "/" in option else False}
    else:
        attributes |= {"metavar": choice.metavar, "multiple": Sequence in kinds}
        values = tuple(value for value in choice_values(name) if value != but)
        attributes["type"] = click.Choice(values) if values else _number_type(kinds, choice.limits)
    if choice.names:
        attributes["shell_complete"] = _COMPLETED[choice.names]
    if choice.metavar == "A B":
        attributes["nargs"] = 2
    if name == "memory":
        attributes |= {"callback": _limit_memory, "expose_value": False}
    text = choice_help(name, repeatable=bool(attributes.get("multiple")))
    if but:
        # Remove the help on that value too.
        text = "; ".join(part for part in text.removesuffix(".").split("; ") if not part.startswith(f"`{but}`")) + "."
    return click.RichOption([option, name], help=about + text, **attributes)


def _number_type(kinds: set[Any], limits: tuple[float, float | None] | None) -> "click.ParamType[Any] | None":
    if int in kinds:
        return click.IntRange(min=None if limits is None else int(limits[0]))
    if float in kinds:
        return click.FLOAT if limits is None else click.FloatRange(*limits, min_open=True, max_open=True)
    return None


def choice_options(*names: str, about: str = "", but: str = "") -> Decorator:
    """Return a decorator that adds the options of choices."""

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        # Click collects options here until it creates the command, in reverse order.
        found = function.__dict__.setdefault("__click_params__", [])
        for name in reversed(names):
            found.append(option_of(name, about=about, but=but if but in choice_values(name) else ""))
        return function

    return decorate


TABLE_CHOICES = tuple(TableChoices.__annotations__)
FILTER_CHOICES = tuple(FilterChoices.__annotations__)
_SCORED = tuple(name for name in ChoiceArguments.__annotations__ if name not in ("statistics", "title"))
settings = click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="FIELD=VALUE",
    shell_complete=completion.words(*(f"{field}=" for field in choice_fields())),
    help="Set a choice as study.toml names it: aggregate.weighting=instance (repeatable).",
)
jobs = click.option("-j", "--jobs", type=click.IntRange(min=1), help="Runs at a time; as many as there are cores for.")
memory, place, title = choice_options("memory"), choice_options("on"), choice_options("title")
tables = choice_options(*TABLE_CHOICES)
tables_of_traces = choice_options(*TABLE_CHOICES, about="Of traces: ")
# Commands that read one reference cannot show two side by side.
choices = _together(choice_options(*_SCORED, but="both"), memory, settings)
sources = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completion.files)
study = _together(sources, choice_options(*_SCORED), memory, settings)
one_reference = _together(sources, choices)
log_time = click.option("--log-time", is_flag=True, help="Draw time logarithmically; the numbers stay the same.")
_figures = _together(
    click.option("--width", metavar="column|page|CM", help="Width of the figures; letters keep their size."),
    click.option("--no-title", is_flag=True, help="Figures without a title."),
    click.option(
        "--captions", is_flag=True, help="Captions in the figures too; they are always in a file beside them."
    ),
    click.option("--font-size", type=float, help="Points of the letters at the axes (default: 8.25)."),
    click.option("--grey", is_flag=True, help="Figures without colours."),
)
figure_formats = click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["svg", "png", "pdf"]),
    help="Formats of the figures (repeatable; default: all three).",
)


def figures(function: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for drawing figures; the command gets them as `canvas`."""

    @wraps(function)
    def drawn(
        *, width: str | None, no_title: bool, captions: bool, font_size: float | None, grey: bool, **rest: Any
    ) -> Any:
        from gapline.report.canvas import FONT_SIZE, Canvas, parse_width

        size = FONT_SIZE if font_size is None else font_size
        canvas = Canvas(parse_width(width), title=not no_title, caption=captions, font_size=size, grey=grey)
        return function(canvas=canvas, **rest)

    return _figures(drawn)


def open_on(sources: Iterable[str], *, on: str | None = None, **choices: Any) -> "Study":
    """Open a study like `open_study`, with workers of the place that `--on` names, until the command ends."""
    from gapline.study import open_study

    if on is None:
        output.show_work()
        return open_study(*sources, **choices)
    from gapline.campaign.remote import is_url
    from gapline.executors.tasks import open_workers
    from gapline.run.progress import task_progress

    context = click.get_current_context()
    assert context is not None
    progress = _first_round(context.with_resource(task_progress("parts of the runs")))
    paths = [source for source in sources if not is_url(source)]
    place = open_workers(on, paths=paths, say=lambda text: say(text, err=True), progress=progress)
    return open_study(*sources, workers=context.with_resource(place), **choices)


def _first_round(progress: Callable[[int, int], None]) -> Callable[[int, int], None]:
    """Report only the first and longest pass over the runs to a log; a terminal shows every pass."""
    rounds = 0

    def tell(done: int, whole: int) -> None:
        nonlocal rounds
        rounds += done == 0
        if rounds < 2 or sys.stderr.isatty():
            progress(done, whole)

    return tell


def numbers(option: str, text: str) -> list[float]:
    """Read numbers with commas between them.

    >>> numbers("--cutoffs", "0.01,1")
    [0.01, 1.0]
    """
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise UsageError(
            f"{option}: expected numbers with commas between them, such as 0.01,0.1,1, got {text!r}"
        ) from None


def write_markdown(place: str | None, text: str) -> None:
    """Write Markdown to a file or the standard output, and to the summary of a GitHub workflow if there is one."""
    import os
    from pathlib import Path

    if place is None:
        return
    if place == "-":
        say(text.rstrip("\n"))
    else:
        write_output(place, text.encode())
    if summary := os.environ.get(STEP_SUMMARY):
        # GitHub requires appending: other steps write to the same file.
        with Path(summary).open("ab") as stream:
            stream.write(f"{text}\n".encode())
        say(f"appended to ${STEP_SUMMARY}", err=True)


def write_output(place: str, content: bytes) -> None:
    """Write a file to a path given by the user, and print its name."""
    from pathlib import Path

    from gapline.files.atomic_write import refuse_no_file, write_atomically

    refuse_no_file(Path(place))
    write_atomically(Path(place), lambda stream: stream.write(content))
    # On the error stream: the standard output may contain a single document.
    say(f"wrote {place}", err=True)


def print_json(document: Any) -> None:
    """Print one JSON document as every command does."""
    say_json(document)


def answer_json(opened: "Study", document: dict[str, Any]) -> int:
    """Print a JSON answer about a study with the common fields; return the exit code for alarms."""
    print_json(document | study_document(opened))
    return 1 if opened.alarms else 0


def study_document(opened: "Study") -> dict[str, Any]:
    """Return the fields that every JSON answer about a study has, under the same names everywhere."""
    read = opened.campaign.diagnostics
    return {
        "notes": opened.notes(),
        "left_out": [{"instance": name, "reason": why} for name, why in opened.left_out.items()],
        "alarms": [alarm.document() for alarm in opened.alarms],
        "unreadable": {"count": read.problem_count, "problems": list(read.problems)},
        **read.attempts_document(),
    }


def print_lines(label: str, facts: Iterable[object], *, err: bool = False) -> None:
    """Print each fact after the label, with long lines broken at spaces and unprintable characters escaped."""
    from gapline.text import printable

    for fact in facts:
        say_words(f"{label}{printable(fact)}", err=err)


def print_remarks(opened: "Study") -> int:
    """Print notes and reading problems; return the exit code for alarms."""
    from gapline.errors import listing
    from gapline.text import counted, printable

    print_lines("note: ", [note for note in opened.notes() if note != opened.scores[0].beaten])
    read = opened.campaign.diagnostics
    if read.problem_count:
        shown = listing(map(printable, read.problems), most=3)
        say_words(f"{counted(read.problem_count, 'problem')} while reading: {shown}")
    return 1 if opened.alarms else 0


def print_first(opened: "Study", *, err: bool = False) -> int:
    """Print what must precede every number, alarms and beaten references; return the exit code for alarms."""
    print_lines("ALARM ", opened.alarms, err=err)
    beaten = opened.scores[0].beaten
    if beaten is not None:
        print_lines("", [f"{beaten}."], err=err)
    if (beaten is not None or opened.alarms) and not err:
        say()
    return 1 if opened.alarms else 0

"""Options that every command which scores takes, from one place: their names are those of `gapline.open_study`."""

import sys
from collections.abc import Callable, Iterable
from shlex import quote
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import completion
from gapline.cli.output import show_work
from gapline.contract.choices import InputChoices, choice_values, find_choice
from gapline.errors import UsageError
from gapline.terminal import say, say_json, say_words

if TYPE_CHECKING:
    from gapline.report.canvas import Canvas
    from gapline.study import Study

STEP_SUMMARY = "GITHUB_STEP_SUMMARY"
Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _together(*decorators: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


# What does on a package what a command does on a study directory.
_INSTEAD = {
    "run": "`gapline replicate {path} -o DIR` runs its campaign again here",
    "check": "`gapline verify --recheck {path}` runs its checker again",
    "status": "`gapline score {path}` counts its runs, `gapline verify {path}` shows what it holds",
    "watch": "nothing runs in it: `gapline report {path} -o DIR` writes its page",
    "serve": "nothing runs in it: `gapline report {path} -o DIR` writes its page",
}

_FOLLOWERS = ("watch", "serve")


class StudyDirectory(click.Path):
    """A study directory to work in; a package, or a file to be followed, is refused with the command that takes it."""

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


def choice(name: str, *, about: str = "") -> Decorator:
    """Return the option of a choice of `gapline.contract.choices`; `about` says of what it is asked for."""
    kind, (default, help_, _, _) = find_choice(name)
    option = f"--{name.replace('_', '-')}"
    if kind is bool:
        return click.option(option, is_flag=True, help=about + help_)
    return click.option(
        option,
        type=click.Choice(choice_values(name)),
        default=default,
        show_default=default is not None,
        help=about + help_,
    )


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _limit_memory(context: click.Context, _option: click.Parameter, amount: str | None) -> None:
    if amount is not None:
        from gapline.files.memory import limited_memory, use_one_heap

        use_one_heap()
        # Until the command ends, for all that it does.
        context.with_resource(limited_memory(amount))


memory = click.option(
    "--memory",
    metavar="AMOUNT",
    callback=_limit_memory,
    expose_value=False,
    help="Hold at most about this much at a time, such as 2GB; the rest waits in scratch files (default: a quarter of "
    "the machine's memory). Results are the same.",
)
place = click.option(
    "--on",
    metavar="PLACE",
    shell_complete=completion.words(*completion.PLACES),
    help="Where the work is done: local:N, dask:ADDRESS, slurm or oar (with options as slurm:partition=short,jobs=50).",
)

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)

arms, instances, panels = (completion.names(kind) for kind in ("arm", "instance", "panel"))
filters = _together(
    click.option(
        "--arm",
        multiple=True,
        shell_complete=arms,
        help="Keep arms that match this name or pattern (repeatable).",
    ),
    click.option(
        "--panel",
        multiple=True,
        shell_complete=panels,
        help="Keep panels that match this name or pattern (repeatable).",
    ),
    click.option(
        "--instance",
        multiple=True,
        shell_complete=instances,
        help="Keep instances that match this name or pattern (repeatable).",
    ),
    click.option(
        "--exclude",
        multiple=True,
        shell_complete=instances,
        help="Leave out instances that match this name or pattern (repeatable).",
    ),
)
checker = click.option(
    "--checker",
    metavar="NAME",
    shell_complete=completion.words(*completion.CHECKERS),
    help="Count the verdicts of this checker instead of the contract's: cvrp, 'mine 2.0'.",
)


def _tables(about: str = "") -> Decorator:
    """Return the options about reading a source: their names are those of `gapline.read`."""
    return _together(
        click.option(
            "--columns",
            metavar="OURS=THEIRS,...",
            help=f"{about}Columns of a table under other names: arm=solver,time=elapsed.",
        ),
        click.option(
            "--decimal", type=click.Choice([".", ","]), help=f"{about}Decimal mark of a table (default: a point)."
        ),
        *(choice(name, about=about) for name in InputChoices.__annotations__),
        click.option(
            "--strict",
            is_flag=True,
            help=f"{about}Refuse sources with problems (bad numbers, rows with too few fields, a last line without a "
            "line end).",
        ),
    )


TABLE_CHOICES = ("columns", "decimal", "strict", *InputChoices.__annotations__)
tables = _tables()
tables_of_traces = _tables("Of traces: ")
choices = _together(
    filters,
    tables,
    memory,
    click.option(
        "--references",
        metavar="FILE|STORE:PLACE",
        shell_complete=completion.files,
        help="CSV instance,value (+ certified,source), .solu, or a store.",
    ),
    click.option(
        "--snapshot",
        "snapshots",
        multiple=True,
        type=click.Path(),
        shell_complete=completion.snapshots,
        help="Snapshot JSON (repeatable).",
    ),
    click.option(
        "--horizon", type=float, help="Seconds: fills runs that state none, re-scores others at a shorter one."
    ),
    click.option(
        "--time-scale",
        multiple=True,
        metavar="HOST=FACTOR",
        help="Multiply the times of runs on HOST (repeatable); always printed.",
    ),
    click.option(
        "--negate",
        multiple=True,
        metavar="ARM",
        shell_complete=arms,
        help="An arm whose source reports the negated objective.",
    ),
    click.option(
        "--transform",
        multiple=True,
        metavar="[INSTANCE=|panel:PANEL=]TRANSFORM",
        help="Declared transform of all or of some instances: shift:C, reciprocal[:C], negate-shift:C, hierarchical:M.",
    ),
    click.option(
        "--leave-out-unscorable",
        is_flag=True,
        help="Leave out instances whose objectives or reference cannot be scored; they are listed and counted.",
    ),
    click.option(
        "--validation",
        type=click.Choice(["checker", "solver"]),
        help="With `solver`, unchecked candidates count as valid, and the output says so.",
    ),
    checker,
    click.option("--allow-unchecked", is_flag=True, help="Leave unchecked candidates out, and say how many."),
    choice("missing"),
    click.option(
        "--kernel",
        "kernels",
        multiple=True,
        shell_complete=completion.kernels,
        help="squeezed, maxform, berthold, dimacs:THETA, raw, python:MODULE:FUNCTION (repeatable; the first leads).",
    ),
    click.option(
        "--allow-code", is_flag=True, help="Run Python functions that the contract names, and modules of its directory."
    ),
    click.option(
        "--weight",
        shell_complete=completion.weights,
        help="Time weight: uniform, early-log:TMIN, end-log:TCUT, steps:0=1,10=0.5, python:MODULE:FUNCTION.",
    ),
    click.option("--goal", "goals", multiple=True, type=float, help="Raw gap goal, such as 0.01 (repeatable)."),
    click.option(
        "--weighting", type=click.Choice(["panel", "instance", "run"]), help="Which units count alike in a mean."
    ),
    click.option(
        "--tier2",
        "tier_two",
        multiple=True,
        metavar="ARM",
        shell_complete=arms,
        help="A descriptive arm: shown, not compared.",
    ),
    click.option(
        "--contrast",
        "contrasts",
        nargs=2,
        multiple=True,
        metavar="A B",
        shell_complete=arms,
        help="A declared contrast (repeatable).",
    ),
    click.option(
        "--interval",
        type=click.Choice(["skew-t", "t", "percentile", "sign-flip"]),
        help="How intervals and p-values are found (default: skew-t; `percentile` is the paper's bootstrap).",
    ),
    click.option(
        "--simultaneous/--pointwise",
        default=None,
        help="Intervals of the declared contrasts that hold together, and joint bands beside the pointwise ones.",
    ),
    click.option("--level", type=_SHARE, help="Level of the intervals (default: 0.95)."),
    click.option("--draws", type=click.IntRange(min=1), help="Draws of a bootstrap or of signs (default: 10,000)."),
    click.option("--seed", type=click.IntRange(min=0), help="Seed of the draws (default: 1)."),
)
sources = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...", shell_complete=completion.files)
_POLICY = "`frozen` refuses values known after the runs; `analysis` folds the runs' best in"
# What reads one reference alone has no side by side to offer.
one_policy = click.option("--policy", type=click.Choice(["frozen", "analysis"]), help=f"{_POLICY}.")
any_policy = click.option(
    "--policy", type=click.Choice(["frozen", "analysis", "both"]), help=f"{_POLICY}; `both` side by side."
)
study = _together(sources, choices, any_policy)
one_reference = _together(sources, choices, one_policy)
log_time = click.option("--log-time", is_flag=True, help="Draw time logarithmically; the numbers stay the same.")
figures = _together(
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


def canvas_of(*, width: str | None, no_title: bool, captions: bool, font_size: float | None, grey: bool) -> "Canvas":
    """Return how figures are drawn, as the options of `figures` say."""
    from gapline.report.canvas import FONT_SIZE, Canvas, parse_width

    size = FONT_SIZE if font_size is None else font_size
    return Canvas(parse_width(width), title=not no_title, caption=captions, font_size=size, grey=grey)


def open_on(sources: Iterable[str], *, on: str | None, **choices: Any) -> "Study":
    """Open a study as `open_study` does, with the workers of the place that `--on` names until the command ends."""
    from gapline.study import open_study

    if on is None:
        show_work()
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
    """Tell a log of the first pass over the runs alone, which is the longest; who watches sees them all."""
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
    """Write Markdown to a file or the standard output, and to the summary of a workflow that has one."""
    import os
    from pathlib import Path

    if place is None:
        return
    if place == "-":
        say(text.rstrip("\n"))
    else:
        write_output(place, text.encode())
    if summary := os.environ.get(STEP_SUMMARY):
        # Appended, as GitHub asks for it: other steps write to the same file.
        with Path(summary).open("ab") as stream:
            stream.write(f"{text}\n".encode())
        say(f"appended to ${STEP_SUMMARY}", err=True)


def write_output(place: str, content: bytes) -> None:
    """Write a file that the caller names, and say so."""
    from pathlib import Path

    from gapline.files.atomic_write import refuse_no_file, write_atomically

    refuse_no_file(Path(place))
    write_atomically(Path(place), lambda stream: stream.write(content))
    # On the error stream: the standard output may be one document.
    say(f"wrote {place}", err=True)


def print_json(document: Any) -> None:
    """Print one JSON document as every command does."""
    say_json(document)


def study_document(opened: "Study") -> dict[str, Any]:
    """Return what every JSON answer about a study says beside its numbers, under the same names everywhere."""
    read = opened.campaign.diagnostics
    return {
        "notes": opened.notes(),
        "left_out": [{"instance": name, "reason": why} for name, why in opened.left_out.items()],
        "alarms": [alarm.document() for alarm in opened.alarms],
        "unreadable": {"count": read.problem_count, "problems": list(read.problems)},
        **read.attempts_document(),
    }


def print_lines(label: str, facts: Iterable[object], *, err: bool = False) -> None:
    """Print each fact behind the label, broken at its spaces where it is long, whatever characters it holds."""
    from gapline.text import printable

    for fact in facts:
        say_words(f"{label}{printable(fact)}", err=err)


def print_remarks(opened: "Study") -> int:
    """Print notes and problems of the reading; return the exit code that alarms ask for."""
    from gapline.errors import listing
    from gapline.text import counted, printable

    print_lines("note: ", [note for note in opened.notes() if note != opened.scores[0].beaten])
    read = opened.campaign.diagnostics
    if read.problem_count:
        shown = listing(map(printable, read.problems), most=3)
        say_words(f"{counted(read.problem_count, 'problem')} while reading: {shown}")
    return 1 if opened.alarms else 0


def print_first(opened: "Study", *, err: bool = False) -> int:
    """Print what comes before every number, alarms and beaten references; return the exit code of alarms."""
    print_lines("ALARM ", opened.alarms, err=err)
    beaten = opened.scores[0].beaten
    if beaten is not None:
        print_lines("", [f"{beaten}."], err=err)
    if (beaten is not None or opened.alarms) and not err:
        say()
    return 1 if opened.alarms else 0

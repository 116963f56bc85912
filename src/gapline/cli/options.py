"""Options that every command which scores takes, from one place: their names are those of `gapline.open_study`."""

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.errors import UsageError
from gapline.terminal import say, say_json

if TYPE_CHECKING:
    from gapline.study import Study

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _together(*decorators: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def _limit_memory(context: click.Context, _option: click.Parameter, amount: str | None) -> None:
    if amount is not None:
        from gapline.model.budget import limited_memory

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
    help="Where the work is done: local:N, dask:ADDRESS, slurm or oar (with options as slurm:partition=short,jobs=50).",
)

_SHARE = click.FloatRange(0, 1, min_open=True, max_open=True)

filters = _together(
    click.option("--arm", multiple=True, help="Keep arms that match this name or pattern (repeatable)."),
    click.option("--panel", multiple=True, help="Keep panels that match this name or pattern (repeatable)."),
    click.option("--instance", multiple=True, help="Keep instances that match this name or pattern (repeatable)."),
    click.option("--exclude", multiple=True, help="Leave out instances that match this name or pattern (repeatable)."),
)
checker = click.option(
    "--checker",
    metavar="NAME",
    help="Count the verdicts of this checker instead of the contract's: cvrp, 'mine 2.0'.",
)
tables = _together(
    click.option(
        "--columns", metavar="OURS=THEIRS,...", help="Columns of a table under other names: arm=solver,time=elapsed."
    ),
    click.option("--decimal", type=click.Choice([".", ","]), help="Decimal mark of a table (default: a point)."),
    click.option(
        "--strict",
        is_flag=True,
        help="Refuse sources with problems (bad numbers, rows with too few fields, a last line without a line end).",
    ),
)
choices = _together(
    filters,
    tables,
    memory,
    click.option(
        "--references", metavar="FILE|STORE:PLACE", help="CSV instance,value (+ certified,source), .solu, or a store."
    ),
    click.option("--snapshot", "snapshots", multiple=True, type=click.Path(), help="Snapshot JSON (repeatable)."),
    click.option(
        "--policy",
        type=click.Choice(["frozen", "analysis", "both"]),
        help="`frozen` refuses values known after the runs; `analysis` folds the runs' best in; `both` side by side.",
    ),
    click.option(
        "--horizon", type=float, help="Seconds: fills runs that state none, re-scores others at a shorter one."
    ),
    click.option(
        "--time-scale",
        multiple=True,
        metavar="HOST=FACTOR|measured[:HOST]",
        help="Multiply the times of runs on HOST (repeatable), or scale by recorded calibrations; always printed.",
    ),
    click.option("--negate", multiple=True, metavar="ARM", help="An arm whose source reports the negated objective."),
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
    click.option(
        "--missing",
        type=click.Choice(["leave-out", "empty", "refuse"]),
        default="leave-out",
        show_default=True,
        help="Planned runs that are interrupted or missing: leave them out, count them as empty, or fail.",
    ),
    click.option(
        "--kernel",
        "kernels",
        multiple=True,
        help="squeezed, maxform, berthold, dimacs:THETA, raw, python:MODULE:FUNCTION (repeatable; the first leads).",
    ),
    click.option(
        "--allow-code", is_flag=True, help="Run Python functions that the contract names, and modules of its directory."
    ),
    click.option(
        "--weight", help="Time weight: uniform, early-log:TMIN, end-log:TCUT, steps:0=1,10=0.5, python:MODULE:FUNCTION."
    ),
    click.option("--goal", "goals", multiple=True, type=float, help="Raw gap goal, such as 0.01 (repeatable)."),
    click.option(
        "--weighting", type=click.Choice(["panel", "instance", "run"]), help="Which units count alike in a mean."
    ),
    click.option("--tier2", "tier_two", multiple=True, metavar="ARM", help="A descriptive arm: shown, not compared."),
    click.option(
        "--contrast", "contrasts", nargs=2, multiple=True, metavar="A B", help="A declared contrast (repeatable)."
    ),
    click.option(
        "--interval",
        type=click.Choice(["skew-t", "t", "studentized", "calibrated", "bca", "percentile", "sign-flip"]),
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
sources = click.argument("sources", nargs=-1, required=True, metavar="SOURCE...")
study = _together(sources, choices)
log_time = click.option("--log-time", is_flag=True, help="Draw time logarithmically; the numbers stay the same.")
figure_formats = click.option(
    "--format",
    "formats",
    multiple=True,
    type=click.Choice(["svg", "png", "pdf"]),
    help="Formats of the figures (repeatable; default: all three).",
)


def open_on(sources: Iterable[str], *, on: str | None, **choices: Any) -> "Study":
    """Open a study as `open_study` does, with the workers of the place that `--on` names until the command ends."""
    from gapline.study import open_study

    if on is None:
        return open_study(*sources, **choices)
    from gapline.model.remote import is_url
    from gapline.run.progress import task_progress
    from gapline.run.where.tasks import open_workers

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
    """Print each fact on a line of its own behind the label, whatever characters it holds."""
    from gapline.model.text import printable

    for fact in facts:
        say(f"{label}{printable(fact)}", err=err)


def print_remarks(opened: "Study") -> int:
    """Print notes, problems of the reading, and alarms; return the exit code that the alarms ask for."""
    from gapline.errors import listing
    from gapline.model.text import counted, printable

    print_lines("note: ", opened.notes())
    read = opened.campaign.diagnostics
    if read.problem_count:
        shown = listing(map(printable, read.problems), most=3)
        say(f"{counted(read.problem_count, 'problem')} while reading: {shown}")
    return print_alarms(opened)


def print_alarms(opened: "Study") -> int:
    """Print the alarms; return the exit code that they ask for."""
    print_lines("ALARM ", opened.alarms)
    return 1 if opened.alarms else 0

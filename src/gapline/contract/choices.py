"""Every choice of an analysis, defined once: its type, default and help, and the field of study.toml that states it.

The options of commands, shell completion, `--set`, the arguments of `gapline.read` and `gapline.open_study`, and their
documentation are made from here. An option takes precedence over the contract, and the contract over the default; a
choice that is not set is left out, which is not the same as a choice that is set to its default.
"""

import inspect
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache, wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, TypedDict, TypeVar, get_args, get_origin, get_type_hints

from gapline.contract.names import TimeWeight
from gapline.errors import UsageError, closest

Sense = Literal["min", "max"]
TimeUnit = Literal["s", "ms", "us", "ns", "min", "h", "clock", "epoch", "iso", "epoch-first", "iso-first"]
MissingRule = Literal["leave-out", "common", "empty", "refuse"]
Names = str | Sequence[str]
Function = TypeVar("Function", bound=Callable[..., Any])

# In the order of `--help`. The first has what a beginner needs.
GROUPS = ("start here", "which runs", "scoring", "statistics", "output", "computing")


class Choice(NamedTuple):
    """A choice: its default, its help, its group in `--help`, and the field of study.toml that states it, if any.

    `option` is its long option where that is not its name, `metavar` the value as help prints it, and `names` what a
    shell completes. Numbers are between the `limits`; a whole number may be the lower one. `more` is for Python's
    documentation alone. `--help` shows the choices of the first group, and others that are `common`.
    """

    default: Any
    help: str
    group: str
    field: str | None = None
    option: str = ""
    metavar: str | None = None
    names: str = ""
    limits: tuple[float, float | None] | None = None
    more: str = ""
    common: bool = False


class InputChoices(TypedDict, total=False):
    """What the rows of a table mean: the choices that every command takes which reads data."""

    sense: Annotated[
        Sense | None,
        Choice(
            "min",
            "Direction of the objective where the source does not state it; without it, rising objectives are refused.",
            "start here",
            "objective.sense",
        ),
    ]
    time_unit: Annotated[
        TimeUnit | None,
        Choice(
            "s",
            "Unit of the times in a table: s, ms, us, ns, min, h, clock (0:01:10); or dates (epoch, iso), which count "
            "from the `started` of a run, or from its first row (epoch-first, iso-first).",
            "start here",
            metavar="UNIT",
            more="A column mapping states units too: `time=ms:elapsed`, `horizon=min:limit`. The horizon is in seconds "
            "otherwise.",
        ),
    ]
    number_runs: Annotated[
        bool,
        Choice(
            False,
            "Rows of several runs share an arm, instance and seed: begin a run where time goes back, and number runs.",
            "which runs",
        ),
    ]
    sort_rows: Annotated[
        bool,
        Choice(
            False,
            "Rows that share an arm, instance and seed are one run, out of order: sort them by time.",
            "which runs",
            more="Without this or `number_runs`, rows are sorted where that is plausible, or the table is refused.",
        ),
    ]
    allow_empty: Annotated[
        bool,
        Choice(False, "Go on where every candidate is late or was rejected: these runs count as empty.", "which runs"),
    ]


class TableChoices(InputChoices, total=False):
    """How tables are read: with the names of columns, and what becomes of problems."""

    columns: Annotated[
        str | Mapping[str, str] | None,
        Choice(
            None,
            "Columns of a table under other names: arm=solver,time=elapsed.",
            "start here",
            metavar="OURS=THEIRS,...",
        ),
    ]
    decimal: Annotated[
        Literal[".", ","] | None,
        Choice(None, "Decimal mark of a table: a point, or a comma.", "which runs", metavar="MARK"),
    ]
    strict: Annotated[
        bool,
        Choice(
            False,
            "Refuse sources with problems (bad numbers, rows with too few fields, a last line without a line end).",
            "which runs",
            more="Otherwise they are named and counted in `Campaign.diagnostics`.",
        ),
    ]


class SourceChoices(TableChoices, total=False):
    """How sources are read, studies among them."""

    checker: Annotated[
        str | None,
        Choice(
            None,
            "Count the verdicts of this checker instead of the contract's: cvrp, 'mine 2.0'.",
            "which runs",
            "objective.checker",
            metavar="NAME",
            names="checker",
            more="Verdicts of two checkers are never mixed.",
        ),
    ]


class FilterChoices(TypedDict, total=False):
    """Which runs are kept."""

    arm: Annotated[
        Names,
        Choice(
            (), "Keep arms that match this name or pattern.", "which runs", metavar="NAME", names="arm", common=True
        ),
    ]
    panel: Annotated[
        Names, Choice((), "Keep panels that match this name or pattern.", "which runs", metavar="NAME", names="panel")
    ]
    instance: Annotated[
        Names,
        Choice((), "Keep instances that match this name or pattern.", "which runs", metavar="NAME", names="instance"),
    ]
    exclude: Annotated[
        Names,
        Choice(
            (), "Leave out instances that match this name or pattern.", "which runs", metavar="NAME", names="instance"
        ),
    ]


class ChoiceArguments(FilterChoices, SourceChoices, total=False):
    """All choices of an analysis: what `open_study` takes."""

    references: Annotated[
        str | Path | Mapping[str, float] | Any,
        Choice(
            None,
            "Reference values: CSV instance,value (+ certified,source), .solu, or a store.",
            "start here",
            metavar="FILE|STORE:PLACE",
            names="file",
            more="Or values by instance. Without references and snapshots: those of the contract, else those that the "
            "sources carry.",
        ),
    ]
    snapshots: Annotated[
        str | Path | Sequence[Any] | Any,
        Choice(
            (),
            "Snapshot JSON.",
            "scoring",
            "reference.snapshot",
            option="snapshot",
            metavar="PATH",
            names="snapshot",
            more="Or a snapshot; one or several.",
            common=True,
        ),
    ]
    policy: Annotated[
        Literal["frozen", "analysis", "both"] | None,
        Choice(
            None,
            "`frozen` refuses values known after the runs; `analysis` folds the runs' best in; `both` side by side.",
            "scoring",
            "reference.policy",
            common=True,
        ),
    ]
    horizon: Annotated[
        float | None,
        Choice(
            None,
            "Seconds: fills runs that state none, re-scores others at a shorter one.",
            "start here",
            "time.horizon",
            metavar="SECONDS",
        ),
    ]
    time_scale: Annotated[
        str | Sequence[str] | Mapping[str, float] | Any,
        Choice(
            (),
            "Multiply the times of runs on HOST; always printed.",
            "scoring",
            "time.scale",
            metavar="HOST=FACTOR",
            more="What a second of each host is worth in seconds of the reference machine; or a mapping. Horizons are "
            "then in seconds of the reference machine; see `gapline.contract.time_scale`.",
        ),
    ]
    negate: Annotated[
        Names,
        Choice((), "An arm whose source reports the negated objective.", "which runs", metavar="ARM", names="arm"),
    ]
    transform: Annotated[
        Names,
        Choice(
            (),
            "Declared transform of all instances, or of WHERE (INSTANCE or panel:PANEL): shift:C, reciprocal[:C], "
            "negate-shift:C, hierarchical:M.",
            "scoring",
            "objective.transform",
            metavar="[WHERE=]TRANSFORM",
            more="As `INSTANCE=shift:5` or `panel:PANEL=shift:5`. Objectives of zero or below are scored by Berthold's "
            "gap where it is the only kernel.",
        ),
    ]
    leave_out_unscorable: Annotated[
        bool,
        Choice(
            False,
            "Leave out instances whose objectives or reference cannot be scored; they are listed and counted.",
            "which runs",
            more="That is an objective or a reference of zero or below, or no reference where a run solved it; else "
            "they are refused. What nobody solved needs no reference.",
        ),
    ]
    validation: Annotated[
        Literal["checker", "solver"] | None,
        Choice(
            "checker",
            "With `solver`, unchecked candidates count as valid, and the output says so.",
            "which runs",
            "objective.validation",
        ),
    ]
    allow_unchecked: Annotated[bool, Choice(False, "Leave unchecked candidates out, and say how many.", "which runs")]
    missing: Annotated[
        MissingRule | None,
        Choice(
            "leave-out",
            "Runs that an arm lacks: rank the arms that ran the same instances (leave-out), rank all on the instances "
            "that every arm ran (common), count them as runs that found nothing (empty), or fail (refuse).",
            "which runs",
            metavar="RULE",
            more="`leave-out` lists the other arms below those that are ranked; planned cells without a whole attempt "
            "are counted, and no order is headlined. `empty` counts planned cells without a whole attempt, without a "
            "plan those that any other arm has (for a closed campaign).",
        ),
    ]
    kernels: Annotated[
        Names,
        Choice(
            ("squeezed",),
            "Kernel: squeezed, maxform, berthold, dimacs:THETA, raw, python:MODULE:FUNCTION; the first leads.",
            "start here",
            "score.kernel",
            option="kernel",
            metavar="NAME",
            names="kernel",
        ),
    ]
    allow_code: Annotated[
        bool,
        Choice(
            False,
            "Run Python functions that the contract names, and modules of its directory.",
            "scoring",
            more="A kernel of the contract that may not run is refused; a statistic is left out, and a note says so.",
        ),
    ]
    weight: Annotated[
        str | TimeWeight | Callable[[float], float] | None,
        Choice(
            "uniform",
            "Time weight: uniform, early-log:TMIN, end-log:TCUT, steps:0=1,10=0.5, python:MODULE:FUNCTION.",
            "scoring",
            "score.weight",
            metavar="NAME",
            names="weight",
            more="Or a function of time itself.",
            common=True,
        ),
    ]
    goals: Annotated[
        float | Sequence[float],
        Choice((0.01,), "Raw gap goal, such as 0.01.", "scoring", "score.goals", option="goal", metavar="GAP"),
    ]
    statistics: Annotated[
        Names,
        Choice(
            (),
            "Functions of one run, python:MODULE:FUNCTION, shown and averaged beside the scores.",
            "scoring",
            "score.statistics",
            option="statistic",
            names="statistic",
            more="See `gapline.scoring.user_functions`.",
        ),
    ]
    weighting: Annotated[
        Literal["panel", "instance", "run"] | None,
        Choice("panel", "Which units count alike in a mean.", "statistics", "aggregate.weighting"),
    ]
    tier_two: Annotated[
        Names,
        Choice((), "A descriptive arm: shown, not compared.", "which runs", option="tier2", metavar="ARM", names="arm"),
    ]
    contrasts: Annotated[
        Sequence[tuple[str, str]],
        Choice(
            (),
            "A declared contrast.",
            "statistics",
            "aggregate.contrasts",
            option="contrast",
            metavar="A B",
            names="arm",
            more="A pair of arms named before the data were seen.",
            common=True,
        ),
    ]
    interval: Annotated[
        Literal["skew-t", "t", "percentile", "sign-flip"] | None,
        Choice(
            "skew-t",
            "How intervals and p-values are found: skew-t, t, percentile (the paper's bootstrap) or sign-flip.",
            "statistics",
            "aggregate.bootstrap.method",
            metavar="METHOD",
        ),
    ]
    simultaneous: Annotated[
        bool | None,
        Choice(
            False,
            "Intervals of the declared contrasts that hold together, and joint bands beside the pointwise ones.",
            "statistics",
            "aggregate.simultaneous",
            option="simultaneous/--pointwise",
        ),
    ]
    level: Annotated[
        float | None,
        Choice(
            0.95, "Level of the intervals.", "statistics", "aggregate.bootstrap.level", metavar="SHARE", limits=(0, 1)
        ),
    ]
    draws: Annotated[
        int | None,
        Choice(
            10_000,
            "Draws of a bootstrap or of signs.",
            "statistics",
            "aggregate.bootstrap.draws",
            metavar="N",
            limits=(1, None),
        ),
    ]
    seed: Annotated[
        int | None,
        Choice(1, "Seed of the draws.", "statistics", "aggregate.bootstrap.seed", metavar="N", limits=(0, None)),
    ]
    title: Annotated[str | None, Choice("", "Title of the study in its outputs.", "output", "study.title")]


class CommandArguments(ChoiceArguments, total=False):
    """What commands take besides: how the work is done, which changes no result."""

    memory: Annotated[
        str | None,
        Choice(
            None,
            "Hold at most about this much at a time, such as 2GB; the rest waits in scratch files (default: a quarter "
            "of the machine's memory). Results are the same.",
            "computing",
            metavar="AMOUNT",
        ),
    ]
    on: Annotated[
        str | None,
        Choice(
            None,
            "Where the work is done: local:N, dask:ADDRESS, slurm or oar (with options as "
            "slurm:partition=short,jobs=50).",
            "computing",
            metavar="PLACE",
            names="place",
        ),
    ]


@cache
def _definitions() -> dict[str, tuple[Any, Choice]]:
    hints = get_type_hints(CommandArguments, include_extras=True)
    return {name: get_args(hint) for name, hint in hints.items()}


def find_choice(name: str) -> tuple[Any, Choice]:
    """Return the type of a choice and its definition.

    >>> find_choice("number_runs")[0], choice_values("sense")
    (<class 'bool'>, ('min', 'max'))
    """
    return _definitions()[name]


def choice_values(name: str) -> tuple[str, ...]:
    """Return the values that a choice of a few words has; none of others."""
    kind, _ = find_choice(name)
    parts = (kind,) if get_origin(kind) is Literal else get_args(kind)
    return next((get_args(part) for part in parts if get_origin(part) is Literal), ())


def choice_fields() -> dict[str, str]:
    """Return the choices that study.toml can state: the field of each, and the name of the choice.

    >>> choice_fields()["aggregate.bootstrap.draws"]
    'draws'
    """
    return {choice.field: name for name, (_, choice) in _definitions().items() if choice.field is not None}


def is_set(value: object) -> bool:
    """Say whether a choice was made: None, nothing and an empty text leave it to the contract or the default.

    >>> [is_set(value) for value in (None, (), "", 0, False, [0.0])]
    [False, False, False, True, True, True]
    """
    return value is not None and not (isinstance(value, str | Sequence | Mapping) and not len(value))


def takes_choices(kind: type, /) -> Callable[[Function], Function]:
    """Make a function document its choices in place of `{choices}`, and refuse others by the closest valid name."""
    names = list(get_type_hints(kind))

    def decorate(function: Function) -> Function:
        plain = inspect.signature(function)
        own = [one for one in plain.parameters.values() if one.kind is not one.VAR_KEYWORD]
        named = {one.name for one in own if one.kind is one.KEYWORD_ONLY}

        @wraps(function)
        def checked(*args: Any, **choices: Any) -> Any:
            for name in choices:
                if name not in names and name not in named:
                    near = closest(name, [*names, *named])
                    hint = f"did you mean {near!r}?" if near else f"choices are {', '.join(names)}"
                    raise UsageError(f"{function.__name__}: expected a choice, got {name!r}", hint=hint)
            return function(*args, **choices)

        keyword = inspect.Parameter.KEYWORD_ONLY
        kinds = {name: find_choice(name)[0] for name in names}
        given = [
            inspect.Parameter(name, keyword, default=False if kind is bool else None, annotation=kind)
            for name, kind in kinds.items()
        ]
        place = next((at for at, one in enumerate(own) if one.kind is keyword), len(own))
        checked.__signature__ = plain.replace(parameters=[*own[:place], *given, *own[place:]])  # type: ignore[attr-defined]
        said = "\n".join(f"{name}\n{textwrap.indent(_paragraph(name), '    ')}" for name in names)
        checked.__doc__ = inspect.cleandoc(function.__doc__ or "").replace("{choices}", said)
        return checked  # type: ignore[return-value]

    return decorate


def _paragraph(name: str) -> str:
    """Return what Python's documentation says of a choice."""
    choice = find_choice(name)[1]
    text = " ".join([choice_help(name), *([choice.more] if choice.more else [])])
    if choice.field is not None:
        text += f" In a contract: `{choice.field}`."
    return textwrap.fill(text, 108)


def choice_help(name: str, *, repeatable: bool = False) -> str:
    """Return the help of a choice with its default.

    >>> choice_help("level"), choice_help("goals", repeatable=True)
    ('Level of the intervals. Default: 0.95.', 'Raw gap goal, such as 0.01 (repeatable). Default: 0.01.')
    """
    default, text = find_choice(name)[1][:2]
    text = f"{text.removesuffix('.')} (repeatable)." if repeatable else text
    shown = ", ".join(map(str, default)) if isinstance(default, tuple) else default
    return f"{text} Default: {f'{shown:,}' if isinstance(shown, int) else shown}." if shown else text

"""Every choice of an analysis, defined once: its values, its default, its help, and where a contract states it.

Command options, the arguments of `gapline.read` and `gapline.open_study` and their help come from here. So far it holds
the choices about reading a table; the others are still options of `cli/options.py`.
"""

from typing import Annotated, Any, Literal, NamedTuple, TypedDict, get_args, get_origin, get_type_hints

Sense = Literal["min", "max"]
TimeUnit = Literal["s", "ms", "us", "ns", "min", "h", "clock", "epoch", "iso", "epoch-first", "iso-first"]
MissingRule = Literal["leave-out", "common", "empty", "refuse"]


class Choice(NamedTuple):
    """A choice: its default, its help, the group of `--help`, and the field of study.toml that states it, if any."""

    default: Any
    help: str
    group: str
    field: str | None = None


class InputChoices(TypedDict, total=False):
    """How sources are read: the choices that every command takes which reads data."""

    sense: Annotated[
        Sense | None,
        Choice(
            None,
            "Direction of the objective where the source does not state it (default: min; refused if objectives rise).",
            "start here",
            "objective.sense",
        ),
    ]
    time_unit: Annotated[
        TimeUnit | None,
        Choice(
            None,
            "Unit of the times in a table (default: s). Dates (epoch, iso) count from the `started` of a run, or from "
            "its first row (epoch-first, iso-first).",
            "start here",
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
        ),
    ]
    allow_empty: Annotated[
        bool,
        Choice(False, "Go on where every candidate is late or was rejected: these runs count as empty.", "which runs"),
    ]


class ChoiceArguments(InputChoices, total=False):
    """All choices that are defined here."""

    missing: Annotated[
        MissingRule,
        Choice(
            "leave-out",
            "Runs that an arm lacks: rank the arms that ran the same instances (leave-out), rank all on the instances "
            "that every arm ran (common), count them as runs that found nothing (empty), or fail (refuse).",
            "which runs",
        ),
    ]


def find_choice(name: str) -> tuple[Any, Choice]:
    """Return the type of a choice and its definition.

    >>> find_choice("number_runs")[0], choice_values("sense")
    (<class 'bool'>, ('min', 'max'))
    """
    kind, choice = get_args(get_type_hints(ChoiceArguments, include_extras=True)[name])
    return kind, choice


def choice_values(name: str) -> tuple[str, ...]:
    """Return the values that a choice of a few words has; none of others."""
    kind, _ = find_choice(name)
    parts = (kind,) if get_origin(kind) is Literal else get_args(kind)
    return next((get_args(part) for part in parts if get_origin(part) is Literal), ())

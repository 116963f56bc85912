"""Options that commands share: which runs, against which reference, under which choices."""

from collections.abc import Callable
from typing import Any

import rich_click as click

Decorator = Callable[[Callable[..., Any]], Callable[..., Any]]


def _together(*decorators: Decorator) -> Decorator:
    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return decorate


as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")

filters = _together(
    click.option("--arm", multiple=True, help="Keep arms that match this name or pattern (repeatable)."),
    click.option("--panel", multiple=True, help="Keep panels that match this name or pattern (repeatable)."),
    click.option("--instance", multiple=True, help="Keep instances that match this name or pattern (repeatable)."),
)

sources = _together(click.argument("sources", nargs=-1, required=True, metavar="SOURCE..."), filters)

acceptance = _together(
    click.option(
        "--horizon", type=float, help="Seconds: fills runs that state none, re-scores others at a shorter one."
    ),
    click.option("--transform", help="Declared transform: shift:C, reciprocal[:C], negate-shift:C, hierarchical:M."),
    click.option(
        "--validation",
        type=click.Choice(["checker", "solver"]),
        default=None,
        help="With `solver`, unchecked candidates count as valid, and the output says so.",
    ),
    click.option("--allow-unchecked", is_flag=True, help="Leave unchecked candidates out, and say how many."),
)

references = _together(
    click.option("--references", type=click.Path(), help="References CSV: instance,value (+ certified,source)."),
    click.option("--snapshot", "snapshots", multiple=True, type=click.Path(), help="Snapshot JSON (repeatable)."),
    click.option(
        "--policy",
        type=click.Choice(["frozen", "analysis", "both"]),
        default=None,
        help="`frozen` refuses values known after the runs; `analysis` folds the runs' best in; `both` side by side.",
    ),
)

"""`gapline plan`: how many instances and seeds would show a difference, from a pilot."""

from typing import Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli.command import Command
from gapline.terminal import say


@click.command("plan", cls=Command, more=("all_columns",))
@options.one_reference
@click.option(
    "--detect",
    "deltas",
    multiple=True,
    type=click.FloatRange(min=0, min_open=True),
    default=(0.005, 0.01, 0.02),
    show_default=True,
    metavar="D",
    help="A true difference in score units that the campaign is to show (repeatable).",
)
@click.option(
    "--power",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    default=0.8,
    show_default=True,
    help="In which share of campaigns it is to be shown.",
)
@click.option(
    "--pair",
    "pairs",
    nargs=2,
    multiple=True,
    metavar="A B",
    shell_complete=completion.names("arm"),
    help="Two arms (default: contrasts, or all).",
)
@click.option(
    "--seeds",
    multiple=True,
    type=click.IntRange(1, 1_000_000),
    default=(1, 2, 5, 10),
    show_default=True,
    metavar="N",
    help="Seeds per instance (repeatable).",
)
@output.options
def command(
    *,
    sources: tuple[str, ...],
    deltas: tuple[float, ...],
    power: float,
    pairs: tuple[tuple[str, str], ...],
    seeds: tuple[int, ...],
    out: output.Output,
    **choices: Any,
) -> int:
    """Say how many instances and seeds would show a difference, judged from the spread of a pilot campaign.

    Prints instances, runs and machine time for each number of seeds, how far the pilot may be wrong about them, which
    of instances and seeds helps more, and the difference that the pilot itself can show.

    Example: gapline plan pilot/ --detect 0.005 --power 0.8 --seeds 1 --seeds 3
    """
    from gapline.errors import UsageError, listing
    from gapline.report.tables.design import plan_table
    from gapline.statistics.power import power_table

    study = options.open_on(sources, **choices)
    chosen = list(pairs) or study.pairs
    if not chosen:
        arms = listing(study.tier_one) or "none"
        if reason := study.instance_set.reason:
            raise UsageError(f"plan: expected two ranked arms, got {arms}: {reason}", hint="name two: --pair A B")
        raise UsageError(f"plan: expected two arms of tier 1, got {arms}")
    plan = power_table(
        study.scores[0],
        pairs=chosen,
        deltas=deltas,
        seeds=seeds,
        power=power,
        level=study.level,
        weighting=study.weighting,
    )
    if out.as_json:
        return options.answer_json(study, plan.document())
    options.print_first(study)
    options.print_lines("", plan.words())
    say()
    out.show([plan_table(plan)], lambda: plan.document() | options.study_document(study))
    return options.print_remarks(study)

"""`gapline analyse`: what changes when the choices change."""

from typing import Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli.command import Command
from gapline.terminal import say


@click.command(
    "analyse",
    cls=Command,
    more=("max_score", "min_final", "min_attainment", "par", "shift", "score_shift", "transforms", "all_columns"),
)
@options.study
@options.place
@click.option(
    "--ladder", "ladders", multiple=True, help="Show this ladder, or one along a column of the runs (repeatable)."
)
@click.option("--max-score", type=float, default=None, help="Complementarity: scores as near as this are similar.")
@click.option("--min-final", type=float, default=None, help="Complementarity: final gaps as far apart differ.")
@click.option("--min-attainment", type=float, default=None, help="Complementarity: attainment as far apart differs.")
@click.option("--par", type=click.FloatRange(min=1), default=10.0, show_default=True, help="k of PAR-k.")
@click.option(
    "--shift",
    type=click.FloatRange(0, min_open=True),
    default=10.0,
    show_default=True,
    help="Seconds added before the geometric mean of times to the goal.",
)
@click.option(
    "--score-shift",
    type=click.FloatRange(0, min_open=True),
    default=1.0,
    show_default=True,
    help="Added before the geometric mean of scores.",
)
@click.option(
    "--vary-transform",
    "transforms",
    multiple=True,
    metavar="TRANSFORM|xFACTOR",
    help="Another transform to read the runs under: shift:100, hierarchical:20n, x2 for twice the declared constants "
    "(repeatable; default: x0.5 and x2 where a constant is declared).",
)
@click.option(
    "--cutoffs",
    metavar="SECONDS,...",
    help="Cutoffs of the logarithmic weights: 0.01,0.1,1 (default: powers of ten up to half of the horizon).",
)
@click.option(
    "--table",
    metavar="NAME",
    shell_complete=completion.words(*completion.TABLES),
    help="Print this table; the summary names them all.",
)
@click.option("--all", "every", is_flag=True, help="Print every table.")
@output.options
def command(
    *,
    sources: tuple[str, ...],
    ladders: tuple[str, ...],
    transforms: tuple[str, ...],
    cutoffs: str | None,
    table: str | None,
    every: bool,
    out: output.Output,
    **choices: Any,
) -> int:
    """Rescore the same runs under other choices and say what survives: a summary, one table, or --all of them.

    Means, intervals, ranks and contrasts are against the declared reference, as in `score` and `report`. Metric
    sensitivity is shown against it and against the analysis reference (the runs folded in); complementarity is judged
    against the analysis reference. Each table says which. The classical measures (times to the goal, ranks, ratings,
    tests of pairs) come last.

    Example: gapline analyse traces.csv --references refs.csv --horizon 30 --contrast mine theirs
    """
    from gapline.errors import UsageError
    from gapline.report.analysis_tables import analysis_table, analysis_tables
    from gapline.report.statements.summary import screenful
    from gapline.study.analyse import analyse
    from gapline.terminal import width

    if table is not None and every:
        raise UsageError("analyse: expected --table or --all, got both")
    names = ("max_score", "min_final", "min_attainment")
    screen = {name: value for name in names if (value := choices.pop(name)) is not None}
    classical = {name: choices.pop(name) for name in ("par", "shift", "score_shift")}
    study = options.open_on(sources, **choices)
    analysis = analyse(
        study,
        ladders=ladders or None,
        screen=screen,
        transforms=transforms or None,
        cutoffs=None if cutoffs is None else options.numbers("--cutoffs", cutoffs),
        **classical,
    )
    if out.as_json:
        return options.answer_json(study, analysis.document())
    if table is None and not every and not out.files:
        # What was asked for and cannot be is refused, also where the summary would not show it.
        _ = study.intervals, ladders and analysis.ladders, screen and analysis.complementarity
        _ = cutoffs is not None and analysis.cutoffs
        say("\n".join(screenful(analysis, width())[1:]))
        return 1 if study.alarms else 0
    options.print_first(study)
    found = analysis_tables(analysis) if table is None else [analysis_table(analysis, table)]
    out.show(found, lambda: analysis.document() | options.study_document(study))
    return options.print_remarks(study)

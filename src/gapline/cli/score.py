"""`gapline score`: traces in, exact scores out."""

from typing import Any

import rich_click as click

from gapline.cli import options
from gapline.terminal import say


@click.command("score")
@options.study
@options.place
@click.option(
    "--statistic",
    "statistics",
    multiple=True,
    help="How runs are put together: mean (default), median, quantile:Q, trimmed:SHARE; and, repeatable, numbers of "
    "your own per run: python:MODULE:FUNCTION.",
)
@click.option("--by", multiple=True, help="Columns that make the groups (repeatable; default: arm).")
@click.option("--per-run", is_flag=True, help="Also print every run.")
@options.as_json
def command(
    sources: tuple[str, ...],
    statistics: tuple[str, ...],
    by: tuple[str, ...],
    per_run: bool,
    as_json: bool,
    **choices: Any,
) -> int:
    """Score traces, campaigns or studies against references.

    Example: gapline score traces.csv --references refs.csv --horizon 30 --kernel squeezed --kernel dimacs:1.1
    """
    from gapline.errors import UsageError, listing
    from gapline.report import printing
    from gapline.report.documents import score_document
    from gapline.summary.means import summarise

    own = [name for name in statistics if name.startswith("python:")]
    ways = [name for name in statistics if name not in own] or ["mean"]
    if len(ways) > 1:
        raise UsageError(f"--statistic: expected one way to put runs together, got {listing(ways)}")
    study = options.open_on(sources, statistics=own, **choices)
    documents = []
    for scores in study.scores:
        # The means that the notes are of too are made once.
        if scores is study.scores[0] and not by and ways == ["mean"]:
            summary = study.summary
        else:
            summary = summarise(scores, by=by or ("arm",), weighting=study.weighting, statistic=ways[0])
        below = printing.negative_lines(scores)
        if as_json:
            document = score_document(scores, summary, per_run=per_run)
            document["notes"] = list(dict.fromkeys([*study.notes(), *summary.notes, *below]))
            documents.append(document)
            continue
        if per_run:
            printing.print_runs(scores)
        printing.print_scores(scores, summary)
        for line in printing.note_lines(below):
            say(line)
    if not as_json:
        return options.print_remarks(study)
    shared = options.study_document(study)
    shared.pop("notes")
    options.print_json((documents[0] if len(documents) == 1 else {"readings": documents}) | shared)
    return 1 if study.alarms else 0

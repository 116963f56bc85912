"""`gapline score`: traces in, exact scores out."""

from typing import Any

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli.command import Command
from gapline.terminal import say_words


@click.command("score", cls=Command, more=("statistics", "all_columns"))
@options.study
@options.place
@click.option(
    "--statistic",
    "statistics",
    multiple=True,
    shell_complete=completion.words(*completion.STATISTICS),
    help="How runs are put together: mean (default), median, quantile:Q, trimmed:SHARE; and, repeatable, numbers of "
    "your own per run: python:MODULE:FUNCTION.",
)
@click.option(
    "--by",
    multiple=True,
    shell_complete=completion.words(*completion.COLUMNS),
    help="Columns that make the groups (repeatable; default: arm).",
)
@click.option("--per-run", is_flag=True, help="Also print every run.")
@click.option("--intervals", is_flag=True, help="Show the interval of each mean too (--interval, --level).")
@output.options
@click.option("--csv", "as_csv", is_flag=True, help="Print the table as CSV, numbers in full; runs with --per-run.")
def command(
    *,
    sources: tuple[str, ...],
    statistics: tuple[str, ...],
    by: tuple[str, ...],
    per_run: bool,
    intervals: bool,
    out: output.Output,
    as_csv: bool,
    **choices: Any,
) -> int:
    """Score traces, campaigns or studies against references.

    Example: gapline score traces.csv --references refs.csv --horizon 30 --kernel squeezed --kernel dimacs:1.1
    """
    from dataclasses import replace

    from gapline.errors import UsageError, listing
    from gapline.report.statements.remarks import negative_lines, note_lines
    from gapline.report.tables.health import run_table
    from gapline.report.tables.means import score_document, score_table
    from gapline.statistics.means import summarise

    own = [name for name in statistics if name.startswith("python:")]
    ways = [name for name in statistics if name not in own] or ["mean"]
    if len(ways) > 1:
        raise UsageError(f"--statistic: expected one way to put runs together, got {listing(ways)}")
    if as_csv and out.as_json:
        raise UsageError("score: expected --csv or --json, got both")
    if intervals and (by or ways != ["mean"]):
        raise UsageError("--intervals: expected means by arm", hint="leave out --by and --statistic")
    study = options.open_on(sources, statistics=own, **choices)
    readings, means, runs = [], [], []
    for number, scores in enumerate(study.scores):
        # The means that the notes are of too are made once.
        if scores is study.scores[0] and not by and ways == ["mean"]:
            summary = study.summary
        else:
            summary = summarise(scores, by=by or ("arm",), weighting=study.weighting, statistic=ways[0])
        spans: dict[str, Any] = {}
        if intervals:
            read = study if number == 0 else replace(study, references=study.references[number : number + 1])
            spans = {"intervals": read.intervals, "no_intervals": read.no_intervals}
        readings.append((scores, summary, negative_lines(scores), spans))
        if out.as_json:
            continue
        means.append(score_table(summary, alarms=study.alarms, **spans))
        if per_run:
            runs.append(run_table(scores, alarms=study.alarms))

    def answer() -> dict[str, Any]:
        documents = []
        for scores, summary, below, spans in readings:
            document = score_document(scores, summary, per_run=per_run)
            document["notes"] = list(dict.fromkeys([*study.notes(), *summary.notes, *below]))
            if intervals:
                found = spans["intervals"]
                document["intervals"] = None if found is None else found.frame.to_dicts()
            documents.append(document)
        shared = options.study_document(study)
        shared.pop("notes")
        return (documents[0] if len(documents) == 1 else {"readings": documents}) | shared

    if out.as_json:
        options.print_json(answer())
        return 1 if study.alarms else 0
    # On the standard output, CSV is one table alone.
    options.print_first(study, err=as_csv)
    # As CSV one table alone; on a screen the means come first, the runs behind them.
    one = as_csv or any(output.lower().endswith(".csv") for output in out.files)
    shown = runs if one and runs else [*means, *runs]
    out.show(shown, answer, as_csv=as_csv)
    if as_csv:
        return 1 if study.alarms else 0
    for line in note_lines([line for _, _, below, _ in readings for line in below]):
        say_words(line)
    return options.print_remarks(study)

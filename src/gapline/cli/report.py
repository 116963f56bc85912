"""`gapline report`: the page, figures, tables, macros and methods paragraph of a study."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say_words

if TYPE_CHECKING:
    from gapline.report.canvas import Canvas


@click.command("report", cls=Command, more=("width", "no_title", "captions", "font_size", "grey"))
@options.study
@options.place
@click.option("-o", "--output", type=click.Path(file_okay=False), help="Directory; a study has its own results/.")
@options.title
@options.log_time
@options.figure_formats
@options.figures
@options.as_json
def command(
    sources: tuple[str, ...],
    output: str | None,
    log_time: bool,
    formats: tuple[str, ...],
    as_json: bool,
    canvas: "Canvas",
    **choices: Any,
) -> int:
    """Write one offline page, figures, tables, LaTeX macros, the methods paragraph and results.json.

    What a study's contract declares is taken from there; options stand in for it. Without a contract the clauses that
    nobody stated are marked "not declared".

    Example: gapline report traces.csv --references refs.csv --horizon 30 -o results
    """
    from pathlib import Path

    from gapline.contract.layout import RESULTS, RESULTS_FILE, is_study
    from gapline.report.drawing import FILE_FORMATS
    from gapline.report.write import PAGE, check_report_folder, write_report

    own = len(sources) == 1 and is_study(sources[0])
    target = Path(output) if output is not None else Path(sources[0]) / RESULTS if own else Path(RESULTS)
    # Before the runs are read: that nothing can be written is known then too.
    check_report_folder(target)
    study = options.open_on(sources, **choices)
    write_report(study, target, formats=formats or FILE_FORMATS, log_time=log_time, canvas=canvas)
    if as_json:
        answer = {"directory": str(target), "page": str(target / PAGE), "results": str(target / RESULTS_FILE)}
        return options.answer_json(study, answer)
    options.print_first(study)
    say_words(f"wrote {target / PAGE}, {RESULTS_FILE}, methods.md, methods.tex, macros.tex, figures/ and tables/")
    return 1 if study.alarms else 0

"""`gapline paper`: the paper's figures and computable tables."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import completion, options
from gapline.cli.command import Command
from gapline.terminal import say_words

if TYPE_CHECKING:
    from gapline.report.canvas import Canvas


@click.command("paper", cls=Command, more=("width", "no_title", "captions", "font_size", "grey"))
@click.argument("sources", nargs=-1, metavar="[SOURCE...]", shell_complete=completion.files)
@options.choices
@click.option("-o", "--output", type=click.Path(file_okay=False), required=True, help="Directory to write to.")
@options.title
@options.figure_formats
@options.figures
@options.as_json
def command(
    sources: tuple[str, ...],
    output: str,
    formats: tuple[str, ...],
    as_json: bool,
    canvas: "Canvas",
    **choices: Any,
) -> int:
    """Draw the paper's figures again and compute its tables.

    Figures that need a campaign show the study that is given; without one, a small campaign that gapline makes itself,
    and the captions say so.

    Example: gapline paper -o paper
    """
    from pathlib import Path

    from gapline.report.drawing import FILE_FORMATS
    from gapline.report.paper.write import check_paper_folder, write_paper

    # Before the runs are read: that nothing can be written is known then too.
    check_paper_folder(Path(output))
    study = options.open_on(sources, **choices) if sources else None
    written = write_paper(output, study, formats=formats or FILE_FORMATS, canvas=canvas)
    if as_json:
        shared = options.study_document(study) if study is not None else {"notes": [], "alarms": []}
        options.print_json({"files": [str(path) for path in written]} | shared)
        return 1 if study is not None and study.alarms else 0
    code = options.print_first(study) if study is not None else 0
    figures = len({path.stem for path in written if path.parent.name == "figures"})
    tables = len({path.stem for path in written if path.parent.name == "tables"})
    say_words(f"wrote {figures} figures to {output}/figures and {tables} tables to {output}/tables")
    return code

"""`gapline scale`: what a score means as a raw gap, and back."""

import rich_click as click

from gapline.cli import completion, options, output
from gapline.cli.command import Command


# A score below zero begins with a dash and is no option.
@click.command("scale", cls=Command, context_settings={"ignore_unknown_options": True})
@click.argument("scores", nargs=-1, type=float, metavar="[SCORE...]")
@click.option("--raw-gap", "--goal", "raw_gaps", multiple=True, type=float, help="A raw gap to convert (repeatable).")
@click.option(
    "--kernel",
    "kernels",
    multiple=True,
    shell_complete=completion.names("kernel", *completion.KERNELS),
    help="squeezed, maxform, berthold, dimacs:THETA, raw (repeatable; default: those of the paper).",
)
@output.options
def command(
    scores: tuple[float, ...],
    raw_gaps: tuple[float, ...],
    kernels: tuple[str, ...],
    out: output.Output,
) -> int:
    """Say which raw gap a score stands for under each kernel, and which score a raw gap or a goal has.

    A constant squeezed score of 0.05 is a raw gap of 10.5 %; a raw gap of 5 % is a squeezed score of 0.0244. Without a
    number, the landmarks of the paper are shown.

    Example: gapline scale 0.05 --raw-gap 0.01
    """
    from gapline.report.tables.kernels import scale_reports
    from gapline.scoring.convert import SCALE_KERNELS, scale_table

    frame = scale_table(scores, raw_gaps, kernels=kernels or SCALE_KERNELS)
    document = {"scale": frame.to_dicts()}
    if out.as_json:
        options.print_json(document)
        return 0
    out.show(scale_reports(frame), lambda: document)
    return 0

"""`gapline replicate`: run a package again, and say whether its conclusions hold."""

from typing import TYPE_CHECKING, Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say, say_words

if TYPE_CHECKING:
    from gapline.package.replicate import Replication
    from gapline.package.replication_plan import Intended


@click.command("replicate", cls=Command)
@click.argument("package", type=click.Path(exists=True, dir_okay=False))
@click.option("-o", "--output", required=True, type=click.Path(file_okay=False), help="Directory of the new study.")
@click.option("--arms", multiple=True, metavar="NAMES", help="Run these arms: names or patterns (repeatable; a,b).")
@click.option("--panels", multiple=True, metavar="NAMES", help="Run these panels: names or patterns (repeatable; a,b).")
@click.option("--seeds", multiple=True, metavar="SEEDS", help="Run these seeds: 1,3 or 1..5 (repeatable).")
@click.option(
    "--horizon-scale",
    type=click.FloatRange(min=0, min_open=True),
    default=1.0,
    metavar="X",
    help="Multiply every horizon; both sides are then scored at the shorter one, which every output says.",
)
@options.jobs
@options.place
@click.option("--plan", is_flag=True, help="Only show what would be run; nothing is written or started.")
@click.option("--markdown", metavar="FILE|-", help="Write what was found as Markdown.")
@options.as_json
def command(package: str, output: str, plan: bool, markdown: str | None, as_json: bool, **choices: Any) -> int:
    """Run a replication package again on this machine, and compare the results.

    It starts the solvers and the checker that the package names: what that is, and how long it takes, is printed first.
    Calling it again goes on where it was interrupted. It ends with 0 when no conclusion is contradicted and no alarm
    rings, 1 otherwise or when runs are left, 2 for wrong use, 3 when the machine lacks something.

    Example: gapline replicate study.zip -o again --panels 'demo-*' --seeds 1..2
    """
    from gapline.errors import UsageError
    from gapline.package.replicate import plan_replication, replicate
    from gapline.run.progress import progress_for_terminal

    if as_json and markdown == "-":
        raise UsageError("replicate: expected --json or --markdown - on the standard output, got both")
    if plan:
        intended = plan_replication(package, output, **choices)
        if as_json:
            options.print_json({"plan": intended.document()})
        else:
            _print_plan(intended)
        return 3 if intended.lacks else 0
    # On the error stream where the standard output is one document.
    aside = as_json or markdown == "-"
    done = replicate(
        package,
        output,
        progress=progress_for_terminal(),
        say=lambda intended: _print_plan(intended, err=aside),
        **choices,
    )
    return _tell(done, package, markdown, as_json=as_json)


def _print_plan(intended: "Intended", *, err: bool = False) -> None:
    for line in intended.lines():
        say_words(line, err=err)


def _tell(done: "Replication", package: str, markdown: str | None, *, as_json: bool) -> int:
    import shlex

    from gapline.report.replication import print_replication, replication_document, replication_markdown

    found, run = done.found, done.run
    go_on = f"gapline replicate {shlex.quote(package)} -o {shlex.quote(str(done.directory))}"
    if as_json:
        document = {"plan": done.intended.document(), "done": run.done, "left": run.left, "problems": run.problems}
        document |= {"resume": go_on if run.left else None}
        document["replication"] = None if found is None else replication_document(found)
        options.print_json(document)
    else:
        options.print_lines("problem: ", run.problems, err=True)
        if run.left or run.busy:
            say(f"{run.done} of {run.planned} runs done, {run.left} left\ngo on with: {go_on}", err=markdown == "-")
        if found is not None and markdown != "-":
            print_replication(found)
            say_words(f"report: {done.directory}/results/report.html")
    if found is not None:
        options.write_markdown(markdown, replication_markdown(found))
    if run.infrastructure is not None:
        return 3
    if run.interrupted is not None:
        return 130 if run.interrupted == "SIGINT" else 143
    return 1 if done.failed or run.left or run.busy else 0

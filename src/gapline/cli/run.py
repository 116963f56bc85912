"""`gapline run`: run the cells of a study that are not done yet."""

from typing import Any

import rich_click as click

from gapline.cli import options
from gapline.cli.command import Command
from gapline.terminal import say, say_words

# Exit code: all that is left is in the hands of others.
HELD = 4


@click.command("run", cls=Command)
@options.study_directory
@options.jobs
@options.place
@click.option("--order-seed", type=click.IntRange(min=0), help="Seed of the random order of runs; recorded with each.")
@click.option("--rerun-noisy", is_flag=True, help="Run again what others disturbed; both attempts are kept.")
@click.option("--no-check", is_flag=True, help="Leave the candidates to `gapline check`.")
@click.option("--no-pin", is_flag=True, help="Let runs move between cores.")
@options.as_json
def command(study: str, no_check: bool, no_pin: bool, as_json: bool, **choices: Any) -> int:
    """Run every solver of a study on every instance and seed, under its contract.

    What is done already is skipped, so the same command goes on after an interruption. Ctrl-C lets the runs under way
    finish; pressed twice it ends them. Runs that another runner has are waited for.

    It ends with 0 when every planned run is whole, 1 when something is left or unchecked, 2 for wrong use, 3 when the
    machine lacks something, 4 when all that is left is held by others, 130 or 143 when it was interrupted.

    Example: gapline run my-study -j 2
    """
    from gapline.campaign.diagnostics import Diagnostics
    from gapline.cli.output import print_next, scoring_commands
    from gapline.run.campaign import resume_command, run_study
    from gapline.run.progress import progress_for_terminal
    from gapline.text import counted

    report = run_study(study, check=not no_check, pin=not no_pin, progress=progress_for_terminal(), **choices)
    campaign = report.campaign
    # A problem of a journal is told by the call and by the campaign: once is enough.
    problems = list(dict.fromkeys([*report.problems, *(campaign.diagnostics.problems if campaign else ())]))
    noisy = sum(result.noisy for result in report.results)
    unchecked = campaign.diagnostics.unchecked if campaign else 0
    go_on = resume_command(report.study, report.options, *(["--json"] * as_json))
    # What is left or unchecked comes first: until then another command follows, which is printed.
    whole = campaign is not None and not (report.left or report.busy or unchecked)
    following, lack = scoring_commands(study) if whole else ([], None)
    if as_json:
        answer = {name: getattr(report, name) for name in ("planned", "done", "busy", "left", "outcomes")} | {
            "unchecked": unchecked,
            "noisy": noisy,
            "interrupted": report.interrupted,
            "problems": problems,
            **(campaign.diagnostics if campaign else Diagnostics()).attempts_document(),
            "resume": go_on if report.left or report.busy else None,
            "next": following,
        }
        options.print_json(answer)
    else:
        options.print_lines("problem: ", problems, err=True)
        say_words(f"{report.done} of {report.planned} runs done, {report.left} left")
        if campaign is not None:
            options.print_lines("", campaign.diagnostics.lines())
        if noisy:
            rerun = resume_command(report.study, report.options, "--rerun-noisy")
            say_words(f"warning: {noisy} runs were disturbed by other work (noisy host); to run them again:")
            say(f"  {rerun}")
        if unchecked:
            say(f"{unchecked} candidates are unchecked; gapline check {study}")
        if report.busy:
            say_words(f"{counted(report.busy, 'run')} held by others: wait for them or end them; to see them:")
            say(f"  gapline status {study}")
        if report.left or report.busy:
            say(f"go on with: {go_on}")
        if lack:
            say_words(lack)
        print_next(following)
    # The machine's failure comes before the interruption that it caused.
    if report.infrastructure is not None:
        return 3
    if report.interrupted is not None:
        return 130 if report.interrupted == "SIGINT" else 143
    if report.left or (unchecked and not no_check):
        return 1
    return HELD if report.busy else 0

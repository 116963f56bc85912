"""`gapline doctor`: what this environment has, and what is missing."""

from pathlib import Path

import rich_click as click

from gapline.checkers.load import own_checker_lack
from gapline.cli import options, output
from gapline.cli.command import Command
from gapline.contract.contract import CHECKER_PREFIXES
from gapline.contract.plan import resolve_program
from gapline.contract.study_file import load_contract
from gapline.errors import GaplineError
from gapline.run.check_run import identify_checker
from gapline.solvers import arms_lack
from gapline.terminal import say


@click.command("doctor", cls=Command)
@click.argument("study", required=False, type=click.Path())
@output.options
def command(study: str | None, out: output.Output) -> int:
    """Say what this environment has: versions, extras, threads; and what STUDY lacks to run here.

    Every arm and the checker of a study are looked at: packages, programs, licences, options; no code of the study
    runs. The exit code is 3 when something is missing.

    Example: gapline doctor my-study
    """
    from gapline.process.machine import describe_environment

    facts: dict[str, object] = dict(describe_environment())
    lacking: list[str] = []
    if study is not None:
        arms, lacking = study_lacks(study)
        facts |= {"study": study, "arms": arms, "lacking": lacking}
    if out.as_json:
        options.print_json(facts)
    else:
        from gapline.report.table import text_table

        options.print_lines("missing: ", lacking)
        rows = [(name, str(value)) for name, value in facts.items() if not isinstance(value, list)]
        table = text_table("environment", "What is here", ["what", "which"], rows, text=2, notes=())
        out.show([table], lambda: facts)
        if study is not None and not lacking:
            say(f"next: gapline run {study}")
    return 3 if lacking else 0


def study_lacks(study_dir: str | Path) -> tuple[int, list[str]]:
    """Return the number of arms, and one line for each that cannot run here and for a checker that is not there."""
    # As it runs: `./mine` in the current directory is no name to be looked for on the path.
    study = Path(study_dir).absolute()
    contract = load_contract(study, files=True)
    lacking = arms_lack((resolve_program(arm, study) for arm in contract.arms), study)
    if contract.objective.validation == "checker" and contract.objective.checker is not None:
        checker = contract.objective.checker
        if lack := _checker_lack(checker, study):
            # On one line, like the arms: `doctor` prints a list.
            lacking.append(f"checker {checker}: {'; '.join(lack.splitlines())}")
    return len(contract.arms), lacking


def _checker_lack(checker: str, study: Path) -> str | None:
    if checker.startswith(CHECKER_PREFIXES):
        return own_checker_lack(checker, study)
    try:
        # One of ours: started, since what it imports may be there and not load.
        identify_checker(study, checker)
    except GaplineError as error:
        return str(error)
    return None

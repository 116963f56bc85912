"""What a study lacks to run on this machine, found by looking: no code of the study runs."""

from pathlib import Path

from gapline.check.presence import own_checker_lack
from gapline.errors import GaplineError
from gapline.model.contract import CHECKER_PREFIXES, load_contract
from gapline.model.plan import resolve_program
from gapline.run.check_run import identify_checker
from gapline.solvers import arms_lack


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

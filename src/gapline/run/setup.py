"""What a study lacks to run on this machine, found before anything runs."""

from pathlib import Path

from gapline.errors import GaplineError
from gapline.model.contract import load_contract
from gapline.model.plan import resolve_program
from gapline.run.check_run import identify_checker
from gapline.solvers import arms_lack


def study_lacks(study_dir: str | Path) -> tuple[int, list[str]]:
    """Return the number of arms, and one line for each that cannot run here and for a checker that does not start."""
    study = Path(study_dir)
    contract = load_contract(study, files=True)
    lacking = arms_lack((resolve_program(arm, study) for arm in contract.arms), study)
    if contract.objective.validation == "checker" and contract.objective.checker is not None:
        try:
            identify_checker(study, contract.objective.checker)
        except GaplineError as error:
            # On one line, like the arms: `doctor` prints a list.
            lacking.append(f"checker {contract.objective.checker}: {'; '.join(str(error).splitlines())}")
    return len(contract.arms), lacking

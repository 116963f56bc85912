"""`verify`: everything that a package or a study says is made again from what it is made of, and compared.

In the order of what rests on what: sums, what `package.json` states, the register, the journals, the verdicts, the
campaign that they make, and whatever a report makes of that. Nothing of a package is run, unless that is asked for.
"""

import tempfile
from collections.abc import Callable
from pathlib import Path

from gapline.campaign.store import open_campaign
from gapline.contract.contract import Contract
from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, DOCUMENT, SUMS, PackageDocument, read_package_document
from gapline.contract.study_file import load_contract
from gapline.errors import ContractError, GaplineError, IntegrityError, listing
from gapline.journal.attempts import cells_of, folders_of
from gapline.journal.claims import worked_on
from gapline.package.campaign import Environment
from gapline.package.checks.journals import list_members, show_journals, show_rebuilt, show_stored, show_sums
from gapline.package.checks.recheck import leave_recheck, show_recheck
from gapline.package.checks.results import read_results, show_results, stated_versions
from gapline.package.checks.rows import Difference, Findings, Progress, Source, Verification, opened
from gapline.package.checks.statements import (
    show_contract,
    show_environment,
    show_instances,
    show_package,
    show_register,
    show_snapshots,
)
from gapline.text import counted

_NOT_REACHED = "not looked at: what comes before it differs"


def verify(
    path: str | Path,
    /,
    *,
    recheck: bool = False,
    allow_code: bool = False,
    jobs: int | None = None,
    say: Callable[[str], None] = lambda _text: None,
    progress: Progress | None = None,
) -> Verification:
    """Show what of a replication package or a study directory is true.

    Parameters
    ----------
    path
        A package, a folder that one was unpacked into, or a study directory; nothing is written into it.
    recheck
        Run the checker again on every candidate, and compare verdict by verdict. Else nothing of the study is run.
    allow_code
        Let functions that the contract names (`python:MODULE:FUNCTION`) run; else what they make is not shown.
    jobs
        Processes that check.
    say, progress
        Are told what will be run, and how far it is: of what, how many are done, of how many.

    Returns
    -------
    Verification
        A row for each thing that was looked at: shown, different or not shown, and why; and what differs.
    """
    findings = Findings()
    told: Progress = progress or (lambda *_: None)
    with opened(path) as source, tempfile.TemporaryDirectory(prefix="gapline-") as scratch:
        _refuse_running(source)
        _look(source, Path(scratch), findings, told, recheck=recheck, allow_code=allow_code, jobs=jobs, say=say)
        return Verification(
            str(path),
            source.kind,
            tuple(findings.rows),
            tuple(findings.differences),
            findings.total - len(findings.differences),
            source.identity,
        )


def _refuse_running(source: Source) -> None:
    # Nobody works in a package, whatever its files say.
    running = frozenset() if source.is_package else worked_on(folders_of(source.folder))
    if running:
        raise GaplineError(
            f"{source.folder}: expected a study that nobody works on, got {counted(len(running), 'cell')} under way",
            hint=f"gapline status {source.folder}",
        )


def _look(
    source: Source,
    scratch: Path,
    findings: Findings,
    progress: Progress,
    *,
    recheck: bool,
    allow_code: bool,
    jobs: int | None,
    say: Callable[[str], None],
) -> None:
    package: PackageDocument | None = None
    if source.is_package:
        # A package that is not the one that was written is looked at no further: any of it may be anybody's.
        if not show_sums(source, findings, progress):
            findings.leave("the rest", 0, "members", _NOT_REACHED)
            return
        try:
            package = read_package_document(source.folder)
        except IntegrityError as error:
            findings.judge(DOCUMENT, 0, "facts", [Difference.of(error.message, member=DOCUMENT)], how="")
            return
    contract = _contract(source, findings)
    if contract is None:
        return
    document = read_results(source)
    if package is not None:
        show_package(source, package, contract, document, findings)
    show_snapshots(source, contract, findings)
    show_instances(source, package, contract, findings)
    versions = stated_versions(document) or stated_versions({"versions": {} if package is None else package.versions})
    if cells_of(source.folder):
        # The rows stand in the order in which one thing rests on another: the register before the runs that it planned.
        later = Findings()
        campaign, judge, index = show_journals(source, later, progress)
        show_register(source, contract, index.begun, findings)
        findings.join(later)
        show_contract(source, contract, campaign.runs, findings)
        show_stored(source, findings)
        rebuilt = show_rebuilt(source, campaign, scratch, findings, versions)
        if package is not None:
            show_environment(source, index.environment.document(rebuilt), findings)
        show_results(source, contract, rebuilt, scratch, findings, allow_code=allow_code)
        if recheck:
            show_recheck(source, package, contract, judge, findings, jobs=jobs, say=say, progress=progress)
        else:
            leave_recheck(contract, judge, index.verdicts_read, findings)
    else:
        _look_at_imported(source, package, contract, scratch, findings, allow_code=allow_code)
    if package is not None:
        _name_others(source, contract, findings)


def _look_at_imported(
    source: Source,
    package: PackageDocument | None,
    contract: Contract,
    scratch: Path,
    findings: Findings,
    *,
    allow_code: bool,
) -> None:
    """Look at a study that has no journals: its campaign is the first thing that is known of its runs."""
    show_register(source, contract, [], findings)
    if not show_stored(source, findings):
        return
    campaign = open_campaign(source.folder / CAMPAIGN, verify=False)
    if package is not None:
        show_environment(source, Environment().document(campaign), findings)
    runs = counted(len(campaign), "run")
    findings.leave("journals", 0, "attempts", f"none: {runs} imported, by the campaign's digests alone")
    show_results(source, contract, None, scratch, findings, allow_code=allow_code)
    said = contract.objective.validation == "solver"
    words = "the solver's word only: no checker looked at them" if said else "verdicts as they were imported"
    findings.leave("candidates", 0, "candidates", words)


def _contract(source: Source, findings: Findings) -> Contract | None:
    try:
        return load_contract(source.folder)
    except (ContractError, OSError) as error:
        findings.judge("contract", 1, "files", [Difference.of(source.words(error), member=CONTRACT_FILE)], how="")
        return None


def _name_others(source: Source, contract: Contract, findings: Findings) -> None:
    """Name the members of which nothing is made: their sums are all that is known of them."""
    known = {CONTRACT_FILE, DOCUMENT, SUMS, *(instance.path for instance in contract.instances)}
    folders = ("journal/", "campaign/", "results/", "references/")
    others = [
        name
        for name in list_members(source.folder)
        if name not in known and (name.endswith(".log") or not name.startswith(folders))
    ]
    if others:
        what = listing(others, most=3)
        findings.leave("other members", len(others), "members", f"no number is made of them, sums alone: {what}")

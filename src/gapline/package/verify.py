"""`verify`: recompute every result of a package or a study and compare it with the stored files.

The checks follow their dependencies: checksums, `package.json`, the register, the journals, the verdicts, the
campaign built from them, and the files of the report. Nothing of a package runs, unless that is asked for.
"""

import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from gapline.campaign.store import open_campaign
from gapline.contract.layout import CAMPAIGN
from gapline.errors import GaplineError
from gapline.journal.attempts import folders_of
from gapline.journal.claims import running_cells
from gapline.package.campaign import Progress
from gapline.package.checks.journals import check_journals, check_others, check_rebuilt, check_stored, check_sums
from gapline.package.checks.recheck import check_candidates
from gapline.package.checks.results import check_results
from gapline.package.checks.rows import CheckOutcome, CheckRow, Verification, not_compared
from gapline.package.checks.statements import (
    check_contract,
    check_document,
    check_environment,
    check_instances,
    check_package,
    check_register,
    check_snapshots,
    check_timing,
)
from gapline.package.checks.subject import Subject, open_subject
from gapline.text import counted


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
    """Verify a replication package or a study directory.

    Parameters
    ----------
    path
        A package, a folder into which one was unpacked, or a study directory; nothing is written into it.
    recheck
        Run the checker again on every candidate, and compare the verdicts. By default nothing of the study runs.
    allow_code
        Let functions that the contract names (`python:MODULE:FUNCTION`) run; otherwise their results are not checked.
    jobs
        The number of processes that check.
    say, progress
        Called with what will run, and with the progress: the step, how much of it is done, and its total.

    Returns
    -------
    Verification
        A row for each check (equal, different, or not compared and why), and the differences.
    """
    with open_subject(path) as subject, tempfile.TemporaryDirectory(prefix="gapline-") as scratch:
        subject.scratch, subject.recheck, subject.allow_code = Path(scratch), recheck, allow_code
        subject.jobs, subject.say, subject.progress = jobs, say, progress or subject.progress
        _refuse_running(subject)
        return Verification(str(path), subject.kind, tuple(_rows(subject)), subject.identity)


def _refuse_running(subject: Subject) -> None:
    # No run is under way in a package, whatever its files say.
    running = frozenset() if subject.is_package else running_cells(folders_of(subject.folder))
    if running:
        raise GaplineError(
            f"{subject.folder}: expected a study that nobody works on, got {counted(len(running), 'cell')} under way",
            hint=f"gapline status {subject.folder}",
        )


Check = Callable[[Subject], Iterator[CheckRow]]
# If one of these finds a difference, the verification stops; the first two exist for packages only.
_GATES: tuple[Check, ...] = (check_sums, check_document, check_contract)
_STATEMENTS: tuple[Check, ...] = (check_package, check_snapshots, check_instances, check_register)
_JOURNALS: tuple[Check, ...] = (check_journals, check_timing, check_stored, check_rebuilt)
_RESULTS: tuple[Check, ...] = (check_results, check_candidates)


def _rows(subject: Subject) -> Iterator[CheckRow]:
    """Yield the rows of all checks, in the order of their dependencies."""
    for check in _GATES if subject.is_package else _GATES[2:]:
        found = tuple(check(subject))
        yield from found
        if any(row.differing for row in found):
            return
    runs = (*_JOURNALS, check_environment, *_RESULTS) if subject.has_journals else (_check_imported,)
    for check in (*_STATEMENTS, *runs, check_others):
        yield from check(subject)


def _check_imported(subject: Subject) -> Iterator[CheckRow]:
    """Check the campaign of a study without journals, which is the first record of its runs."""
    stored = tuple(check_stored(subject))
    yield from stored
    if any(row.outcome is not CheckOutcome.SHOWN for row in stored):
        return
    yield from check_environment(subject)
    runs = counted(len(open_campaign(subject.folder / CAMPAIGN, verify=False)), "run")
    yield not_compared("journals", 0, "attempts", f"none: {runs} imported, by the campaign's digests alone")
    for check in _RESULTS:
        yield from check(subject)

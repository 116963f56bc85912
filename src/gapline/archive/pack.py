"""`pack`: a study becomes one file from which every number of it follows, the same bytes wherever it is packed."""

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gapline.archive.attempts import Surveyed, attempt_files, refuse_damaged, stage_attempts, survey_attempts
from gapline.archive.calibrations import calibrated_hosts, stage_calibrations
from gapline.archive.citation import citation_text
from gapline.archive.container import check_target, write_container
from gapline.archive.contents import Contents, find_contents, refuse_changed, refuse_odd_files
from gapline.archive.crate import write_crate
from gapline.archive.described import missing_metadata
from gapline.archive.document import instances_document, package_document, write_document
from gapline.archive.environment import Environment
from gapline.archive.imported import campaign_files, stage_campaign, survey_imported
from gapline.archive.left_out import LeftOut, list_other_results
from gapline.archive.named_machines import refuse_named_machines
from gapline.archive.readme import readme_text
from gapline.archive.rebuilt import rebuild_campaign
from gapline.archive.scrub import Scrubber, TakenOut
from gapline.archive.stale import refuse_stale_results
from gapline.archive.sums import staged_files, swhid_of, write_sums
from gapline.archive.zenodo import zenodo_document
from gapline.errors import GaplineError, IntegrityError, listing
from gapline.journal.attempts import folders_of
from gapline.journal.claims import worked_on
from gapline.model.campaign import Campaign
from gapline.model.contract import load_contract
from gapline.model.layout import CALIBRATIONS, CAMPAIGN, MANIFEST, RESULTS
from gapline.model.package import CITATION, CRATE, README, SUMS, ZENODO, Identity
from gapline.model.scratch import scratch_place
from gapline.model.store import file_digest, open_campaign, save_campaign
from gapline.model.text import counted
from gapline.report.write import library_versions, write_report
from gapline.study import Study, open_study

# PDF is not the same bytes twice.
FORMATS = ("svg", "png")
# What is under way, how much of it is done, of how much.
Progress = Callable[[str, int, int], object]


@dataclass(frozen=True, slots=True)
class Packed:
    """A package that was written.

    `members` are the names in it, `programs` those of programs and code of the study, `coverage` says how much of the
    plan it holds, `notes` what a reader has to know, and `unstated` what the contract does not say and those who cite,
    archive or find it ask for.
    """

    path: Path
    identity: Identity
    members: tuple[str, ...]
    left_out: tuple[LeftOut, ...]
    taken_out: tuple[TakenOut, ...]
    coverage: str
    alarms: int
    programs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unstated: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {
            "package": str(self.path),
            "sha256": self.identity.sha256,
            "swhid": self.identity.swhid,
            "bytes": self.path.stat().st_size,
            "members": list(self.members),
            "programs": list(self.programs),
            "coverage": self.coverage,
            "alarms": self.alarms,
            "left_out": [one._asdict() for one in self.left_out],
            "taken_out": [one._asdict() for one in self.taken_out],
            "notes": list(self.notes),
            "unstated": list(self.unstated),
        }


def pack(
    study_dir: str | Path,
    target: str | Path,
    /,
    *,
    with_alarms: bool = False,
    without_instances: bool = False,
    keep_hosts: bool = False,
    also: Sequence[str] = (),
    stored: bool = False,
    allow_code: bool = False,
    progress: Progress | None = None,
) -> Packed:
    """Pack a study into a replication package; nothing in the study directory is changed.

    Parameters
    ----------
    study_dir, target
        The study, and the file to write: `.zip` or `.tar.zst`.
    with_alarms
        Pack a study although an integrity alarm rings.
    without_instances
        Leave the instances out: their digests, and where to get them, stand in.
    keep_hosts
        Keep host names, user names and paths as they are; else they are taken out, and where that is impossible the
        study is refused.
    also
        Further files of the study: names or patterns of paths.
    stored
        Do not compress: the bytes of a zip then depend on no library.
    allow_code
        Let kernels and statistics of the study's own run, as `gapline report` does.
    progress
        Is told what is under way, how much is done, of how much.

    Raises
    ------
    GaplineError
        When runs are under way, a digest or a journal does not verify, `results/` say other numbers, an alarm rings, or
        a file that is packed as it is names a machine.
    """
    study, path = Path(study_dir), Path(target)
    check_target(path, stored=stored)
    contract = load_contract(study)
    _refuse_running(study)
    tell = progress or (lambda *_: None)
    surveyed = survey_imported(study, survey_attempts(study))
    contents = find_contents(
        study, contract, without_instances=without_instances, also=also, copies=surveyed.copies, beside=[path]
    )
    refuse_odd_files(study, [*contents.files.values(), *_copied_files(study, surveyed)])
    with tempfile.TemporaryDirectory(
        prefix="gapline-pack-", dir=scratch_place(), ignore_cleanup_errors=True
    ) as scratch:
        # By its real name: errors and notes are told without it, and a link would stand in some of them.
        folder = Path(scratch).resolve()
        scrub = None if keep_hosts else surveyed.scrubber(calibrated_hosts(study))
        if scrub is not None:
            refuse_named_machines(study, contents, contract, scrub)
        for name, file in contents.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
        # Before anything is opened: of instances that are left out, the document alone says that there are any.
        write_document(folder, instances_document(contents))
        campaign, environment = _stage_runs(study, folder, surveyed, scrub, tell)
        refuse_changed(contents, study, environment.problems, environment.solved)
        taken = [] if scrub is None else scrub.list_taken()
        tell("report", 0, 1)
        opened = _placeless_study(folder, campaign, allow_code=allow_code)
        _refuse_alarms(study, opened, with_alarms=with_alarms)
        write_report(opened, folder / RESULTS, formats=FORMATS)
        tell("report", 1, 1)
        refuse_stale_results(study, folder)
        contents.left_out = sorted([*contents.left_out, *list_other_results(study, folder)])
        if scrub is not None:
            contents.left_out = [LeftOut(scrub.text(one.path, ""), one.why) for one in contents.left_out]
        document = package_document(
            folder,
            contract,
            contents,
            campaign=campaign.digest(),
            environment=environment.document(campaign),
            versions=library_versions(),
            taken_out=[one._asdict() for one in taken],
            hosts_kept=keep_hosts,
            alarms=len(opened.alarms),
        )
        write_document(folder, document)
        described = (CITATION, ZENODO, CRATE, SUMS)
        text = readme_text(document, [*staged_files(folder), *described], coverage=str(opened.coverage))
        (folder / README).write_text(text, encoding="utf-8")
        (folder / CITATION).write_text(citation_text(contract), encoding="utf-8")
        metadata = json.dumps(zenodo_document(contract), indent=1, ensure_ascii=False)
        (folder / ZENODO).write_text(f"{metadata}\n", encoding="utf-8")
        # Last, since it describes the others.
        write_crate(folder)
        return _write(path, folder, contents, opened, taken, stored=stored, tell=tell)


def _write(
    path: Path,
    folder: Path,
    contents: Contents,
    opened: Study,
    taken: list[TakenOut],
    *,
    stored: bool,
    tell: Progress,
) -> Packed:
    found = write_sums(folder, staged_files(folder))
    executable = {name for name in found if contents.executable(name)}
    files = {name: folder / name for name in found}
    write_container(
        path, files, executable=executable, stored=stored, tell=lambda done, whole: tell("files", done, whole)
    )
    return Packed(
        path,
        Identity(path.name, file_digest(path), swhid_of(found, executable)),
        tuple(sorted(found)),
        tuple(contents.left_out),
        tuple(taken),
        str(opened.coverage),
        len(opened.alarms),
        tuple(contents.programs),
        tuple(opened.notes()),
        () if opened.contract is None else tuple(missing_metadata(opened.contract)),
    )


def _refuse_running(study: Path) -> None:
    if running := sorted(worked_on(folders_of(study))):
        raise GaplineError(
            f"{study}: expected a study at rest, got {counted(len(running), 'run')} under way: {listing(running)}",
            hint="wait for its runner, or stop it",
        )


def _copied_files(study: Path, surveyed: Surveyed) -> Iterator[Path]:
    """Yield the files of journals, calibrations and an imported campaign, from which those of the package are made."""
    for attempt in surveyed.attempts:
        yield from (attempt / name for name in attempt_files(attempt))
    yield study / CALIBRATIONS
    if not surveyed.attempts:
        yield from campaign_files(study)


def _stage_runs(
    study: Path, folder: Path, surveyed: Surveyed, scrub: Scrubber | None, tell: Progress
) -> tuple[Campaign, Environment]:
    """Write the journals and the campaign that follows from them, or an imported campaign; return what they say."""
    environment = Environment()
    if not surveyed.attempts:
        stage_calibrations(study, folder, scrub)
        return stage_campaign(study, folder, scrub), environment
    if (study / CAMPAIGN / MANIFEST).is_file():
        # It is made anew, but a broken one says that somebody was at the files.
        open_campaign(study / CAMPAIGN)
    stage_attempts(surveyed, folder, scrub, lambda done, whole: tell("journals", done, whole))
    stage_calibrations(study, folder, scrub)
    _refuse_running(study)
    if survey_attempts(study).attempts != surveyed.attempts:
        raise GaplineError(f"{study}: expected a study at rest, got runs that began while it was packed")
    rebuilt = rebuild_campaign(folder, environment.note)
    refuse_damaged(rebuilt.damaged)
    save_campaign(rebuilt.campaign, folder / CAMPAIGN)
    return rebuilt.campaign, environment


def _placeless_study(folder: Path, campaign: Campaign, *, allow_code: bool) -> Study:
    """Open the staged study; what goes wrong is told without the folder, which nobody knows."""
    try:
        return open_study(os.fspath(folder), campaign=campaign, allow_code=allow_code, allow_empty=True)
    except GaplineError as error:
        error.message = error.message.replace(f"{folder}/", "").replace(str(folder), "the study")
        raise


def _refuse_alarms(study: Path, opened: Study, *, with_alarms: bool) -> None:
    if opened.alarms and not with_alarms:
        rung = listing(map(str, opened.alarms), most=3)
        raise IntegrityError(
            f"{study}: expected no integrity alarm, got {counted(len(opened.alarms), 'alarm')}: {rung}",
            hint="find out which side is wrong, or pack it with the alarms: --with-alarms",
        )

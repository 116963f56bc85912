"""`gapline pack`: a study as one reproducible file; refuses outdated results and named machines."""

import json
import math
import os
import re
import shlex
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from gapline.campaign.campaign import Campaign
from gapline.campaign.store import file_digest, open_campaign, save_campaign
from gapline.contract.layout import (
    CAMPAIGN,
    CONTRACT_FILE,
    JOURNALS,
    MANIFEST,
    REGISTER,
    RESULTS,
    RESULTS_FILE,
    Identity,
)
from gapline.contract.study_file import load_contract
from gapline.errors import GaplineError, IntegrityError, listing
from gapline.files.digests import directory_identifier
from gapline.files.open_file import open_regular, read_document
from gapline.files.scratch_arrays import scratch_place
from gapline.journal.attempts import folders_of
from gapline.journal.claims import running_cells
from gapline.package.attempts import (
    AttemptSurvey,
    attempt_files,
    read_lines,
    refuse_damaged,
    stage_attempts,
    survey_attempts,
)
from gapline.package.campaign import (
    Environment,
    Progress,
    campaign_files,
    rebuild_campaign,
    stage_campaign,
    survey_imported,
)
from gapline.package.checks.values import is_number, value_differences
from gapline.package.container import check_target, write_container, write_sums
from gapline.package.contents import Contents, find_contents, refuse_changed, refuse_odd_files
from gapline.package.crate import write_crate
from gapline.package.documents import instances_document, missing_metadata, write_document, write_documents
from gapline.package.excluded_files import ExcludedFile, list_other_results
from gapline.package.scrub import Redaction, Scrubber, names_local_path
from gapline.report.write import library_versions, write_report
from gapline.study import Study, open_study
from gapline.text import counted

# Texts, digests and versions change when a host is renamed or another gapline wrote them; numbers do not.
_NO_NUMBERS = frozenset(
    ("schema", "title", "versions", "campaign", "headline", "reading", "facts", "methods", "files", "derived", "notes")
)
_NOTES = re.compile(r"(?:^|\.)notes(?:[.\[]|$)")
# Tolerances for numbers that were printed and read again, or summed by another version of a library.
_RELATIVE, _ABSOLUTE = 1e-9, 1e-12


def refuse_stale_results(study: Path, folder: Path) -> None:
    """Refuse a study if a number in its `results/` differs from those in a folder with a new report."""
    path, hint = study / RESULTS / RESULTS_FILE, f"renew them: gapline report {shlex.quote(str(study))}"
    try:
        old = json.loads(read_document(path))
    except FileNotFoundError:
        return
    except (OSError, ValueError, RecursionError) as error:
        raise GaplineError(f"{path}: expected results, got {error}", hint=hint) from error
    new = json.loads(read_document(folder / RESULTS / RESULTS_FILE))
    if (found := next(differing_numbers(old, new), None)) is not None:
        place, was, now = found
        raise GaplineError(
            f"{path}: expected the numbers that follow from what is packed, got another one: {place} is {was!r} "
            f"there and {now!r} now",
            hint=hint,
        )


def differing_numbers(old: Any, new: Any) -> Iterator[tuple[str, Any, Any]]:
    """Yield each number that differs, with its place; entries that only one side has are not compared.

    >>> list(differing_numbers({"a": [1.0, 2.0], "b": 1}, {"a": [1.0, 2.5], "c": 1}))
    [('a[1]', 2.0, 2.5)]
    """
    if isinstance(old, dict) and isinstance(new, dict):
        old, new = ({name: one[name] for name in one if name not in _NO_NUMBERS} for one in (old, new))
    for place, was, now in value_differences(old, new, alone={}):
        if _NOTES.search(place):
            continue
        if isinstance(was, list) and isinstance(now, list):
            yield f"number of {place}", len(was), len(now)
        elif is_number(was) and is_number(now):
            if not math.isclose(was, now, rel_tol=_RELATIVE, abs_tol=_ABSOLUTE):
                yield place, was, now
        elif is_number(was) or is_number(now):
            yield place, was, now


# A shorter name may be an ordinary word of a title.
_SHORTEST_HOST = 4


def refuse_named_machines(contents: Contents, scrub: Scrubber) -> None:
    """Refuse files that name a machine and must be packed unchanged, and list the lines."""
    texts = {CONTRACT_FILE, f"{JOURNALS}/{REGISTER}", *contents.snapshots}
    found = [*_scaled_hosts(contents)]
    for name, path in sorted(contents.files.items()):
        found += [
            f"{name}:{number}: {what}"
            for number, what in _named(path, scrub, closely=name in texts or name.endswith(".csv"))
        ]
    if found:
        raise GaplineError(
            f"{contents.study}: expected no machine named in files that are packed as they are, got {listing(found)}",
            hint="name files by their path in the study, and hosts not at all; --keep-hosts packs everything as it is",
        )


def _scaled_hosts(contents: Contents) -> Iterator[str]:
    lines = read_document(contents.study / CONTRACT_FILE).decode().splitlines()
    for host in (host for host in contents.contract.time.scale if host != "*"):
        named = [number for number, text in enumerate(lines, 1) if host in text]
        line = next((number for number in named if "scale" in lines[number - 1]), (named or [1])[0])
        yield f"{CONTRACT_FILE}:{line}: time.scale names the host {host!r}"


def _named(path: Path, scrub: Scrubber, *, closely: bool) -> Iterator[tuple[int, str]]:
    """Yield the lines of a file that name a place; `closely` also finds any local path and host names."""
    places = [place.encode("utf-8", "surrogateescape") for place in scrub.places if place.count("/") > 1]
    hosts = _host_pattern(scrub.hosts)
    with open_regular(path) as source:
        for number, line in enumerate(read_lines(source), 1):
            if any(place in line for place in places):
                yield number, "the path of a study or a home"
            elif closely:
                text = line.decode("utf-8", "replace")
                if names_local_path(text):
                    yield number, "an absolute path"
                elif hosts is not None and hosts.search(text):
                    yield number, "a host name"


def _host_pattern(hosts: Iterable[str]) -> re.Pattern[str] | None:
    words = [re.escape(host) for host in hosts if len(host) >= _SHORTEST_HOST and host != "localhost"]
    return re.compile(rf"(?<![\w-])(?:{'|'.join(words)})(?![\w-])") if words else None


# PDF files differ in their bytes each time they are written.
FORMATS = ("svg", "png")


@dataclass(frozen=True, slots=True)
class Packed:
    """A package that was written.

    `members` are the names in it, `programs` those of programs and code of the study, `coverage` says how much of the
    plan it holds, `notes` are facts for the reader, and `unstated` is the metadata for citing, archiving and finding
    it that the contract does not state.
    """

    path: Path
    identity: Identity
    members: tuple[str, ...]
    left_out: tuple[ExcludedFile, ...]
    taken_out: tuple[Redaction, ...]
    coverage: str
    alarms: int
    programs: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    unstated: tuple[str, ...] = ()

    def document(self) -> dict[str, Any]:
        """Return the package for JSON."""
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
    """Pack a study into a replication package; the study directory does not change.

    Parameters
    ----------
    study_dir, target
        The study, and the file to write: `.zip` or `.tar.zst`.
    with_alarms
        Pack a study despite integrity alarms.
    without_instances
        Leave the instances out: the package then holds their digests and their origin.
    keep_hosts
        Keep host names, user names and paths; by default they are redacted, and a study in which that is impossible is
        refused.
    also
        Further files of the study: names or patterns of paths.
    stored
        Do not compress: the bytes of a zip then depend on no library.
    allow_code
        Let kernels and statistics from code of the study run, as in `gapline report`.
    progress
        Called with the step under way, how much of it is done, and its total.

    Raises
    ------
    GaplineError
        If runs are under way, a digest or a journal does not verify, `results/` hold other numbers, an alarm rings, or
        a file that is packed unchanged names a machine.
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
        # The real path: errors and notes drop it from their text, which would miss a link to it.
        folder = Path(scratch).resolve()
        scrub = None if keep_hosts else surveyed.scrubber()
        if scrub is not None:
            refuse_named_machines(contents, scrub)
        for name, file in contents.files.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, folder / name)
        # Before anything is opened: without their files, instances are only known from this document.
        write_document(folder, instances_document(contents))
        campaign, environment = _stage_runs(study, folder, surveyed, scrub, tell)
        refuse_changed(contents, environment.problems, environment.solved)
        taken = [] if scrub is None else scrub.list_taken()
        tell("report", 0, 1)
        opened = _placeless_study(folder, campaign, allow_code=allow_code)
        if opened.alarms and not with_alarms:
            rung = listing(map(str, opened.alarms), most=3)
            raise IntegrityError(
                f"{study}: expected no integrity alarm, got {counted(len(opened.alarms), 'alarm')}: {rung}",
                hint="find out which side is wrong, or pack it with the alarms: --with-alarms",
            )
        write_report(opened, folder / RESULTS, formats=FORMATS)
        tell("report", 1, 1)
        refuse_stale_results(study, folder)
        contents.left_out = sorted([*contents.left_out, *list_other_results(study, folder)])
        if scrub is not None:
            contents.left_out = [ExcludedFile(scrub.text(one.path, ""), one.why) for one in contents.left_out]
        write_documents(
            folder,
            contents,
            coverage=str(opened.coverage),
            campaign=campaign.digest(),
            environment=environment.document(campaign),
            versions=library_versions(),
            taken_out=[one._asdict() for one in taken],
            hosts_kept=keep_hosts,
            alarms=len(opened.alarms),
        )
        # Last, since it describes the other files.
        write_crate(folder)
        hashes = write_sums(folder)
        files = {name: folder / name for name in sorted(hashes)}
        executable = {name for name in files if contents.executable(name)}
        write_container(path, files, executable=executable, stored=stored, tell=partial(tell, "files"))
        swhid = directory_identifier({name: (hashes[name], name in executable) for name in files})
        return Packed(
            path=path,
            identity=Identity(path.name, file_digest(path), swhid),
            members=tuple(files),
            left_out=tuple(contents.left_out),
            taken_out=tuple(taken),
            coverage=str(opened.coverage),
            alarms=len(opened.alarms),
            programs=tuple(contents.programs),
            notes=tuple(opened.notes()),
            unstated=tuple(missing_metadata(opened.contract or contract)),
        )


def _refuse_running(study: Path) -> None:
    if running := sorted(running_cells(folders_of(study))):
        raise GaplineError(
            f"{study}: expected a study at rest, got {counted(len(running), 'run')} under way: {listing(running)}",
            hint="wait for its runner, or stop it",
        )


def _copied_files(study: Path, surveyed: AttemptSurvey) -> Iterator[Path]:
    """Yield the files of journals and of an imported campaign, which the package holds in a redacted form."""
    for attempt in surveyed.attempts:
        yield from (attempt / name for name in attempt_files(attempt))
    if not surveyed.attempts:
        yield from campaign_files(study)


def _stage_runs(
    study: Path, folder: Path, surveyed: AttemptSurvey, scrub: Scrubber | None, tell: Progress
) -> tuple[Campaign, Environment]:
    """Write the journals and the campaign built from them, or an imported campaign; return campaign and environment."""
    if not surveyed.attempts:
        return stage_campaign(study, folder, scrub), Environment()
    if (study / CAMPAIGN / MANIFEST).is_file():
        # The campaign is built again, but a damaged one shows that files were changed.
        open_campaign(study / CAMPAIGN)
    stage_attempts(surveyed, folder, scrub, partial(tell, "journals"))
    _refuse_running(study)
    if survey_attempts(study).attempts != surveyed.attempts:
        raise GaplineError(f"{study}: expected a study at rest, got runs that began while it was packed")
    campaign, index = rebuild_campaign(folder)
    refuse_damaged(index.damaged)
    save_campaign(campaign, folder / CAMPAIGN)
    return campaign, index.environment


def _placeless_study(folder: Path, campaign: Campaign, *, allow_code: bool) -> Study:
    """Open the staged study; its error messages do not name the temporary folder."""
    try:
        return open_study(os.fspath(folder), campaign=campaign, allow_code=allow_code, allow_empty=True)
    except GaplineError as error:
        error.message = error.message.replace(f"{folder}/", "").replace(str(folder), "the study")
        raise

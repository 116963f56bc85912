"""Journals, members and campaign of a study: recomputed and compared file by file."""

import contextlib
import datetime
import json
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.store import OUR_FILES, RUNS_FILE, file_digest, fill_directory, open_campaign, read_manifest
from gapline.contract.layout import CAMPAIGN, MANIFEST, SUMS
from gapline.contract.tables import RETIRED, RUN_KEY
from gapline.errors import GaplineError, IntegrityError
from gapline.files.digests import parse_sums
from gapline.files.open_file import most_bytes, read_regular, reason_of
from gapline.journal.attempts import attempts_of, cells_of
from gapline.journal.campaign import build_campaign, survey_study
from gapline.journal.index import Index, Seen
from gapline.journal.line import ORDER_FILE
from gapline.journal.read import Journal, JournalState
from gapline.journal.records import read_order
from gapline.journal.verdicts import Judge, VerdictFacts, Verdicts
from gapline.package.campaign import Environment
from gapline.package.checks.rows import Difference, Findings, Progress, Source
from gapline.package.checks.values import byte_difference, value_differences
from gapline.process.machine import package_version
from gapline.text import counted, printable

_PIECE = 1 << 20


def show_stored(source: Source, findings: Findings) -> bool:
    """Compare the files of `campaign/` with the digests that its manifest states; return whether they fit."""
    folder = source.folder / CAMPAIGN
    if not (folder / MANIFEST).is_file():
        findings.leave("campaign", 0, "files", f"there is no {CAMPAIGN}/")
        return False
    differing, files = [], 0
    try:
        files = len(read_manifest(folder).get("files", ()))
        open_campaign(folder)
    except GaplineError as error:
        differing = [_named(source.words(error.message))]
    return findings.judge("campaign", files, "files", differing, how=f"digests of {CAMPAIGN}/{MANIFEST}")


def _named(message: str) -> Difference:
    """Name the file that an error on the whole directory names first."""
    folder, _, rest = message.partition(": ")
    name, colon, said = rest.partition(": ")
    if folder == CAMPAIGN and colon and name in OUR_FILES:
        return Difference(f"{CAMPAIGN}/{name}", said)
    return Difference.of(message)


def show_rebuilt(
    source: Source, campaign: Campaign, scratch: Path, findings: Findings, versions: Mapping[str, str]
) -> Campaign:
    """Compare `campaign/` with the one that the journals make; return the latter as it lies in `scratch`.

    `versions` are those of the libraries that wrote `campaign/`, where they are stated.
    """
    folder = source.folder / CAMPAIGN
    stated = _read_json(folder / MANIFEST)
    campaign = _with_retired(campaign, folder, findings)
    made = scratch / CAMPAIGN
    made.mkdir()
    fill_directory(replace(campaign, diagnostics=called_as_stated(campaign.diagnostics, source.folder, stated)), made)
    rebuilt = open_campaign(made, verify=False)
    if (folder / MANIFEST).is_file():
        here = package_version("polars")
        other = versions.get("polars", here) != here
        differing = list(_differing(source, folder, made, rebuilt, other=other))
        by_value = other and byte_difference(made / RUNS_FILE, folder / RUNS_FILE, RUNS_FILE) is not None
        how = "built from the journals again, " + (
            f"{RUNS_FILE} by content (polars {versions.get('polars')} there, {here} here)" if by_value else "bytes"
        )
        findings.judge("campaign", len(rebuilt), "runs", differing, how=how)
    return rebuilt


def _with_retired(campaign: Campaign, folder: Path, findings: Findings) -> Campaign:
    """Take over columns of earlier versions, on which no journal has a word and no number rests."""
    runs = campaign.runs
    try:
        stored = pl.read_parquet(read_regular(folder / RUNS_FILE, most=most_bytes()))
        same = runs.select(RUN_KEY).equals(stored.select(RUN_KEY))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # The comparison of the files names it.
        return campaign
    names = [name for name in RETIRED if name in stored.columns]
    if not names or not same:
        return campaign
    findings.leave("campaign", len(names), "columns", f"written by an earlier version: {', '.join(names)}")
    runs = runs.with_columns(stored.select(names))
    # Bytes depend on the order of the columns.
    order = [name for name in stored.columns if name in runs.columns]
    return replace(campaign, runs=runs.select(*order, *(name for name in runs.columns if name not in order)))


def called_as_stated(found: Diagnostics, folder: Path, stated: Any) -> Diagnostics:
    """Return the diagnostics of a rebuilt campaign, with the study named as the manifest of the stored one names it."""
    sources = stated.get("diagnostics", {}).get("sources", []) if isinstance(stated, dict) else []
    if len(sources) != 1 or not isinstance(sources[0], str):
        return found
    here, there = str(folder), sources[0]

    def called(text: str) -> str:
        # From inside the study, its own name stands in no path; in a command, it is quoted.
        text = text.replace(f"gapline check {shlex.quote(here)}", f"gapline check {shlex.quote(there)}")
        return text.replace(f"{here}/", "" if there == "." else f"{there}/").replace(here, there)

    def all_called(texts: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(map(called, texts))

    return replace(
        found,
        sources=all_called(found.sources),
        problems=all_called(found.problems),
        notes=all_called(found.notes),
    )


def _differing(source: Source, folder: Path, made: Path, rebuilt: Campaign, *, other: bool) -> Iterator[Difference]:
    names = sorted(OUR_FILES & {file.name for place in (folder, made) for file in place.iterdir()} - {MANIFEST})
    for name in names:
        member = f"{CAMPAIGN}/{name}"
        if not (made / name).is_file() or not (folder / name).is_file():
            yield Difference(member, f"expected {_there(made / name)}, got {_there(folder / name)}")
        elif (found := byte_difference(made / name, folder / name, member)) is None:
            continue
        elif name == RUNS_FILE:
            yield from _of_runs(made / name, folder / name, found, other=other)
        else:
            yield _of_column(made / name, folder / name, rebuilt, found)
    if byte_difference(made / MANIFEST, folder / MANIFEST, MANIFEST) is None:
        return
    expected, got = _read_json(made / MANIFEST), _read_json(folder / MANIFEST)
    if not isinstance(got, dict) or not isinstance(expected, dict):
        yield Difference(f"{CAMPAIGN}/{MANIFEST}", "expected the manifest of a campaign, got something else")
        return
    for place, one, another in value_differences(
        _of_content(expected, source, other), _of_content(got, source, other), {}
    ):
        said = f"{place}: expected {_short(one)}, got {_short(another)}"
        yield Difference(f"{CAMPAIGN}/{MANIFEST}", said)


def _of_content(manifest: dict[str, Any], source: Source, other: bool) -> dict[str, Any]:
    """Return what of a manifest follows from the journals alone."""
    kept = {name: value for name, value in manifest.items() if name != "seal"}
    if other:
        kept["files"] = {name: value for name, value in kept.get("files", {}).items() if name != RUNS_FILE}
    found = kept.get("diagnostics")
    if not source.is_package and isinstance(found, dict):
        # What lies beside the journals and is not of gapline may have come after the campaign was built.
        notes = [note for note in found.get("notes", []) if "not of gapline and left out" not in str(note)]
        kept["diagnostics"] = found | {"notes": notes}
    return kept


def _of_runs(expected: Path, got: Path, bytes_differ: Difference, *, other: bool) -> Iterator[Difference]:
    """Name column and run of the first entry of the runs table that differs."""
    try:
        one, another = (pl.read_parquet(read_regular(path, most=most_bytes())) for path in (expected, got))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        yield Difference(bytes_differ.member, f"expected the runs table, got {printable(error)}")
        return
    if one.columns != another.columns or one.height != another.height:
        shapes = [f"{frame.height:,} runs with {', '.join(frame.columns)}" for frame in (one, another)]
        yield Difference(bytes_differ.member, f"expected {shapes[0]:.300}, got {shapes[1]:.300}")
        return
    for name in one.columns:
        if one[name].dtype != another[name].dtype:
            yield Difference(bytes_differ.member, f"{name}: expected {one[name].dtype}, got {another[name].dtype}")
            return
        rows = one[name].ne_missing(another[name]).arg_true()
        if len(rows):
            row = int(rows[0])
            key = "/".join(str(one[part][row]) for part in RUN_KEY)
            said = f"{name} of {key}: expected {_short(one[name][row])}, got {_short(another[name][row])}"
            yield Difference(bytes_differ.member, said)
            return
    if not other:
        yield bytes_differ


def _of_column(expected: Path, got: Path, rebuilt: Campaign, bytes_differ: Difference) -> Difference:
    """Name run and candidate of the first entry of a column that differs."""
    try:
        one, another = (np.load(path, mmap_mode="r", allow_pickle=False) for path in (expected, got))
    except (OSError, ValueError, EOFError):
        return bytes_differ
    if one.shape != another.shape or one.dtype != another.dtype or one.ndim != 1:
        shapes = [f"{column.dtype} of {column.shape}" for column in (one, another)]
        return Difference(bytes_differ.member, f"expected {shapes[0]}, got {shapes[1]}")
    for low in range(0, len(one), _PIECE):
        pieces = [np.ascontiguousarray(column[low : low + _PIECE]).view(np.uint8) for column in (one, another)]
        places = np.flatnonzero(pieces[0] != pieces[1])
        if len(places):
            entry = low + int(places[0]) // one.itemsize
            runs = rebuilt.runs
            row = int(np.searchsorted(runs["first"].to_numpy(), entry, side="right")) - 1
            key = "/".join(str(runs[part][row]) for part in RUN_KEY)
            candidate = entry - int(runs["first"][row]) + 1
            said = f"candidate {candidate:,} of {key}: expected {one[entry]}, got {another[entry]}"
            return Difference(bytes_differ.member, said)
    return bytes_differ


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None


def _there(path: Path) -> str:
    return "a file" if path.is_file() else "none"


def _short(value: Any) -> str:
    return f"{printable(value)!s:.120}"


class WatchedIndex(Index):
    """An index that knows nothing, so that everything is read, and notes of each attempt what does not verify."""

    def __init__(self, source: Source, whole: int, progress: Progress) -> None:
        super().__init__(source.folder, keep=False)
        self._source, self._whole, self._progress = source, whole, progress
        self.attempts = self.cut_short = 0
        self.files = self.verdicts_read = self.unsealed = self.unchecked = 0
        self.wrong: list[Difference] = []
        self.wrong_verdicts: list[Difference] = []
        self.begun: list[datetime.datetime] = []
        self.environment = Environment()

    def read(self, attempt: Path) -> Seen:
        """Read an attempt and take note of it."""
        seen = super().read(attempt)
        self._progress("journals", self.attempts, self._whole)
        self.attempts += 1
        self.environment.note(seen)
        journal = seen.outcome
        if journal.corruption is not None:
            self._say(self.wrong, journal.corruption)
        elif isinstance(journal, Journal):
            self._compare_order(attempt, journal)
        self.cut_short += journal.state is JournalState.BROKEN
        if journal.ending is not None:
            with contextlib.suppress(ValueError):
                self.begun.append(datetime.datetime.fromisoformat(journal.ending.started))
        for verdicts in seen.verdicts:
            self._take(verdicts, journal if isinstance(journal, Journal) else None)
        return seen

    def _say(self, kept: list[Difference], message: str) -> None:
        kept.append(Difference.of(self._source.words(message)))

    def _compare_order(self, attempt: Path, journal: Journal) -> None:
        """Compare the order beside a journal with the one that the journal begins with."""
        if journal.unordered is not None:
            self._say(self.wrong, journal.unordered)
            return
        try:
            order = read_order(attempt)
        except FileNotFoundError:
            self._say(self.wrong, f"{attempt / ORDER_FILE}: expected the order of the attempt, got none")
            return
        if order != journal.order:
            names = [name for name in order.__struct_fields__ if getattr(order, name) != getattr(journal.order, name)]
            expected, got = (msgspec.json.encode(getattr(one, names[0])).decode() for one in (journal.order, order))
            said = f"expected {names[0]} {expected:.200}, as the journal begins with, got {got:.200}"
            self._say(self.wrong, f"{attempt / ORDER_FILE}: {said}")

    def _take(self, verdicts: VerdictFacts, journal: Journal | None) -> None:
        self.files += 1
        self.verdicts_read += verdicts.judged
        self.unsealed += not verdicts.sealed
        self.unchecked += verdicts.unchecked if verdicts.usable else 0
        if verdicts.damage is not None:
            self._say(self.wrong_verdicts, verdicts.damage)
        elif verdicts.torn:
            said = f"expected a whole last line, got {verdicts.torn} bytes of one"
            self._say(self.wrong_verdicts, f"{verdicts.path}: {said}")
        elif journal is not None and isinstance(verdicts, Verdicts) and journal.state is not JournalState.QUARANTINED:
            if verdicts.candidates != journal.asked:
                said = f"expected verdicts on {counted(journal.asked, 'candidate')}, got {verdicts.candidates:,}"
                self._say(self.wrong_verdicts, f"{verdicts.path}:1: {said}")
            elif foreign := sorted(verdicts.by_sequence.keys() - set(journal.events.sequences)):
                said = f"expected verdicts on candidates of the journal, got one on event {foreign[0]}"
                self._say(self.wrong_verdicts, f"{verdicts.path}: {said}")


def show_journals(
    source: Source, findings: Findings, progress: Progress
) -> tuple[Campaign, Judge | None, WatchedIndex]:
    """Verify journals and verdicts; return the campaign that they make, and whose verdicts count in it."""
    whole = sum(len(attempts_of(cell)) for cell in cells_of(source.folder))
    index = WatchedIndex(source, whole, progress)
    survey = survey_study(source.folder, index)
    campaign = build_campaign(survey, index)
    progress("journals", whole, whole)
    cut = f"{counted(index.cut_short, 'attempt')} of them cut short" if index.cut_short else ""
    findings.judge("journals", index.attempts, "attempts", index.wrong, how="chained checksums, orders", why=cut)
    if index.files:
        waiting = f"{counted(index.unchecked, 'candidate')} without a verdict" if index.unchecked else ""
        how = "chained checksums, on their journals"
        findings.judge("verdicts", index.verdicts_read, "verdicts", index.wrong_verdicts, how=how, why=waiting)
    if index.unsealed:
        findings.leave("verdicts", index.unsealed, "files", "no checksums, as earlier versions wrote them")
    return campaign, survey.judge, index


def show_sums(source: Source, findings: Findings, progress: Progress) -> bool:
    """Compare every member of a package with its sum; return whether all fit."""
    try:
        stated = parse_sums(read_regular(source.folder / SUMS).decode(), SUMS)
    except FileNotFoundError:
        return findings.judge("sums", 0, "members", [Difference(SUMS, "expected the list of sums, got none")], how="")
    except (OSError, UnicodeDecodeError, IntegrityError) as error:
        said = reason_of(error) if isinstance(error, OSError) else str(error)
        return findings.judge("sums", 0, "members", [Difference.of(said, member=SUMS)], how="")
    there = list_members(source.folder)
    differing = list(_differing_members(source.folder, stated, there, progress))
    return findings.judge("sums", len(there), "members", differing, how=f"sha256, {SUMS}")


def list_members(folder: Path) -> list[str]:
    """Return the names of all files in a folder, sorted."""
    return sorted(file.relative_to(folder).as_posix() for file in folder.rglob("*") if not file.is_dir())


def _differing_members(
    folder: Path, stated: dict[str, str], there: list[str], progress: Progress
) -> Iterator[Difference]:
    found = [name for name in there if name != SUMS]
    for done, name in enumerate(found):
        progress("members", done, len(found))
        if name not in stated:
            yield Difference(name, f"expected no such member, got one that {SUMS} does not list")
            continue
        digest = file_digest(folder / name)
        if digest != stated[name]:
            yield Difference(name, f"expected {stated[name]}, got {digest}")
    progress("members", len(found), len(found))
    for name in sorted(stated.keys() - set(found)):
        yield Difference(name, f"expected the member that {SUMS} lists, got none")

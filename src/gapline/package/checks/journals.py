"""Members, journals and campaign: read again and compared file by file."""

import json
import shlex
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.diagnostics import Diagnostics
from gapline.campaign.store import OUR_FILES, RUNS_FILE, file_digest, fill_directory, open_campaign, read_manifest
from gapline.contract.layout import CAMPAIGN, CONTRACT_FILE, DOCUMENT, MANIFEST, SUMS
from gapline.contract.tables import RETIRED, RUN_KEY
from gapline.errors import GaplineError, IntegrityError, listing
from gapline.files.digests import parse_sums
from gapline.files.open_file import most_bytes, open_regular, read_regular, reason_of
from gapline.package.checks.rows import CheckRow, Mismatch, compared, not_compared
from gapline.package.checks.subject import Subject
from gapline.package.checks.values import byte_difference, first_difference, value_differences
from gapline.package.container import list_members
from gapline.process.machine import package_version
from gapline.text import counted, printable


def check_sums(subject: Subject) -> Iterator[CheckRow]:
    """Compare every member of a package with its checksum."""
    try:
        stated = parse_sums(read_regular(subject.folder / SUMS).decode(), SUMS)
        there = list_members(subject.folder)
        differing = list(_differing_members(subject, stated, [name for name in there if name != SUMS]))
        yield compared("sums", len(there), "members", differing, how=f"sha256, {SUMS}")
    except FileNotFoundError:
        differing = [Mismatch(SUMS, "expected the list of sums, got none")]
        yield compared("sums", 0, "members", differing)
    except (OSError, UnicodeDecodeError, IntegrityError) as error:
        said = reason_of(error) if isinstance(error, OSError) else str(error)
        differing = [Mismatch.of(said, member=SUMS)]
        yield compared("sums", 0, "members", differing)
    # If a member was changed, nothing else in the package can be trusted, so that the verification stops here.
    if differing:
        yield not_compared("the rest", 0, "members", "not looked at: what comes before it differs")


def _differing_members(subject: Subject, stated: dict[str, str], found: list[str]) -> Iterator[Mismatch]:
    for done, name in enumerate(found):
        subject.progress("members", done, len(found))
        if name not in stated:
            yield Mismatch(name, f"expected no such member, got one that {SUMS} does not list")
        elif (digest := file_digest(subject.folder / name)) != stated[name]:
            yield Mismatch(name, f"expected {stated[name]}, got {digest}")
    subject.progress("members", len(found), len(found))
    for name in sorted(stated.keys() - set(found)):
        yield Mismatch(name, f"expected the member that {SUMS} lists, got none")


def check_others(subject: Subject) -> Iterator[CheckRow]:
    """Name the members that no other check recomputes: only their checksums are verified."""
    if not subject.is_package:
        return
    known = {CONTRACT_FILE, DOCUMENT, SUMS, *(instance.path for instance in subject.contract.instances)}
    folders = ("journal/", "campaign/", "results/", "references/")
    others = [
        name
        for name in list_members(subject.folder)
        if name not in known and (name.endswith(".log") or not name.startswith(folders))
    ]
    if others:
        what = listing(others, most=3)
        yield not_compared("other members", len(others), "members", f"no number is made of them, sums alone: {what}")


def check_journals(subject: Subject) -> Iterator[CheckRow]:
    """Verify journals and verdicts, and build the campaign from them."""
    index = subject.index
    cut = f"{counted(index.cut_short, 'attempt')} of them cut short" if index.cut_short else ""
    yield compared("journals", index.attempts, "attempts", index.wrong, how="chained checksums, orders", why=cut)
    if index.files:
        waiting = f"{counted(index.unchecked, 'candidate')} without a verdict" if index.unchecked else ""
        how = "chained checksums, on their journals"
        yield compared("verdicts", index.verdicts_read, "verdicts", index.wrong_verdicts, how=how, why=waiting)
    if index.unsealed:
        yield not_compared("verdicts", index.unsealed, "files", "no checksums, as earlier versions wrote them")


def check_stored(subject: Subject) -> Iterator[CheckRow]:
    """Compare the files of `campaign/` with the digests that its manifest states."""
    folder = subject.folder / CAMPAIGN
    if not (folder / MANIFEST).is_file():
        yield not_compared("campaign", 0, "files", f"there is no {CAMPAIGN}/")
        return
    differing, files = [], 0
    try:
        files = len(read_manifest(folder).get("files", ()))
        open_campaign(folder)
    except GaplineError as error:
        # An error about the whole directory names the file first.
        found = Mismatch.of(subject.words(error.message))
        name, colon, said = found.said.partition(": ")
        if found.member == CAMPAIGN and colon and name in OUR_FILES:
            found = Mismatch(f"{CAMPAIGN}/{name}", said)
        differing = [found]
    yield compared("campaign", files, "files", differing, how=f"digests of {CAMPAIGN}/{MANIFEST}")


def check_rebuilt(subject: Subject) -> Iterator[CheckRow]:
    """Compare `campaign/` with the one built from the journals, which is written to `scratch`."""
    folder, made = subject.folder / CAMPAIGN, subject.scratch / CAMPAIGN
    campaign, retired = _with_retired(subject.index.campaign, folder)
    if retired:
        yield not_compared("campaign", len(retired), "columns", f"written by an earlier version: {', '.join(retired)}")
    stated = _read_json(folder / MANIFEST)
    made.mkdir()
    fill_directory(replace(campaign, diagnostics=rename_source(campaign.diagnostics, subject.folder, stated)), made)
    subject.rebuilt = open_campaign(made, verify=False)
    if (folder / MANIFEST).is_file():
        here = package_version("polars")
        there = subject.versions.get("polars", here)
        differing = list(_differing_files(subject, made, subject.rebuilt, other=there != here))
        by_value = there != here and byte_difference(made / RUNS_FILE, folder / RUNS_FILE, RUNS_FILE) is not None
        how = f"{RUNS_FILE} by content (polars {there} there, {here} here)" if by_value else "bytes"
        how = f"built from the journals again, {how}"
        yield compared("campaign", len(subject.rebuilt), "runs", differing, how=how)


def _with_retired(campaign: Campaign, folder: Path) -> tuple[Campaign, list[str]]:
    """Copy columns of earlier versions, which no journal records and no number uses; return their names too."""
    runs = campaign.runs
    try:
        stored = pl.read_parquet(read_regular(folder / RUNS_FILE, most=most_bytes()))
        same = runs.select(RUN_KEY).equals(stored.select(RUN_KEY))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # The comparison of the files reports the error.
        return campaign, []
    names = [name for name in RETIRED if same and name in stored.columns]
    runs = runs.with_columns(stored.select(names)) if names else runs
    # The bytes depend on the order of the columns.
    order = [name for name in stored.columns if names and name in runs.columns]
    return replace(campaign, runs=runs.select(*order, pl.exclude(order)) if names else runs), names


def rename_source(found: Diagnostics, folder: Path, stated: Any) -> Diagnostics:
    """Return the diagnostics of a rebuilt campaign, naming the study as the manifest of the stored one does."""
    sources = stated.get("diagnostics", {}).get("sources", []) if isinstance(stated, dict) else []
    if len(sources) != 1 or not isinstance(sources[0], str):
        return found
    here, there = str(folder), sources[0]

    def called(text: str) -> str:
        # When gapline ran inside the study, paths do not contain its name; in a command, the name is quoted.
        text = text.replace(f"gapline check {shlex.quote(here)}", f"gapline check {shlex.quote(there)}")
        return text.replace(f"{here}/", "" if there == "." else f"{there}/").replace(here, there)

    return found.retold(called)


def _differing_files(subject: Subject, made: Path, rebuilt: Campaign, *, other: bool) -> Iterator[Mismatch]:
    folder = subject.folder / CAMPAIGN
    names = OUR_FILES & {file.name for place in (folder, made) for file in place.iterdir()}
    for name in sorted(names - {MANIFEST}):
        pair, member = (made / name, folder / name), f"{CAMPAIGN}/{name}"
        there = ["a file" if path.is_file() else "none" for path in pair]
        if "none" in there:
            yield Mismatch(member, f"expected {there[0]}, got {there[1]}")
        elif (found := byte_difference(*pair, member)) is not None:
            said = _runs_difference(*pair) if name == RUNS_FILE else _column_difference(*pair, rebuilt)
            if said is not None:
                yield Mismatch(member, said)
            elif name != RUNS_FILE or not other:
                yield found
    if byte_difference(made / MANIFEST, folder / MANIFEST, MANIFEST) is None:
        return
    expected, got = (_of_content(_read_json(place / MANIFEST), subject, other) for place in (made, folder))
    if expected is None or got is None:
        yield Mismatch(f"{CAMPAIGN}/{MANIFEST}", "expected the manifest of a campaign, got something else")
        return
    for place, one, another in value_differences(expected, got):
        yield Mismatch(f"{CAMPAIGN}/{MANIFEST}", f"{place}: expected {_short(one)}, got {_short(another)}")


def _of_content(manifest: Any, subject: Subject, other: bool) -> dict[str, Any] | None:
    """Return the part of a manifest that follows from the journals alone; None if it is not a manifest."""
    if not isinstance(manifest, dict):
        return None
    kept = {name: value for name, value in manifest.items() if name != "seal"}
    if other:
        kept["files"] = {name: value for name, value in kept.get("files", {}).items() if name != RUNS_FILE}
    found = kept.get("diagnostics")
    if not subject.is_package and isinstance(found, dict):
        # Foreign files next to the journals may have been added after the campaign was built.
        notes = [note for note in found.get("notes", []) if "not of gapline and left out" not in str(note)]
        kept["diagnostics"] = found | {"notes": notes}
    return kept


def _runs_difference(expected: Path, got: Path) -> str | None:
    """Name the column and the run of the first differing entry of the runs table."""
    try:
        one, another = (pl.read_parquet(read_regular(path, most=most_bytes())) for path in (expected, got))
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        return f"expected the runs table, got {printable(error)}"
    if one.columns != another.columns or one.height != another.height:
        shapes = [f"{frame.height:,} runs with {', '.join(frame.columns)}" for frame in (one, another)]
        return f"expected {shapes[0]:.300}, got {shapes[1]:.300}"
    for name in one.columns:
        if one[name].dtype != another[name].dtype:
            return f"{name}: expected {one[name].dtype}, got {another[name].dtype}"
        rows = one[name].ne_missing(another[name]).arg_true()
        if len(rows):
            key = "/".join(map(str, one.select(RUN_KEY).row(rows[0])))
            return f"{name} of {key}: expected {_short(one[name][rows[0]])}, got {_short(another[name][rows[0]])}"
    return None


def _column_difference(expected: Path, got: Path, rebuilt: Campaign) -> str | None:
    """Name the run and the candidate of the first differing entry of a column."""
    try:
        one, another = (np.load(path, mmap_mode="r", allow_pickle=False) for path in (expected, got))
    except (OSError, ValueError, EOFError):
        return None
    if one.shape != another.shape or one.dtype != another.dtype or one.ndim != 1:
        shapes = [f"{column.dtype} of {column.shape}" for column in (one, another)]
        return f"expected {shapes[0]}, got {shapes[1]}"
    with open_regular(expected) as left, open_regular(got) as right:
        left.seek(one.offset)
        right.seek(another.offset)
        place = first_difference(left, right)
    # Bytes after the last entry belong to no candidate.
    if place is None or (entry := place // one.itemsize) >= len(one):
        return None
    runs = rebuilt.runs
    row = int(np.searchsorted(runs["first"].to_numpy(), entry, side="right")) - 1
    key = "/".join(map(str, runs.select(RUN_KEY).row(row)))
    return f"candidate {entry - int(runs['first'][row]) + 1:,} of {key}: expected {one[entry]}, got {another[entry]}"


def _read_json(path: Path) -> Any:
    try:
        return json.loads(read_regular(path))
    except (OSError, ValueError, RecursionError):
        return None


def _short(value: Any) -> str:
    return f"{printable(value)!s:.120}"

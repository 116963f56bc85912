"""Campaigns in a zip: one campaign directory, or trace files; other files are listed in a note."""

import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import polars as pl

from gapline.campaign.campaign import Campaign
from gapline.campaign.partitions import part_folders
from gapline.campaign.store import OUR_FILES, is_part, save_campaign
from gapline.contract.layout import CAMPAIGN, CARRIED_REFERENCES, CONTRACT_FILE, MANIFEST
from gapline.errors import TraceError, listing
from gapline.files.archives import folder_files, unpacked, write_zip
from gapline.traces.merge import merge_campaigns
from gapline.traces.neutral import neutral_format


def read_archive(path: Path, read_place: Callable[[Path], Campaign]) -> Campaign:
    """Read the campaign in a zip; `read_place` reads its campaign directory, or each of its traces."""
    with unpacked(path) as folder:
        files = sorted(file for file in folder.rglob("*") if file.is_file())
        names = [file.relative_to(folder).as_posix() for file in files]
        if contract := next((name for name in names if Path(name).name == CONTRACT_FILE), None):
            raise TraceError(
                f"{path}: expected a campaign directory or trace files, got a study ({contract})",
                hint="`gapline pack STUDY -o NAME.zip` packs a study so that every command reads it; or unpack it",
            )
        manifests = [file for file in files if file.name == MANIFEST]
        # The manifest of a part belongs to the campaign directory that contains the part.
        manifests = [
            file for file in manifests if not (is_part(file.parent.name) and file.parents[1] / MANIFEST in manifests)
        ]
        if len(manifests) > 1:
            where = listing(str(file.relative_to(folder).parent) for file in manifests)
            raise TraceError(f"{path}: expected one campaign directory, got {len(manifests)}: {where}")
        if manifests:
            place = manifests[0].parent
            campaign = read_place(place)
            holders = {place, *part_folders(place)}
            read = [place / CARRIED_REFERENCES, *(holder / name for holder in holders for name in OUR_FILES)]
        else:
            read = [file for name, file in zip(names, files, strict=True) if _is_trace(name)]
            if any(name.endswith("xl/workbook.xml") for name in names):
                raise TraceError(
                    f"{path}: expected a table as text, got an Excel workbook",
                    hint="save the sheet as CSV UTF-8 and give that file",
                )
            if not read:
                raise TraceError(
                    f"{path}: expected a campaign directory ({MANIFEST}) or trace files, got "
                    f"{listing(names, most=5) or 'nothing'}"
                )
            campaign = name_after(merge_campaigns([read_place(file) for file in read]), folder, path)
        rest = [name for name, file in zip(names, files, strict=True) if file not in read]
    # The columns stay mapped after their files are deleted: the system keeps the content, and no other process can
    # change it.
    campaign = replace(campaign, files=())
    if not rest:
        return campaign
    note = f"{path}: neither of the campaign nor traces, and not read: {listing(rest)}"
    found = campaign.diagnostics
    return replace(campaign, diagnostics=replace(found, notes=(*found.notes, note)))


def write_archive(campaign: Campaign, path: Path, *, references: bytes | None = None) -> None:
    """Write a campaign directory as a zip, with the reference snapshot that belongs to it, if given."""
    with tempfile.TemporaryDirectory(prefix="gapline-") as name:
        files = folder_files(save_campaign(campaign, Path(name) / CAMPAIGN))
        write_zip(path, files if references is None else files | {CARRIED_REFERENCES: references})


def _is_trace(name: str) -> bool:
    # Some desktops add hidden files with the same suffixes.
    hidden = any(part.startswith((".", "__MACOSX")) for part in Path(name).parts)
    return not hidden and neutral_format(Path(name)) is not None


def name_after(campaign: Campaign, folder: Path, path: Path) -> Campaign:
    """Replace the path of the temporary folder by that of the zip in all diagnostics and notes."""
    here, runs = str(folder), campaign.runs
    found = campaign.diagnostics.retold(lambda text: text.replace(here, str(path)))
    # The sources of a package are relative to its study; "." is the package itself.
    sources = tuple(str(path) if text == "." else text for text in found.sources)
    if "import_notes" in runs.columns:
        notes = pl.col("import_notes").str.replace_all(here, str(path), literal=True)
        runs = runs.with_columns(import_notes=notes)
    return replace(campaign, runs=runs, diagnostics=replace(found, sources=sources))

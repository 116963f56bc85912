"""A campaign directory that holds parts: each `part-0000/` is one of its own, and `manifest.json` lists their seals.

Whoever opens it sees one campaign: from the seal of the whole to those of the parts to the digests of their files,
everything is verified; nothing of the columns is copied.
"""

import os
import shutil
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from gapline.campaign.campaign import Campaign
from gapline.campaign.join import join_campaigns
from gapline.campaign.store import (
    ANEW,
    CHANGED,
    OUR_FILES,
    OURS,
    PARTED_SCHEMA,
    check_seal,
    fill_directory,
    manifest_parts,
    open_plain,
    read_manifest,
    refuse_to_replace,
    write_manifest,
)
from gapline.contract.layout import MANIFEST
from gapline.errors import IntegrityError, TraceError
from gapline.files.atomic_write import replace_directory, write_atomically
from gapline.files.open_file import open_regular


class Part(NamedTuple):
    """A campaign that is to become a part, and the directory whose files are linked, where nothing of it changes."""

    campaign: Campaign
    folder: Path | None = None


class PartsWritten(NamedTuple):
    """Where a campaign in parts was written, its digest, and what became of the files that there were already."""

    directory: Path
    digest: str
    linked: int
    copied: int


def save_parts(parts: Sequence[Part], directory: Path, *, overwrite: bool = False) -> PartsWritten:
    """Write a campaign directory with parts as a whole.

    Files of campaign directories are linked (a hard link, never a symbolic one) or, where the file system has no links
    or they lie on another one, copied in streams; the others are written.
    """
    # Before anything is written: runs that clash, facts that differ.
    join_campaigns([part.campaign for part in parts])
    refuse_to_replace(directory, overwrite=overwrite)
    made: list[bool] = []
    digest = ""

    def fill(folder: Path) -> None:
        nonlocal digest
        listed = {}
        for number, part in enumerate(parts):
            place = folder / f"part-{number:04}"
            place.mkdir()
            if part.folder is None:
                fill_directory(part.campaign, place)
            else:
                made.extend(_take_over(part.folder, place))
                # Another campaign may have taken the place of the one that was opened.
                part.campaign.check_files()
            place.chmod(0o755)
            manifest = read_manifest(place)
            listed[place.name] = {name: manifest.get(name) for name in ("seal", "runs", "candidates")}
        whole = _join(folder, listed, verify=False)
        digest = whole.digest()
        counts = {"runs": len(whole), "candidates": whole.candidates}
        write_manifest(folder, {"schema": PARTED_SCHEMA, **counts, "digest": digest, "parts": listed})

    replace_directory(directory, fill, ours=OURS)
    return PartsWritten(directory, digest, sum(made), len(made) - sum(made))


def part_folders(folder: Path) -> list[Path]:
    """Return the directories that hold the columns of a campaign: its parts, or itself."""
    manifest = read_manifest(folder)
    if manifest["schema"] != PARTED_SCHEMA:
        return [folder]
    return [folder / name for name in manifest_parts(folder, manifest)]


def open_parts(folder: Path, manifest: dict[str, Any], *, verify: bool) -> Campaign:
    """Open a directory with parts; what is wrong with one of them names it."""
    if verify:
        check_seal(folder, manifest)
    stated = manifest_parts(folder, manifest)
    if verify:
        _verify_parts(folder, stated)
    return _join(folder, stated, verify=verify)


def strays_in_parts(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Return what lies in the place of a campaign's own files and is none, in its directory and in its parts."""
    stated = manifest_parts(folder, manifest)
    parts = [folder / name for name in stated if (folder / name).is_dir()]
    return [*_strays(folder, stated), *(f"{part.name}/{name}" for part in parts for name in _strays_of_part(part))]


def _verify_parts(folder: Path, stated: Mapping[str, Any]) -> None:
    """Compare the seal of each part with the one that is stated for it, before any of them is read."""
    differing = []
    for name, part in stated.items():
        place = folder / name
        if place.is_symlink() or not place.is_dir():
            found = "a link" if place.is_symlink() else "none"
            differing.append(f"{name}: expected a part of the campaign, got {found}")
            continue
        manifest = read_manifest(place)
        if manifest.get("seal") != part.seal:
            differing.append(f"{name}: expected {part.seal}, got {manifest.get('seal')!s:.200}")
        elif (manifest.get("runs"), manifest.get("candidates")) != (part.runs, part.candidates):
            differing.append(f"{name}: expected {part.runs:,} runs and {part.candidates:,} candidates, got others")
        else:
            # Hidden files come with some desktops and network file systems.
            strays = [stray for stray in _strays_of_part(place) if not stray.startswith(".")]
            differing += [f"{name}/{stray}: expected no such file, as its {MANIFEST} lists none" for stray in strays]
    differing += [f"{name}: expected no such file, as {MANIFEST} lists none" for name in _strays(folder, stated)]
    if differing:
        raise IntegrityError(f"{folder}: " + "; ".join(differing), hint=CHANGED)


def _strays(folder: Path, stated: Iterable[str]) -> list[str]:
    known = {MANIFEST, *stated}
    return sorted(path.name for path in folder.iterdir() if path.name in OURS and path.name not in known)


def _strays_of_part(place: Path) -> list[str]:
    """Return what lies in a part beside the files that its manifest lists: nobody else has anything to put there."""
    listed = read_manifest(place).get("files")
    known = {MANIFEST, *(listed if isinstance(listed, dict) else ())}
    return sorted(path.name for path in place.iterdir() if path.name not in known)


def _join(folder: Path, names: Iterable[str], *, verify: bool) -> Campaign:
    parts = []
    for name in names:
        manifest = read_manifest(folder / name)
        if manifest["schema"] == PARTED_SCHEMA:
            raise TraceError(f"{folder / name}: expected a part with columns, got one with parts", hint=ANEW)
        parts.append(open_plain(folder / name, manifest, verify=verify))
    try:
        return join_campaigns(parts)
    except TraceError as error:
        raise TraceError(f"{folder}: {error.message}", hint=error.hint) from error


def _take_over(source: Path, place: Path) -> list[bool]:
    """Put the files of a campaign directory into another one; return of each whether it was linked."""
    # The manifest last, as it is written.
    names = [name for name in sorted(OUR_FILES - {MANIFEST}) if os.path.lexists(source / name)]
    return [_link_or_copy(source / name, place / name) for name in (*names, MANIFEST)]


def _link_or_copy(source: Path, target: Path) -> bool:
    try:
        # What a symbolic link points to, so that none is made.
        os.link(os.path.realpath(source), target)
        return True
    except FileNotFoundError:
        raise
    except OSError:
        with open_regular(source) as stream:
            write_atomically(target, lambda into: shutil.copyfileobj(stream, into, 1 << 20))
        return False

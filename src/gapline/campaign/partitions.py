"""Campaign directories with parts: each `part-0000/` is a campaign directory, and `manifest.json` lists their seals.

Such a directory opens as one campaign, without copying columns. Its seal covers the seals of the parts, and these cover
the digests of their files; all of them are verified.
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
    """A campaign to write as a part, and the directory whose files can be linked if the campaign is unchanged."""

    campaign: Campaign
    folder: Path | None = None


class PartsWritten(NamedTuple):
    """The directory of a campaign with parts, its digest, and how many files were linked and copied."""

    directory: Path
    digest: str
    linked: int
    copied: int


def save_parts(parts: Sequence[Part], directory: Path, *, overwrite: bool = False) -> PartsWritten:
    """Write a campaign directory with parts, atomically.

    Files of existing campaign directories are hard-linked, or copied in a stream if they are on another file system or
    it has no hard links; other campaigns are written.
    """
    # Refuse duplicate runs and conflicting facts before anything is written.
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
                # The opened campaign may have been replaced meanwhile.
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
    """Open a directory with parts; an error in a part names the part."""
    if verify:
        check_seal(folder, manifest)
    stated = manifest_parts(folder, manifest)
    if verify:
        _verify_parts(folder, stated)
    return _join(folder, stated, verify=verify)


def strays_in_parts(folder: Path, manifest: dict[str, Any]) -> list[str]:
    """Return files that have the name of a campaign file but are not listed, in the directory and in its parts."""
    stated = manifest_parts(folder, manifest)
    parts = [folder / name for name in stated if (folder / name).is_dir()]
    return [*_strays(folder, stated), *(f"{part.name}/{name}" for part in parts for name in _strays_of_part(part))]


def _verify_parts(folder: Path, stated: Mapping[str, Any]) -> None:
    """Compare the seal of each part with the one in the manifest, before any part is read."""
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
            # Some desktops and network file systems create hidden files.
            strays = [stray for stray in _strays_of_part(place) if not stray.startswith(".")]
            differing += [f"{name}/{stray}: expected no such file, as its {MANIFEST} lists none" for stray in strays]
    differing += [f"{name}: expected no such file, as {MANIFEST} lists none" for name in _strays(folder, stated)]
    if differing:
        raise IntegrityError(f"{folder}: " + "; ".join(differing), hint=CHANGED)


def _strays(folder: Path, stated: Iterable[str]) -> list[str]:
    known = {MANIFEST, *stated}
    return sorted(path.name for path in folder.iterdir() if path.name in OURS and path.name not in known)


def _strays_of_part(place: Path) -> list[str]:
    """Return the files in a part that its manifest does not list; a part may hold no other files."""
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
    """Link or copy the files of a campaign directory into another one; return for each whether it was linked."""
    # The manifest comes last, as when a campaign is written.
    names = [name for name in sorted(OUR_FILES - {MANIFEST}) if os.path.lexists(source / name)]
    return [_link_or_copy(source / name, place / name) for name in (*names, MANIFEST)]


def _link_or_copy(source: Path, target: Path) -> bool:
    try:
        # Link the target of a symbolic link, not the symbolic link itself.
        os.link(os.path.realpath(source), target)
        return True
    except FileNotFoundError:
        raise
    except OSError:
        with open_regular(source) as stream:
            write_atomically(target, lambda into: shutil.copyfileobj(stream, into, 1 << 20))
        return False

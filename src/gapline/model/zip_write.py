"""Zip files that depend on their content alone: sorted names, one date, one mode."""

import shutil
import zipfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gapline.model.regular import open_regular
from gapline.model.writing import write_atomically

# The first date that a zip can state.
_STAMP = (1980, 1, 1, 0, 0, 0)
_MODE = 0o100644
_UNIX = 3


def write_zip(path: Path, files: Mapping[str, Path | bytes]) -> None:
    """Write files under their names into a zip, as a whole or not at all.

    The same files give the same bytes, on whatever day and in whatever order; another version of zlib may pack them
    otherwise.
    """
    write_atomically(path, partial(_fill, files=files))


def folder_files(folder: Path, under: str = "") -> dict[str, Path | bytes]:
    """Return the files of a folder by their names in a zip, in the folder `under` of it."""
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    return {f"{under}{file.relative_to(folder).as_posix()}": file for file in found}


def _fill(stream: Any, *, files: Mapping[str, Path | bytes]) -> None:
    # A stream without a way back: sizes and checksums then stand behind each member.
    with zipfile.ZipFile(stream, "w") as archive:
        for name in sorted(files):
            member = zipfile.ZipInfo(name, _STAMP)
            member.compress_type = zipfile.ZIP_DEFLATED
            # What `zipfile` would take from the system that it runs on.
            member.create_system, member.external_attr = _UNIX, _MODE << 16
            content = files[name]
            if isinstance(content, bytes):
                archive.writestr(member, content)
                continue
            with open_regular(content) as source, archive.open(member, "w", force_zip64=True) as target:
                shutil.copyfileobj(source, target, 1 << 20)

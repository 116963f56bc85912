"""Zip files that depend on their content alone: sorted names, one date, one of two modes, one level of packing."""

import io
import shutil
import zipfile
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from gapline.model.regular import open_regular
from gapline.model.writing import write_atomically

# The first date that a zip can state.
_STAMP = (1980, 1, 1, 0, 0, 0)
_MODE, _EXECUTABLE = 0o100644, 0o100755
_UNIX = 3
# What zlib does where nobody asks for a level, said so that no library decides it.
_LEVEL = 6
# From here on sizes need the long form, which some readers of small files do not know.
_LARGE = 1 << 31


def write_zip(
    path: Path,
    files: Mapping[str, Path | bytes],
    *,
    executable: Collection[str] = (),
    stored: bool = False,
    tell: Callable[[int, int], object] = lambda *_: None,
) -> None:
    """Write files under their names into a zip, as a whole or not at all.

    The same files give the same bytes, on whatever day and in whatever order; another version of zlib may pack them
    otherwise, unless they are `stored` as they are. `tell` is told how many are in it, of how many.
    """
    write_atomically(path, partial(_fill, files=files, executable=executable, stored=stored, tell=tell))


def folder_files(folder: Path, under: str = "") -> dict[str, Path | bytes]:
    """Return the files of a folder by their names in a zip, in the folder `under` of it."""
    found = sorted(file for file in folder.rglob("*") if file.is_file())
    return {f"{under}{file.relative_to(folder).as_posix()}": file for file in found}


def _fill(
    stream: Any,
    *,
    files: Mapping[str, Path | bytes],
    executable: Collection[str],
    stored: bool,
    tell: Callable[[int, int], object],
) -> None:
    # A stream without a way back: sizes and checksums then stand behind each member.
    with zipfile.ZipFile(stream, "w") as archive:
        for number, name in enumerate(sorted(files)):
            tell(number, len(files))
            member = zipfile.ZipInfo(name, _STAMP)
            member.compress_type = zipfile.ZIP_STORED if stored else zipfile.ZIP_DEFLATED
            member._compresslevel = None if stored else _LEVEL  # type: ignore[attr-defined]  # public since 3.13
            # What `zipfile` would take from the system that it runs on.
            mode = _EXECUTABLE if name in executable else _MODE
            member.create_system, member.external_attr = _UNIX, mode << 16
            content = files[name]
            with io.BytesIO(content) if isinstance(content, bytes) else open_regular(content) as source:
                size = source.seek(0, io.SEEK_END)
                source.seek(0)
                with archive.open(member, "w", force_zip64=size >= _LARGE) as target:
                    shutil.copyfileobj(source, target, 1 << 20)
        tell(len(files), len(files))

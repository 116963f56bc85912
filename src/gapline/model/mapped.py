"""Files that columns are mapped from, remembered as they were: one that is cut under us would end the process."""

import os
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from gapline.errors import IntegrityError
from gapline.model.regular import reason_of


class MappedFile(NamedTuple):
    """A file, and how one tells that it is still the same; links to it do not count."""

    path: Path
    device: int
    inode: int
    size: int
    modified: int

    @classmethod
    def of(cls, path: Path, found: os.stat_result) -> "MappedFile":
        """Remember a file as its status says it is."""
        return cls(path, found.st_dev, found.st_ino, found.st_size, found.st_mtime_ns)


def check_mapped(parts: Iterable[Iterable[MappedFile]]) -> None:
    """Look at every file again; the first that is gone, was cut or was changed is an `IntegrityError`."""
    for file in (file for part in parts for file in part):
        try:
            found = MappedFile.of(file.path, file.path.stat())
        except OSError as error:
            raise _changed(f"{file.path}: expected the file that was opened, got {reason_of(error)}") from None
        if found.size != file.size:
            raise _changed(f"{file.path}: expected {file.size:,} bytes, as when it was opened, got {found.size:,}")
        if found != file:
            raise _changed(f"{file.path}: expected the file that was opened, got one that was written since")


def _changed(message: str) -> IntegrityError:
    return IntegrityError(message, hint="somebody writes to the campaign while it is read; run the command again")

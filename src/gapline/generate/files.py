"""Files that a study is laid out from: those of a folder here, or those of a store at one version."""

import os
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import Protocol

from gapline.errors import UsageError, found_at
from gapline.model.limits import most_bytes, read_regular
from gapline.model.problem import pointed_digest

# No large-file pointer is longer.
_POINTER_BYTES = 1024


class Files(Protocol):
    """A tree of files, named by paths from its top; instances are looked for under `root`, sidecars anywhere."""

    @property
    def root(self) -> str:
        """The folder that is meant, empty for all of the tree."""

    @property
    def paths(self) -> Collection[str]:
        """The path of every file."""

    def read(self, paths: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each file, None where they cannot be had."""

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the number of bytes of each file, None where they cannot be had."""


class FolderFiles:
    """The files in a folder and in the folders below, hidden ones left out."""

    root = ""

    def __init__(self, folder: Path) -> None:
        if not folder.is_dir():
            raise UsageError(f"{folder}: expected a folder of instances, got {found_at(folder)}")
        self.folder = folder
        self.paths: Collection[str] = dict.fromkeys(self._walk())

    def _walk(self) -> Iterator[str]:
        for place, folders, names in os.walk(self.folder):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if not name.startswith("."):
                    yield (Path(place) / name).relative_to(self.folder).as_posix()

    def read(self, paths: Sequence[str]) -> Iterator[bytes | None]:
        """Yield the bytes of each file."""
        for path in paths:
            file = self.folder / path
            yield read_regular(file, most=most_bytes()) if file.is_file() else None

    def sizes(self, paths: Sequence[str]) -> Iterator[int | None]:
        """Yield the number of bytes of each file."""
        for path in paths:
            file = self.folder / path
            yield file.stat().st_size if file.is_file() else None


def lacking(files: Files, paths: Sequence[str]) -> set[str]:
    """Return the files whose content is not there: absent from the tree or the clone, or pointers to large files."""
    there = [path for path in paths if path in files.paths]
    sizes = dict(zip(there, files.sizes(there), strict=True))
    small = [path for path, size in sizes.items() if size is not None and size <= _POINTER_BYTES]
    pointers = {
        path for path, data in zip(small, files.read(small), strict=True) if data is not None and pointed_digest(data)
    }
    return {path for path in paths if sizes.get(path) is None or path in pointers}

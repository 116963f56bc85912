"""A new study is there as a whole or not at all: written aside, and put in place when all of it is written."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from gapline.contract.layout import CONTRACT_FILE, INSTANCES
from gapline.errors import UsageError
from gapline.files.atomic_write import SUFFIX, naming


@contextmanager
def new_study(directory: Path) -> Iterator[Path]:
    """Give a folder to write a study into; what is in it is moved to the directory when all of it is written.

    Files that the directory has already stay; one of the same name is an error, and then nothing has changed.
    """
    refuse_study(directory)
    made = _make(directory)
    # Inside the directory, and not beside it: a shell that stands there keeps standing there.
    with naming(directory):
        scratch = Path(tempfile.mkdtemp(dir=directory, prefix=".study.", suffix=SUFFIX))
    try:
        yield scratch
        _put_in_place(scratch, directory)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        for folder in made:
            # Of folders that we made, those that nothing came into.
            with suppress(OSError):
                folder.rmdir()


def refuse_study(directory: Path) -> None:
    """Refuse a directory that holds a contract already."""
    if (directory / CONTRACT_FILE).exists():
        raise UsageError(
            f"{directory}: expected a directory without {CONTRACT_FILE}, got one with it",
            hint=f"`gapline run {directory}` runs that study; name another directory for a new one",
        )


def _make(directory: Path) -> list[Path]:
    """Make a directory and return what had to be made, innermost first."""
    absent = [place for place in (directory, *directory.parents) if not place.exists()]
    with naming(directory):
        directory.mkdir(parents=True, exist_ok=True)
    return absent


def _put_in_place(scratch: Path, directory: Path) -> None:
    # The contract comes last: where it stands, everything that it names is there.
    entries = sorted(scratch.iterdir(), key=lambda entry: entry.name == CONTRACT_FILE)
    there = [entry.name for entry in entries if os.path.lexists(directory / entry.name)]
    if there:
        raise UsageError(
            f"{directory}: expected a directory without {', '.join(there)}, got one with "
            + ("it" if len(there) == 1 else "them"),
            hint=f"--instances {directory / INSTANCES} makes a study of what is there"
            if there == [INSTANCES]
            else "name a new directory, or move these away",
        )
    moved = []
    try:
        for entry in entries:
            entry.rename(directory / entry.name)
            moved.append(entry)
    except BaseException:
        for entry in reversed(moved):
            (directory / entry.name).rename(entry)
        raise

"""Find files in a journal that gapline did not write: copies, backups, files of desktops and network file systems.

They are not read and do not stop a study, but they are reported because their owner may think that they count.
"""

import os
import re
from collections.abc import Iterable
from pathlib import Path

from gapline.contract.layout import BUILT, INDEX, JOURNALS, OPTIONS_FILE, REGISTER
from gapline.errors import listing
from gapline.files.atomic_write import SUFFIX
from gapline.journal.attempts import is_attempt
from gapline.journal.line import EVENTS_FILE, LOG_FILES, ORDER_FILE
from gapline.text import counted

# Scratch files of a killed writer, and the files that a runner keeps next to the cells.
_SCRATCH = re.compile(rf"\.(.+)\.[a-z0-9_]{{8}}(?:{re.escape(SUFFIX)})?")
_NAMES = "|".join(map(re.escape, (REGISTER, OPTIONS_FILE, INDEX, BUILT)))
_OURS = re.compile(rf"{_NAMES}|.+\.lock|runner-.+\.json")
_OURS_IN_CELL = re.compile(r"claim|.+\.lock")
_OURS_IN_ATTEMPT = re.compile("|".join([*map(re.escape, (ORDER_FILE, EVENTS_FILE, *LOG_FILES)), r"verdicts-.+\.jsonl"]))


def find_strays(study: Path) -> list[str]:
    """Return the paths of files that are not gapline's, relative to the study."""
    found: list[str] = []
    for entry in _entries(study / JOURNALS):
        inside = _entries(entry.path) if entry.is_dir() else []
        attempts = [one for one in inside if is_attempt(one.name) and one.is_dir()]
        place = f"{JOURNALS}/{entry.name}"
        if not attempts and not any(one.name == "claim" for one in inside) and not _is(_OURS, entry.name):
            found.append(place)
            continue
        found += [f"{place}/{one.name}" for one in inside if one not in attempts and not _is(_OURS_IN_CELL, one.name)]
        for attempt in attempts:
            others = (one.name for one in _entries(attempt.path) if not _is(_OURS_IN_ATTEMPT, one.name))
            found += [f"{place}/{attempt.name}/{name}" for name in others]
    return found


def stray_note(strays: Iterable[str]) -> str:
    """Return one sentence that reports the files as left out.

    >>> stray_note(["journal/.DS_Store"])
    '1 file or folder in the journal is not of gapline and left out: journal/.DS_Store'
    """
    names = sorted(strays)
    number, verb = (
        (counted(1, "file or folder"), "is") if len(names) == 1 else (f"{len(names):,} files or folders", "are")
    )
    return f"{number} in the journal {verb} not of gapline and left out: {listing(names)}"


def _entries(folder: Path | str) -> "list[os.DirEntry[str]]":
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except (FileNotFoundError, NotADirectoryError):
        return []


def _is(ours: re.Pattern[str], name: str) -> bool:
    # Our scratch files are hidden, and their names contain one of our names.
    scratch = _SCRATCH.fullmatch(name)
    return bool(ours.fullmatch(scratch[1] if scratch else name))

"""What lies in a journal and is not ours: copies, backups, files of desktops and network file systems.

Nothing of it is read, and none of it stops a study; it is named, because whoever put it there may think that it counts.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from gapline.errors import listing
from gapline.journal.attempts import attempts_of
from gapline.journal.line import EVENTS_FILE, ORDER_FILE
from gapline.model.layout import JOURNALS, OPTIONS_FILE, REGISTER
from gapline.model.text import counted
from gapline.model.writing import SUFFIX

# Scratch files that a killed writer left, and what a runner keeps beside the cells.
_SCRATCH = re.compile(rf"\.(.+)\.[a-z0-9_]{{8}}(?:{re.escape(SUFFIX)})?")
_OURS = re.compile(rf"{re.escape(REGISTER)}|{re.escape(OPTIONS_FILE)}|.+\.lock|runner-.+\.json")
_OURS_IN_CELL = re.compile(r"claim|.+\.lock")
_OURS_IN_ATTEMPT = re.compile(rf"{re.escape(ORDER_FILE)}|{re.escape(EVENTS_FILE)}|verdicts-.+\.jsonl|[^.].*\.log")


def find_strays(study: Path) -> list[str]:
    """Return the paths of what is not ours, relative to the study."""
    found: list[Path] = []
    for entry in _entries(study / JOURNALS):
        attempts = attempts_of(entry) if entry.is_dir() else []
        if not attempts and not (entry / "claim").exists() and not _is(_OURS, entry):
            found.append(entry)
        if entry.is_dir() and entry not in found:
            found += [one for one in _entries(entry) if one not in attempts and not _is(_OURS_IN_CELL, one)]
        found += [one for attempt in attempts for one in _entries(attempt) if not _is(_OURS_IN_ATTEMPT, one)]
    return [str(path.relative_to(study)) for path in found]


def stray_note(strays: Iterable[str]) -> str:
    """Say in one sentence that they are left out.

    >>> stray_note(["journal/.DS_Store"])
    '1 file or folder in the journal is not of gapline and left out: journal/.DS_Store'
    """
    names = sorted(strays)
    number, verb = (
        (counted(1, "file or folder"), "is") if len(names) == 1 else (f"{len(names):,} files or folders", "are")
    )
    return f"{number} in the journal {verb} not of gapline and left out: {listing(names)}"


def _entries(folder: Path) -> list[Path]:
    return sorted(folder.iterdir()) if folder.is_dir() else []


def _is(ours: re.Pattern[str], entry: Path) -> bool:
    # A scratch file of ours is hidden and has a name of ours in it.
    scratch = _SCRATCH.fullmatch(entry.name)
    return bool(ours.fullmatch(scratch[1] if scratch else entry.name))

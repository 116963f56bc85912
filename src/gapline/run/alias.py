"""Another way to a study whose path is not UTF-8: journals are JSON, and many solvers open no such path."""

import hashlib
import os
import stat
import tempfile
from pathlib import Path

from gapline.errors import UsageError


def is_utf8(path: Path) -> bool:
    """Say whether a path is text."""
    try:
        str(path).encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def utf8_alias(study: Path, *, on: str | None = None) -> Path:
    """Return a path to the study that is UTF-8: a link in a temporary folder of this machine.

    It is the same each time, since what is run is part of the conditions of a run, and stays for other runners.
    """
    hint = "rename the folder"
    if on is not None and not on.startswith("local"):
        raise UsageError(f"{study}: expected a path in UTF-8 for runs on other machines", hint=hint)
    name = hashlib.sha256(os.fsencode(study)).hexdigest()[:16]
    folder = Path(tempfile.gettempdir()) / f"gapline-{os.getuid()}-{name}"
    if not is_utf8(folder):
        raise UsageError(f"{study}: expected a path in UTF-8, or a temporary folder with one", hint=hint)
    folder.mkdir(mode=0o700, exist_ok=True)
    facts = folder.lstat()
    # In a folder that all can write to, somebody else may have made it first.
    if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.getuid() or facts.st_mode & 0o022:
        raise UsageError(f"{folder}: expected a folder that only its owner can write to", hint="remove it")
    alias = folder / "study"
    if not alias.is_symlink() or alias.readlink() != study:
        fresh = folder / f".{os.getpid()}"
        fresh.symlink_to(study)
        fresh.replace(alias)
    return alias

"""Who works on a cell: an exclusive claim, and attempts that are never overwritten."""

import contextlib
import fcntl
import json
import os
import platform
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gapline.journal.attempts import attempt_number, attempts_of
from gapline.journal.locks import lock_now, open_lock

CLAIM_FILE = "claim"
LOOK_EVERY = 0.05


@contextmanager
def claim(
    cell: Path, *, runner: str | None = None, patience: float = 0.0, stopping: Callable[[], bool] = lambda: False
) -> Iterator[int | None]:
    """Claim a cell; yields the open file that holds the claim, or None when somebody else has it.

    It is a lock that the supervisor inherits: no crash can leave it behind. A lost worker's of `runner` is waited for.
    """
    # The directory first: the lock is on a file in it, and two runners may make it at once.
    cell.mkdir(parents=True, exist_ok=True)
    file = open_lock(cell / CLAIM_FILE)
    try:
        deadline = time.monotonic() + patience
        while not lock_now(file):
            if time.monotonic() >= deadline or stopping() or _claimant(file) != runner:
                yield None
                return
            # Polled: flock has no time-out, and the lock's owner may be on another machine.
            time.sleep(LOOK_EVERY)
        with contextlib.suppress(OSError):
            # For people who look: the lock is what counts.
            os.ftruncate(file, 0)
            os.pwrite(file, json.dumps({"host": platform.node(), "process": os.getpid(), "runner": runner}).encode(), 0)
        yield file
    finally:
        os.close(file)


def _claimant(file: int) -> str | None:
    """Return the runner for which a claim was made, where it says so."""
    try:
        facts = json.loads(os.pread(file, 4096, 0))
    except (OSError, ValueError):
        return None
    return facts.get("runner") if isinstance(facts, dict) else None


def is_claimed(cell: Path) -> bool:
    """Say whether somebody works on the cell at this moment."""
    try:
        file = os.open(cell / CLAIM_FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # Shared: two who look at once must not take each other for a worker.
        return not lock_now(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def new_attempt(cell: Path) -> Path:
    """Create the directory of the next attempt."""
    number = 1 + max(map(attempt_number, attempts_of(cell)), default=0)
    attempt = cell / f"attempt-{number:03d}"
    # Not exist_ok: an attempt is never entered twice, whoever else believes to hold the claim.
    attempt.mkdir()
    return attempt

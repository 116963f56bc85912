"""Exclusive claims on cells, and attempts that are never overwritten."""

import contextlib
import fcntl
import os
import platform
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gapline.files.locks import lock_now, open_lock
from gapline.files.process_start import began
from gapline.journal.attempts import attempt_number, attempts_of
from gapline.journal.claims import CLAIM_FILE, Claimant, read_claimant
from gapline.process import tree

LOOK_EVERY = 0.05


@contextmanager
def claim(
    cell: Path, *, runner: str | None = None, patience: float = 0.0, stopping: Callable[[], bool] = lambda: False
) -> Iterator[int | None]:
    """Claim a cell; yield the open file that holds the claim, or None if another process holds it.

    The claim is a lock that the supervisor inherits, so that no crash can leave it behind. The claim of a lost worker
    of the campaign `runner` is waited for.
    """
    # The lock is on a file in the directory, which two runners may create at once.
    cell.mkdir(parents=True, exist_ok=True)
    file = open_lock(cell / CLAIM_FILE)
    try:
        deadline = time.monotonic() + patience
        while not lock_now(file):
            claimant = read_claimant(cell) or Claimant()
            if time.monotonic() >= deadline or stopping() or claimant.runner != runner:
                yield None
                return
            # Polled: flock has no timeout, and the owner of the lock may be on another machine.
            time.sleep(LOOK_EVERY)
        with contextlib.suppress(OSError):
            # For human readers: only the lock counts.
            os.ftruncate(file, 0)
            me = Claimant(platform.node(), os.getpid(), began(os.getpid()), runner)
            os.pwrite(file, msgspec.json.encode(me), 0)
        yield file
    finally:
        os.close(file)


def is_claimed(cell: Path) -> bool:
    """Whether a process holds the claim on a cell right now."""
    try:
        file = os.open(cell / CLAIM_FILE, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        # A shared lock: two observers must not take each other for a runner.
        return not lock_now(file, fcntl.LOCK_SH)
    finally:
        os.close(file)


def holder(cell: Path) -> str:
    """Describe in a few words who has claimed a cell."""
    claimant = read_claimant(cell) or Claimant()
    who = f"process {claimant.process or '?'} on {claimant.host or 'an unknown host'}"
    if claimant.is_alive is not False:
        return who
    left = [
        f"{pid}{' (stopped)' if tree.process_state(pid) in ('T', 't') else ''}"
        for pid in tree.open_by(cell / CLAIM_FILE)
    ]
    return f"{who}, which is gone, and of which {', '.join(left) or 'a process on another machine'} is left"


def wake_orphans(cell: Path, *, kill: bool) -> None:
    """Continue the stopped processes of a dead local runner, so that they end; with `kill`, kill them all."""
    claimant = read_claimant(cell)
    if claimant is None or claimant.is_alive is not False:
        return
    for pid in tree.open_by(cell / CLAIM_FILE):
        if kill:
            tree.signal_all([*tree.descendants(pid), pid], signal.SIGKILL)
        elif tree.process_state(pid) == "T":
            tree.signal_all([pid], signal.SIGCONT)


def new_attempt(cell: Path) -> Path:
    """Create the directory of the next attempt."""
    number = 1 + max(map(attempt_number, attempts_of(cell)), default=0)
    attempt = cell / f"attempt-{number:03d}"
    # Not exist_ok: no attempt is entered twice, even if another process believes it holds the claim.
    attempt.mkdir()
    return attempt

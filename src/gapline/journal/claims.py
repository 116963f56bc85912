"""Find the cells of a study that a runner works on right now, without touching any of them.

A runner holds a lock on the file `claim` of its cell. Trying that lock would hold it for a moment, during which a
runner would find the cell taken; observers therefore read the kernel's list of locks instead. That list does not
contain runs on other machines: for those, the order of the attempt gives the time by which it must be over.
"""

import contextlib
import os
import platform
import time
from collections.abc import Callable, Collection, Container, Iterator
from pathlib import Path

import msgspec

from gapline.contract.tables import RunKey
from gapline.files.open_file import open_regular, read_regular
from gapline.files.process_start import began
from gapline.journal.attempts import attempts_of
from gapline.journal.line import EVENTS_FILE, ORDER_FILE
from gapline.journal.records import Order, read_order

CLAIM_FILE = "claim"
LOCKS = Path("/proc/locks")
# The kernel returns up to this length in one read; if the list is longer, it is read this many more times before a
# lock counts as absent.
PAGE, AGAIN = 2048, 3
# A file server may show a change a minute late; a runner on another machine may need as long again to clean up.
PATIENCE = 120.0

Inode = tuple[int, int, int]


class Claimant(msgspec.Struct, frozen=True):
    """The last process that claimed a cell, from the claim file; `runner` names a campaign on other machines."""

    host: str = ""
    process: int = 0
    began: int | None = None
    runner: str | None = None

    @property
    def is_local(self) -> bool:
        """Whether it is a process of this machine."""
        return self.host == platform.node()

    @property
    def is_alive(self) -> bool | None:
        """Whether the process still exists; None if unknown on this machine."""
        if not self.is_local or self.began is None:
            return None
        return began(self.process) == self.began


def read_claimant(cell: Path) -> Claimant | None:
    """Return the last claimant of a cell; None if there is no claim or it cannot be read."""
    with contextlib.suppress(OSError, msgspec.MsgspecError):
        return msgspec.json.decode(read_regular(cell / CLAIM_FILE), type=Claimant)
    return None


class Locks:
    """The files of this machine with an exclusive lock, by device and inode, as the kernel lists them.

    The kernel returns the list in pages. If a lock is released between two reads, the locks behind it move up, and one
    of them may be missing from both pages: a lock missing from a long list is looked up again before it counts as free.

    >>> list(Locks("1: FLOCK ADVISORY WRITE 77 fe:00:5231 0 EOF\\n2: POSIX ADVISORY READ 1 00:1f:9 0 EOF"))
    [(254, 0, 5231)]
    """

    def __init__(self, text: str, again: Callable[[], str | None] = lambda: None) -> None:
        self._found = _exclusive(text)
        self._again = again
        self._left = AGAIN if len(text) > PAGE else 0

    def __iter__(self) -> Iterator[Inode]:
        return iter(self._found)

    def __bool__(self) -> bool:
        return bool(self._found)

    def __contains__(self, inode: object) -> bool:
        while inode not in self._found and self._left:
            self._left -= 1
            self._found |= _exclusive(self._again() or "")
        return inode in self._found


def _exclusive(text: str) -> set[Inode]:
    found = set()
    for line in text.splitlines():
        words = line.split()
        # A line with "->" is a process that waits for the lock.
        if len(words) >= 6 and words[1] == "FLOCK" and words[3] == "WRITE":
            with contextlib.suppress(ValueError):
                major, minor, inode = words[5].split(":")
                found.add((int(major, 16), int(minor, 16), int(inode)))
    return found


def locked_inodes() -> Locks | None:
    """Return the exclusive locks of this machine; None if the kernel does not list them."""
    text = _listed()
    return None if text is None else Locks(text, _listed)


def _listed() -> str | None:
    try:
        return LOCKS.read_text(encoding="ascii", errors="replace")
    except OSError:
        return None


def claim_inode(cell: Path) -> Inode | None:
    """Return device and inode of the claim of a cell; None if it was never claimed."""
    try:
        facts = (cell / CLAIM_FILE).stat()
    except OSError:
        return None
    return os.major(facts.st_dev), os.minor(facts.st_dev), facts.st_ino


def is_cell_running(cell: Path, locked: Container[Inode] | None) -> bool:
    """Whether a runner works on a cell, given the locks of this machine; the cell is not touched."""
    inode = claim_inode(cell)
    if inode is None:
        return False
    if locked is not None and inode in locked:
        return True
    claimant = read_claimant(cell)
    if claimant is None:
        return False
    if claimant.is_local:
        # Without a list of locks, the process that made the claim decides.
        return locked is None and claimant.is_alive is True and not _has_ended(cell)
    return not _has_ended(cell) and not _is_overdue(cell)


def running_cells(cells: Collection[Path]) -> frozenset[str]:
    """Return the names of the cells that a runner works on right now."""
    locked = locked_inodes()
    return frozenset(cell.name for cell in cells if is_cell_running(cell, locked))


def claimed_run(cell: Path) -> RunKey | None:
    """Return the run of a cell under way; None if it has no order yet, because the run has not begun."""
    for attempt in reversed(attempts_of(cell)):
        with contextlib.suppress(OSError, ValueError, msgspec.MsgspecError):
            order = read_order(attempt)
            return RunKey(order.arm, order.instance, order.seed)
    return None


def _has_ended(cell: Path) -> bool:
    """Whether the last attempt at a cell has an ending."""
    attempts = attempts_of(cell)
    if not attempts:
        return False
    try:
        with open_regular(attempts[-1] / EVENTS_FILE) as stream:
            stream.seek(max(0, os.fstat(stream.fileno()).st_size - (1 << 16)))
            last = stream.read().rstrip(b"\n").rpartition(b"\n")[2]
    except OSError:
        return False
    return b'"end":{"cause":' in last


def _is_overdue(cell: Path) -> bool:
    """Whether the last attempt at a cell should have ended by now, even if the file system shows changes late."""
    attempts = attempts_of(cell)
    try:
        since = (attempts[-1] / ORDER_FILE if attempts else cell / CLAIM_FILE).stat().st_mtime
        order = read_order(attempts[-1]) if attempts else None
    except (OSError, ValueError, msgspec.MsgspecError):
        return True
    return time.time() > since + due_after(order)


def due_after(order: Order | None) -> float:
    """Return how many seconds after its order was written an attempt may still show no ending."""
    return PATIENCE if order is None else order.horizon + order.grace + order.kill_after + PATIENCE

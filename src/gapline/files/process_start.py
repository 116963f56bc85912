"""Start time of a process: with its pid, it identifies a process on a machine. Uses only the standard library."""

import os
from pathlib import Path

PROCESSES = Path("/proc")


def began(pid: int) -> int | None:
    """Return the start time of a process in clock ticks since boot; None if no process has this pid."""
    try:
        return int(_facts(pid)[19])
    except (OSError, IndexError, ValueError):
        return None


def is_running(pid: int, started: int) -> bool | None:
    """Say whether the process with this pid and start time is still running; None if that cannot be determined."""
    try:
        facts = _facts(pid)
        # A zombie is listed until its parent waits for it, but has ended.
        return int(facts[19]) == started and facts[0] not in (b"Z", b"X", b"x")
    except (OSError, IndexError, ValueError):
        return None if _is_hidden(pid) else False


def _facts(pid: int) -> list[bytes]:
    # Split after the last bracket: the name of a program may contain brackets and spaces.
    return (PROCESSES / str(pid) / "stat").read_bytes().rpartition(b") ")[2].split()


def _is_hidden(pid: int) -> bool:
    """Say whether a process exists that /proc does not show: those of other users may be hidden."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True

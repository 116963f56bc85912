"""When a process began: with its number, the name of one process of a machine. Only the standard library is used."""

import os
from pathlib import Path

PROCESSES = Path("/proc")


def began(pid: int) -> int | None:
    """Return when a process was started, in ticks since the machine was; None where there is none of this number."""
    try:
        return int(_facts(pid)[19])
    except (OSError, IndexError, ValueError):
        return None


def is_running(pid: int, started: int) -> bool | None:
    """Say whether the process that was started then is there and has not ended; None where that cannot be seen."""
    try:
        facts = _facts(pid)
        # One that has ended stays in the list until its parent asks.
        return int(facts[19]) == started and facts[0] not in (b"Z", b"X", b"x")
    except (OSError, IndexError, ValueError):
        return None if _is_hidden(pid) else False


def _facts(pid: int) -> list[bytes]:
    # Behind the last bracket: a program's name may hold brackets and spaces itself.
    return (PROCESSES / str(pid) / "stat").read_bytes().rpartition(b") ")[2].split()


def _is_hidden(pid: int) -> bool:
    """Say whether a process is there that the system does not show: those of other users may be hidden."""
    try:
        os.kill(pid, 0)
    except PermissionError:
        return True
    except (OSError, OverflowError):
        return False
    return True

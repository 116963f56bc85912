"""When a process began: with its number, the name of one process of a machine. Only the standard library is used."""

from pathlib import Path


def began(pid: int) -> int | None:
    """Return when a process was started, in ticks since the machine was; None where there is none of this number."""
    try:
        # Behind the last bracket: a program's name may hold brackets and spaces itself.
        return int(Path(f"/proc/{pid}/stat").read_bytes().rpartition(b") ")[2].split()[19])
    except (OSError, IndexError, ValueError):
        return None

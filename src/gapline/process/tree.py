"""The processes of a run: all descendants of its supervisor, however often they forked."""

import contextlib
import ctypes
import os
import signal
import time
from collections.abc import Collection
from functools import cache
from pathlib import Path

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_libc = ctypes.CDLL(None, use_errno=True)
_PAGE = os.sysconf("SC_PAGE_SIZE")
_PROC = Path("/proc")


def become_subreaper() -> None:
    """Adopt orphans among our descendants, so that none can leave the tree."""
    if _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0:
        error = ctypes.get_errno()
        raise OSError(error, f"prctl(PR_SET_CHILD_SUBREAPER): {os.strerror(error)}")


def die_with_parent() -> None:
    """Ask the kernel to kill this process when its parent dies: the second line of defence after the subreaper."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)


def _process_names() -> list[str]:
    return [path.name for path in _PROC.iterdir() if path.name.isdigit()]


def family(ancestor: int) -> list[int]:
    """Return the living descendants of a process by walking its own branches only, independent of other processes.

    For samples: while processes come and go, the kernel may skip one, which the next sample finds. To miss none, use
    `descendants`, which is also the fallback if the kernel does not list children.
    """
    if not _lists_children():
        return descendants(ancestor)
    found: list[int] = []
    frontier = [ancestor]
    while frontier:
        below = _children(frontier.pop())
        frontier += below
        found += below
    # A zombie is a link of the tree, but has neither memory nor cores.
    return [pid for pid in found if process_state(pid) not in ("Z", "")]


@cache
def _lists_children() -> bool:
    return Path("/proc/thread-self/children").is_file()


def _children(pid: int) -> list[int]:
    """Return the children of a process, of all its threads."""
    found: list[int] = []
    with contextlib.suppress(OSError):
        for thread in (_PROC / str(pid) / "task").iterdir():
            with contextlib.suppress(OSError):
                found += map(int, (thread / "children").read_bytes().split())
    return found


def descendants(ancestor: int, *, without: Collection[int] = ()) -> list[int]:
    """Return the living descendants of a process, excluding zombies and the subtrees of the processes in `without`.

    Reads all processes of the machine, because no other way misses none.
    """
    children: dict[int, list[int]] = {}
    for entry in _process_names():
        with contextlib.suppress(OSError):
            # After the last bracket: the name of a program may contain brackets and spaces.
            fields = (_PROC / entry / "stat").read_bytes().rpartition(b") ")[2].split()
            # A zombie stays in the table as a link: its children are below it until another process adopts them.
            children.setdefault(int(fields[1]), []).append(int(entry) if fields[0] != b"Z" else -int(entry))
    found: list[int] = []
    frontier = [ancestor]
    while frontier:
        below = [pid for pid in children.get(frontier.pop(), []) if abs(pid) not in without]
        frontier += [abs(pid) for pid in below]
        found += [pid for pid in below if pid > 0]
    return found


def process_state(pid: int) -> str:
    """Return the state of a process in the kernel's notation ("R", "S", "T" stopped, "Z" …); "" if it is gone."""
    try:
        return (_PROC / str(pid) / "stat").read_bytes().rpartition(b") ")[2][:1].decode()
    except OSError:
        return ""


def open_by(path: Path) -> list[int]:
    """Return our other processes on this machine that have a file open."""
    wanted, found = str(path.resolve()), []
    for name in _process_names():
        # Processes of other users cannot be read.
        with contextlib.suppress(OSError):
            if any(_target(file) == wanted for file in (_PROC / name / "fd").iterdir()):
                found.append(int(name))
    return [pid for pid in found if pid != os.getpid()]


def _target(file: Path) -> str:
    try:
        return str(file.readlink())
    except OSError:
        return ""


def signal_all(pids: list[int], number: signal.Signals) -> None:
    """Send a signal to each process that still exists."""
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)


def reap() -> dict[int, int]:
    """Reap dead children; return their wait status by process id."""
    found: dict[int, int] = {}
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            found[pid] = status
    return found


def clear_tree(*, patience: float = 10.0, without: Collection[int] = ()) -> tuple[int, dict[int, int]]:
    """Kill our descendants; return how many survive `patience` seconds (must be none), and the status of the dead."""
    me = os.getpid()
    deadline = time.monotonic() + patience
    pause = 0.0005
    dead = reap()
    while alive := descendants(me, without=without):
        if time.monotonic() > deadline:
            return len(alive), dead
        # Stopped first: otherwise a process that forks faster than we walk could outrun the walk.
        signal_all(alive, signal.SIGSTOP)
        # Walked again, to also kill processes forked between the walk and the stop.
        signal_all(descendants(me, without=without), signal.SIGKILL)
        time.sleep(pause)
        pause = min(0.05, pause * 2)
        dead |= reap()
    return 0, dead | reap()


def resident_memory(pids: list[int]) -> int:
    """Return the sum of resident bytes; shared pages are counted once per process."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            total += int((_PROC / str(pid) / "statm").read_bytes().split()[1]) * _PAGE
    return total


def proportional_memory(pids: list[int]) -> int:
    """Return the sum of resident bytes with shared pages counted once; slower than `resident_memory`."""
    total = 0
    for pid in pids:
        try:
            rollup = (_PROC / str(pid) / "smaps_rollup").read_bytes()
            total += 1024 * sum(int(line.split()[1]) for line in rollup.splitlines() if line.startswith(b"Pss:"))
        except (OSError, IndexError, ValueError):
            total += resident_memory([pid])
    return total


def shared_memory() -> int:
    """Return the bytes of files on tmpfs, memfds and other shared memory on the whole machine."""
    with contextlib.suppress(OSError, IndexError, ValueError):
        for line in (_PROC / "meminfo").read_bytes().splitlines():
            if line.startswith(b"Shmem:"):
                return int(line.split()[1]) * 1024
    return 0


def mapped_shared_memory(pids: list[int]) -> int:
    """Return the bytes of shared memory that processes have mapped, which count as theirs already."""
    total = 0
    for pid in pids:
        with contextlib.suppress(OSError, IndexError, ValueError):
            for line in (_PROC / str(pid) / "status").read_bytes().splitlines():
                if line.startswith(b"RssShmem:"):
                    total += int(line.split()[1]) * 1024
    return total


def restore_cores(pids: list[int], cpus: Collection[int]) -> int:
    """Confine every thread to its cores again; return how many had left them."""
    allowed, found = set(cpus), 0
    for pid in pids:
        with contextlib.suppress(OSError):
            for thread in (_PROC / str(pid) / "task").iterdir():
                with contextlib.suppress(OSError):
                    if not os.sched_getaffinity(int(thread.name)) <= allowed:
                        found += 1
                        os.sched_setaffinity(int(thread.name), allowed)
    return found


def strays(variable: str, value: str) -> list[int]:
    """Return the processes with this environment variable at this value: those of a run with a dead supervisor."""
    entry = f"{variable}={value}".encode()
    found = []
    for name in _process_names():
        with contextlib.suppress(OSError):
            if entry in (_PROC / name / "environ").read_bytes().split(b"\0"):
                found.append(int(name))
    return [pid for pid in found if pid != os.getpid()]

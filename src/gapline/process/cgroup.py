"""A control group for each run, on machines with cgroup v2 and delegation: the kernel then enforces the limits.

Every process of a run is in its group, whatever its parent, session or environment, and is ended with it. If the
controllers are delegated too, the kernel enforces cores (`cpuset`), memory (`memory`, including files on tmpfs) and the
number of processes (`pids`). Without such a group, the supervisor samples ten times a second instead.

The group of a run is a child of the runner's group. It can have controllers if the runner's group is delegated and
holds only our processes, as in `systemd-run --user --scope -p Delegate=yes gapline run …`: those processes then move
into a leaf group, because the kernel allows no processes next to groups with controllers.
"""

import contextlib
import hashlib
import os
import signal
import time
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from gapline.process import tree

VARIABLE = "GAPLINE_CGROUP"
LEAF = "gapline-runner"
# Threads count as processes: far more than a solver needs, and far fewer than would stop a machine.
MOST_PROCESSES = 4096
CONTROLLERS = ("cpuset", "memory", "pids")
# The limit that each controller keeps, as named in reports.
KEEPS = {"cpuset": "cores", "memory": "memory", "pids": "number of processes"}


@dataclass(frozen=True, slots=True)
class Base:
    """The parent group of the groups of runs, and the controllers available in them."""

    path: Path
    controllers: frozenset[str]


def group_base(*, proc: Path = Path("/proc/self")) -> Base | None:
    """Find a group in which we may create others; None without cgroup v2 or without permission."""
    named = os.environ.get(VARIABLE)
    if named == "off":
        return None
    path = Path(named) if named else _own_group(proc)
    if path is None:
        return None
    # Further supervisors, and a nursery started after one was killed, are in the leaf already.
    path = path.parent if path.name == LEAF else path
    if not (
        (path / "cgroup.procs").is_file() and os.access(path, os.W_OK) and os.access(path / "cgroup.procs", os.W_OK)
    ):
        return None
    return Base(path, frozenset(_enable(path)))


@lru_cache(maxsize=1)
def _known_base(_variable: str | None) -> Base | None:
    return group_base()


def known_base() -> Base | None:
    """Return the base, looked up once: children of the nursery inherit the result."""
    return _known_base(os.environ.get(VARIABLE))


def _own_group(proc: Path) -> Path | None:
    try:
        mounts = (proc / "mountinfo").read_text(encoding="utf-8", errors="surrogateescape").splitlines()
        inside = next(
            line[3:] for line in (proc / "cgroup").read_text(encoding="utf-8").splitlines() if line.startswith("0::")
        )
    except (OSError, StopIteration):
        return None
    for line in mounts:
        place, _, system = line.partition(" - ")
        if system.startswith("cgroup2 "):
            _, _, _, root, point, *_ = place.split()
            # In a container, the mount may show only a part of the tree.
            return Path(point) / os.path.relpath(inside, root) if inside.startswith(root) else None
    return None


def _enable(path: Path) -> list[str]:
    """Enable the controllers for the groups in `path` as far as permitted; return those that are enabled."""

    def handed_on() -> set[str]:
        return set(_read(path / "cgroup.subtree_control").split())

    offered = set(_read(path / "cgroup.controllers").split())
    wanted = [name for name in CONTROLLERS if name in offered]
    if not set(wanted) <= handed_on():
        # The root group of the machine may have processes next to groups; it has no type.
        if (path / "cgroup.type").exists() and not _move_to_leaf(path):
            wanted = []
        for name in wanted:
            _write(path / "cgroup.subtree_control", f"+{name}")
    return [name for name in CONTROLLERS if name in handed_on()]


def _move_to_leaf(path: Path) -> bool:
    """Move the processes of a group into a leaf of it, if all of them belong to our family."""
    present = _pids(path)
    if not present <= _family(os.getpid()):
        return False
    leaf = path / LEAF
    with contextlib.suppress(OSError):
        leaf.mkdir(exist_ok=True)
    return all(_write(leaf / "cgroup.procs", str(pid)) for pid in present)


def _family(pid: int) -> set[int]:
    """Return a process, its ancestors, and all descendants of the runner that started it."""
    parents = [pid]
    while parents[-1] > 1:
        try:
            stat = Path(f"/proc/{parents[-1]}/stat").read_bytes()
        except OSError:
            break
        parents.append(int(stat.rpartition(b") ")[2].split()[1]))
    runner = parents[1] if len(parents) > 1 else pid
    return {*parents, *tree.descendants(runner)}


@dataclass(frozen=True, slots=True)
class Group:
    """The group of one run; `kept` names the limits that the kernel keeps."""

    path: Path
    kept: tuple[str, ...]

    def join(self) -> None:
        """Put the calling process into the group; called in the child, between fork and exec."""
        _write(self.path / "cgroup.procs", "0")

    def has(self, pid: int) -> bool:
        """Whether a process, which may be dead and not yet reaped, is in the group."""
        return _read(Path(f"/proc/{pid}/cgroup")).rpartition("0::")[2].endswith(f"/{self.path.name}")

    def processes(self) -> list[int]:
        """Return the processes in the group and in the groups below it, without zombies."""
        found = {pid for procs in self.path.rglob("cgroup.procs") for pid in _pids(procs.parent)}
        return [pid for pid in sorted(found | _pids(self.path)) if tree.process_state(pid) not in ("", "Z")]

    def end(self, *, patience: float = 10.0, reap: bool = False) -> int:
        """Kill all processes in the group; return how many are left (must be none).

        `reap` reaps all dead children of the calling process: use it only if the caller has no other children.
        """
        deadline = time.monotonic() + patience
        pause = 0.0005
        while alive := self.processes():
            if time.monotonic() > deadline:
                return len(alive)
            # In one step, groups below included; kernels before 5.14 need a signal for each process.
            if not _write(self.path / "cgroup.kill", "1"):
                tree.signal_all(alive, signal.SIGKILL)
            if reap:
                tree.reap()
            time.sleep(pause)
            pause = min(0.05, pause * 2)
        return 0

    def remove(self) -> None:
        """Remove the group and those below it if they are empty."""
        for folder in sorted((path.parent for path in self.path.rglob("cgroup.procs")), reverse=True):
            _remove(folder)
        _remove(self.path)

    def peak_memory(self) -> int | None:
        """Return the peak memory of all processes together, in bytes; None if the kernel does not report it."""
        text = _read(self.path / "memory.peak")
        return int(text) if text.isdigit() else None

    def ran_out_of_memory(self) -> bool:
        """Whether the kernel ended the run at its memory limit."""
        events = dict(line.split() for line in _read(self.path / "memory.events").splitlines())
        return int(events.get("oom_kill", 0)) > 0 or int(events.get("oom_group_kill", 0)) > 0


def make_group(name: str, *, cpus: Iterable[int] = (), memory: int | None = None) -> Group | None:
    """Create the group of a run with cores and MB of memory; None if that is not possible."""
    base = known_base()
    if base is None:
        return None
    path = base.path / name
    try:
        path.mkdir(exist_ok=True)
    except OSError:
        return None
    kept = ["processes"]
    cores = set(cpus)
    if "cpuset" in base.controllers and cores:
        _write(path / "cpuset.cpus", ",".join(map(str, sorted(cores))))
        # Cores that the parent group does not have are accepted silently, but not granted.
        if cpu_list(_read(path / "cpuset.cpus.effective")) == cores:
            kept.append(KEEPS["cpuset"])
    if "memory" in base.controllers and memory is not None and _write(path / "memory.max", str(memory * 1_000_000)):
        # Without swap, which would extend the limit; and the whole run ends at once, so that no half of it goes on.
        _write(path / "memory.swap.max", "0")
        _write(path / "memory.oom.group", "1")
        kept.append(KEEPS["memory"])
    if "pids" in base.controllers and _write(path / "pids.max", str(MOST_PROCESSES)):
        kept.append(KEEPS["pids"])
    return Group(path, tuple(kept))


def cpu_list(text: str) -> set[int]:
    """Parse a list of processors in the kernel's format.

    >>> sorted(cpu_list("0-2,5"))
    [0, 1, 2, 5]
    """
    parts = [part.partition("-") for part in text.split(",") if part.strip()]
    return {cpu for first, _, last in parts for cpu in range(int(first), int(last or first) + 1)}


def group_name(attempt: str | Path) -> str:
    """Return the group name of an attempt: it follows from the path, so that its processes can be found later."""
    return f"gapline-{hashlib.sha256(os.fsencode(attempt)).hexdigest()[:16]}"


def end_group(attempt: str | Path) -> int:
    """End the processes in the group of an attempt whose supervisor is dead; return how many there were."""
    base = known_base()
    if base is None or not (base.path / group_name(attempt)).is_dir():
        return 0
    group = Group(base.path / group_name(attempt), ())
    found = len(group.processes())
    group.end()
    group.remove()
    return found


def sweep_groups(*, older_than: float = 3600.0) -> None:
    """Remove empty groups of runs that were killed with nursery and runner; the kernel keeps groups in use."""
    base = known_base()
    for path in () if base is None else base.path.glob("gapline-*"):
        with contextlib.suppress(OSError):
            # Not a recent one: its solver may be about to join.
            if path.name != LEAF and time.time() - path.stat().st_mtime > older_than:
                path.rmdir()


def _pids(group: Path) -> set[int]:
    return {int(line) for line in _read(group / "cgroup.procs").split()}


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _write(path: Path, text: str) -> bool:
    """Write to a file of the kernel without creating it; False if the kernel refuses."""
    try:
        file = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        os.write(file, text.encode("ascii"))
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def _remove(folder: Path) -> None:
    # A zombie that is not yet reaped holds its group for a moment.
    for _ in range(50):
        try:
            folder.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.002)
        else:
            return

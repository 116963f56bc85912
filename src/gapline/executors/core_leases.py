"""Core leases: a core of a machine belongs to one run at a time, across all runners and studies."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gapline.errors import EnvironmentLacksError, UsageError, listing
from gapline.files.locks import lock_now, locked, open_lock
from gapline.process.machine import CPUS, first_line
from gapline.process.tree import descendants, open_by

Slot = tuple[int, ...]


def cores(allowed: set[int] | None = None) -> list[int]:
    """Return one logical processor per physical core that we may use: two runs on one core slow each other down."""
    mine = sorted(os.sched_getaffinity(0) if allowed is None else allowed)
    seen: set[str] = set()
    chosen = []
    for cpu in mine:
        siblings = physical_core(cpu)
        if siblings not in seen:
            seen.add(siblings)
            chosen.append(cpu)
    return chosen


def physical_core(cpu: int) -> str:
    """Return a name for the physical core of a logical processor: the list of processors that share it."""
    return first_line(CPUS / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu)


def make_slots(available: list[int], *, width: int, count: int | None = None) -> list[Slot]:
    """Divide the cores into slots of `width` cores each.

    >>> make_slots([0, 1, 2, 3, 4], width=2)
    [(0, 1), (2, 3)]
    """
    most = len(available) // width
    if most == 0:
        raise UsageError(
            f"time.threads: expected at most {len(available)}, the cores of this machine, got {width}",
            hint="lower threads in the contract, or run on a larger machine",
        )
    if count is not None and not 1 <= count <= most:
        raise UsageError(
            f"--jobs: expected 1 to {most} ({len(available)} cores, {width} per run), got {count}",
            hint="more runs than cores would share a core, and their times would mean nothing",
        )
    return [tuple(available[k * width : (k + 1) * width]) for k in range(count or most)]


LOOK_EVERY = 0.02
# Short-lived runners take cores for moments; only a longer wait is reported.
TELL_AFTER = 1.0
FOLDER_VARIABLE = "GAPLINE_LEASES"


@contextmanager
def lease_cores(
    width: int, *, stopping: Callable[[], bool], folder: Path | None = None, say: Callable[[str], None] | None = None
) -> Iterator[tuple[Slot, tuple[int, ...]] | None]:
    """Wait for free cores of this machine; yield them with the open files that hold them, or None when stopped.

    A lease is a lock on a core's file: a supervisor that inherits the open file keeps the core after its worker was
    killed, and no crash can leave a lease behind. Only the cores that this process may use are considered. `say` is
    called once if other programs hold them; waiting for runs of the same campaign is not reported.
    """
    available = cores()
    # Raises at once for a number of cores that can never be leased, instead of waiting for ever.
    make_slots(available, width=width)
    place = folder or lease_folder()
    place.mkdir(mode=0o700, exist_ok=True)
    start, patience = time.monotonic(), TELL_AFTER
    while True:
        taken = _take(place, available, width)
        if taken or stopping():
            break
        if say is not None and time.monotonic() - start > patience:
            # At growing intervals: searching for the holders takes time that runs could use.
            patience *= 2
            if others := _others(place, available):
                have = f"other runs of gapline have them (processes {listing(map(str, others), most=4)})"
                say(f"waiting for {width} of {len(available)} cores: {have}")
                say = None
        time.sleep(LOOK_EVERY)
    try:
        yield (tuple(taken), tuple(taken.values())) if taken else None
    finally:
        for file in taken.values():
            os.close(file)


def lease_folder(root: Path | None = None) -> Path:
    """Return the directory of this user's leases; it is the same for all shells and jobs of the machine."""
    if named := os.environ.get(FOLDER_VARIABLE):
        return Path(named)
    # Not TMPDIR first: batch systems give each job its own, so that runners would not see each other's leases.
    root = root or (Path("/tmp") if os.access("/tmp", os.W_OK) else Path(tempfile.gettempdir()))
    place = root / f"gapline-cores-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    facts = place.lstat()
    if facts.st_uid != os.getuid() or place.is_symlink():
        raise EnvironmentLacksError(
            f"{place}: expected a directory of this user, got one of user {facts.st_uid}",
            hint=f"name another with {FOLDER_VARIABLE}=DIRECTORY",
        )
    return place


def _file(place: Path, core: int) -> Path:
    return place / f"core-{physical_core(core)}"


def _others(place: Path, available: list[int]) -> list[int]:
    """Return the processes that hold cores, except this one and its runs."""
    holding = {pid for core in available for pid in open_by(_file(place, core))}
    return sorted(holding.difference(descendants(os.getpid()))) if holding else []


def _take(place: Path, available: list[int], width: int) -> dict[int, int]:
    """Lock `width` cores at once, or none: two runs that held one core each would wait for each other for ever."""
    taken: dict[int, int] = {}
    with locked(place / "all"):
        for core in available:
            file = open_lock(_file(place, core))
            if lock_now(file):
                taken[core] = file
            else:
                os.close(file)
            if len(taken) == width:
                return taken
        for file in taken.values():
            os.close(file)
    return {}

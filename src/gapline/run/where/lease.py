"""Cores that belong to one run at a time, on a machine where several workers know nothing of each other."""

import os
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from gapline.journal.locks import lock_now, locked, open_lock
from gapline.run.where.pin import Slot, cores, make_slots

LOOK_EVERY = 0.02


@contextmanager
def lease_cores(
    width: int, *, stopping: Callable[[], bool], folder: Path | None = None
) -> Iterator[tuple[Slot, tuple[int, ...]] | None]:
    """Wait for free cores of this machine; yields them with the open files that hold them, or None when stopped.

    A lock on a core's file is the lease: a supervisor that inherits the open file keeps the core after its worker was
    killed, and no crash can leave a lease behind. Only the cores that this process may use are looked at.
    """
    available = cores()
    # Refuses at once what could never be leased, instead of waiting for ever.
    make_slots(available, width=width)
    place = folder or Path(tempfile.gettempdir()) / f"gapline-cores-{os.getuid()}"
    place.mkdir(mode=0o700, exist_ok=True)
    while True:
        taken = _take(place, available, width)
        if taken or stopping():
            break
        time.sleep(LOOK_EVERY)
    try:
        yield (tuple(taken), tuple(taken.values())) if taken else None
    finally:
        for file in taken.values():
            os.close(file)


def _take(place: Path, available: list[int], width: int) -> dict[int, int]:
    """Lock `width` cores at once, or none: two that held one core each would wait for each other for ever."""
    taken: dict[int, int] = {}
    with locked(place / "all"):
        for core in available:
            file = open_lock(place / f"core-{core}")
            if lock_now(file):
                taken[core] = file
            else:
                os.close(file)
            if len(taken) == width:
                return taken
        for file in taken.values():
            os.close(file)
    return {}

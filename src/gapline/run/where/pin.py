"""Slots: disjoint sets of cores, one per run at a time."""

import os

from gapline.errors import UsageError
from gapline.run.process.machine import CPUS, first_line

Slot = tuple[int, ...]


def cores(allowed: set[int] | None = None) -> list[int]:
    """Return one logical processor per physical core among those we may use: two runs on one slow each other down."""
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
    """Name the core that a logical processor is of, by all processors that share it."""
    return first_line(CPUS / f"cpu{cpu}/topology/thread_siblings_list") or str(cpu)


def make_slots(available: list[int], *, width: int, count: int | None = None) -> list[Slot]:
    """Cut the cores into slots of `width` cores each.

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

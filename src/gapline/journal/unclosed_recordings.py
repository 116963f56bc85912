"""Recordings that never said how they ended: whether their run goes on, was killed, or is over and still open."""

import datetime
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from gapline.files.process_start import began, is_running
from gapline.journal.records import Order, RecorderProcess

BOOT, NAMESPACE = Path("/proc/sys/kernel/random/boot_id"), Path("/proc/self/ns/pid")


class Unclosed(StrEnum):
    """How far a recording without an end is."""

    IN_PROGRESS = "in progress"
    KILLED = "killed"
    OVERDUE = "overdue"  # its horizon has passed, and its process lives on


@dataclass(frozen=True, slots=True)
class Here:
    """The machine and the moment at which a recording is read.

    `wall` is the time of day, `clock` the monotonic clock in nanoseconds; `is_running` tells whether a process of this
    number, started then, is there, None where that cannot be seen.
    """

    boot: str
    namespace: str
    wall: datetime.datetime
    clock: int
    is_running: Callable[[int, int], bool | None] = is_running

    @classmethod
    def now(cls) -> "Here":
        """Look at this machine."""
        return cls(_boot(), _namespace(), datetime.datetime.now(datetime.UTC), time.monotonic_ns())


def this_recorder() -> RecorderProcess:
    """Return this process as it stands in the first line of a recording."""
    pid = os.getpid()
    return RecorderProcess(pid=pid, began=began(pid), boot=_boot(), namespace=_namespace(), clock=time.monotonic_ns())


def unclosed_state(order: Order, here: Here) -> Unclosed:
    """Say how far a recording without an end is: it goes on until its horizon, as long as its process may be alive."""
    alive = _is_alive(order, here)
    if alive is False:
        return Unclosed.KILLED
    if not _is_over(order, here):
        return Unclosed.IN_PROGRESS
    return Unclosed.OVERDUE if alive else Unclosed.KILLED


def _is_alive(order: Order, here: Here) -> bool | None:
    """Say whether the process of a recording is alive; None where its number means nothing here."""
    process = order.recorder
    if not isinstance(process, RecorderProcess) or process.began is None or not (process.boot and process.namespace):
        return None
    if (process.boot, process.namespace) != (here.boot, here.namespace):
        return None
    return here.is_running(process.pid, process.began)


def _is_over(order: Order, here: Here) -> bool:
    """Say whether the horizon has passed since the start: on the same boot by a clock that nobody sets."""
    process = order.recorder
    if (
        isinstance(process, RecorderProcess)
        and process.boot
        and process.boot == here.boot
        and here.clock >= process.clock
    ):
        return (here.clock - process.clock) / 1e9 >= order.horizon
    try:
        started = datetime.datetime.fromisoformat(order.started)  # type: ignore[arg-type]
        return (here.wall - started).total_seconds() >= order.horizon
    except (TypeError, ValueError):
        # Nothing says when it began.
        return True


def _boot() -> str:
    try:
        return BOOT.read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""


def _namespace() -> str:
    try:
        return str(NAMESPACE.readlink())
    except OSError:
        return ""

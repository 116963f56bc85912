"""Recordings without an ending: whether their run goes on, was killed, or is past its horizon but still open."""

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
    """The state of a recording without an ending."""

    IN_PROGRESS = "in progress"
    KILLED = "killed"
    OVERDUE = "overdue"  # its horizon has passed, but its process is still alive


@dataclass(frozen=True, slots=True)
class Here:
    """The machine and the moment at which a recording is read.

    `wall` is the time of day, `clock` the monotonic clock in nanoseconds; `is_running` takes the number and the start
    of a process and returns whether it exists, None if that is unknown.
    """

    boot: str
    namespace: str
    wall: datetime.datetime
    clock: int
    is_running: Callable[[int, int], bool | None] = is_running

    @classmethod
    def now(cls) -> "Here":
        """Return the current machine and moment."""
        return cls(_boot(), _namespace(), datetime.datetime.now(datetime.UTC), time.monotonic_ns())


def this_recorder() -> RecorderProcess:
    """Return this process as recorded in the first line of a recording."""
    pid = os.getpid()
    return RecorderProcess(pid=pid, began=began(pid), boot=_boot(), namespace=_namespace(), clock=time.monotonic_ns())


def unclosed_state(order: Order, here: Here) -> Unclosed:
    """Return the state of a recording without an ending: in progress until its horizon unless its process is dead."""
    alive = _is_alive(order, here)
    if alive is False:
        return Unclosed.KILLED
    if not _is_over(order, here):
        return Unclosed.IN_PROGRESS
    return Unclosed.OVERDUE if alive else Unclosed.KILLED


def _is_alive(order: Order, here: Here) -> bool | None:
    """Whether the process of a recording is alive; None if its number is not valid here."""
    process = order.recorder
    if not isinstance(process, RecorderProcess) or process.began is None or not (process.boot and process.namespace):
        return None
    if (process.boot, process.namespace) != (here.boot, here.namespace):
        return None
    return here.is_running(process.pid, process.began)


def _is_over(order: Order, here: Here) -> bool:
    """Whether the horizon has passed since the start; on the same boot, measured by the monotonic clock."""
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
        # The start is unknown.
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

"""What workers are given to do in the tests of tasks: they find this module on their path."""

import os
import signal
import time
from pathlib import Path

from gapline.campaign.threads import thread_count
from gapline.errors import ContractError
from gapline.files.memory import memory_budget


def square(number: int) -> int:
    return number * number


def wait_for(path: Path) -> None:
    """Return once a file is there."""
    while not path.exists():
        time.sleep(0.005)


def hold(folder: Path, number: int) -> int:
    """Say which process has the task, and keep it until the gate is open."""
    (folder / f"alive-{os.getpid()}").touch()
    wait_for(folder / "go")
    return number * number


def die_the_first_time(folder: Path, number: int) -> int:
    marker = folder / f"died-{number}"
    if not marker.exists():
        marker.touch()
        os._exit(3)
    return number * number


def die(number: int) -> int:
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def wait_for_turn(folder: Path, number: int) -> int:
    """End once the turn of this number has come."""
    wait_for(folder / f"turn-{number}")
    return number * number


def fail(number: int) -> int:
    """Raise errors that say much."""
    if number == 1:
        raise ContractError("study.toml", [f"mistake {at} {'x' * 2000}" for at in range(10)], hint="mend them")
    if number == 2:
        raise ZeroDivisionError("a mistake of ours")
    return number


def fail_beside_others(folder: Path, number: int) -> int:
    return fail(1) if number == 1 else hold(folder, number)


def share() -> tuple[int, int]:
    return thread_count(), memory_budget()


def unpicklable() -> object:
    return lambda: None

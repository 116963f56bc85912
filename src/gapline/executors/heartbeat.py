"""The runner's heartbeat, a file in the study directory that tells workers on other machines when to stop."""

import contextlib
import os
import platform
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from gapline.contract.layout import JOURNALS
from gapline.files.atomic_write import write_atomically
from gapline.files.open_file import read_regular
from gapline.files.process_start import began
from gapline.process.control import Control

BEAT_EVERY = 5.0
LOOK_EVERY = 0.2
WORKER_LOOKS_EVERY = 0.5
# A file server may show a change a minute late.
PATIENCE = 120.0
# Much longer than PATIENCE, because clocks of two machines differ.
FORGOTTEN_AFTER = 86_400.0


class Beat(msgspec.Struct):
    """The heartbeat of a runner; `beat` grows as long as the runner lives. The last fields identify its process."""

    beat: int
    stopping: bool = False
    killing: bool = False
    host: str = ""
    process: int = 0
    began: int | None = None


def heartbeat_file(study: Path, runner: str) -> Path:
    """Return the path of a runner's heartbeat."""
    return study / JOURNALS / f"runner-{runner}.json"


@contextmanager
def heartbeat_sender(study: Path, runner: str, control: Control) -> Iterator[None]:
    """Write heartbeats with the state of `control`; after a clean end the file is removed."""
    path = heartbeat_file(study, runner)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = threading.Event()

    def write(number: int) -> tuple[bool, bool]:
        said = (control.stopping, control.killing)
        data = msgspec.json.encode(Beat(number, *said, platform.node(), os.getpid(), began(os.getpid())))
        # A missed beat on a busy file server is not a failure: workers wait for PATIENCE.
        with contextlib.suppress(OSError):
            write_atomically(path, lambda stream: stream.write(data))
        return said

    def beat(said: tuple[bool, bool]) -> None:
        number, last = 0, time.monotonic()
        while not done.wait(LOOK_EVERY):
            if said != (control.stopping, control.killing) or time.monotonic() - last >= BEAT_EVERY:
                number, last = number + 1, time.monotonic()
                said = write(number)

    thread = threading.Thread(target=beat, args=(write(0),), name="heartbeat", daemon=True)
    thread.start()
    try:
        yield
    except BaseException:
        control.kill("error")
        done.set()
        thread.join()
        # Workers may still be running: this tells them that their results are not needed.
        write(-1)
        raise
    done.set()
    thread.join()
    path.unlink(missing_ok=True)


def clear_heartbeats(study: Path) -> None:
    """Remove the heartbeats of runners that are dead: of local processes that ended, and those silent for a day.

    A worker that still waits for one treats a missing file like a file that does not change.
    """
    for path in (study / JOURNALS).glob("runner-*.json"):
        with contextlib.suppress(OSError):
            beat, age = _read(path), time.time() - path.stat().st_mtime
            here = beat is not None and beat.host == platform.node() and beat.began is not None
            if (here and beat is not None and began(beat.process) != beat.began) or age > FORGOTTEN_AFTER:
                path.unlink()


@contextmanager
def heartbeat_watch(study: Path, runner: str, control: Control, *, patience: float = PATIENCE) -> Iterator[None]:
    """On a worker, stop the runs when the runner asks for it, or shows no sign of life for `patience` seconds."""
    path = heartbeat_file(study, runner)
    done = threading.Event()

    def look() -> None:
        last, since = None, time.monotonic()
        while True:
            beat = _read(path)
            if beat is not None and beat.killing:
                control.kill("runner")
            elif beat is not None and beat.stopping:
                control.stop("runner")
            # By change and not by time stamp: clocks of two machines differ.
            if beat is not None and beat.beat != last:
                last, since = beat.beat, time.monotonic()
            elif time.monotonic() - since > patience:
                control.kill("runner lost")
            if done.wait(WORKER_LOOKS_EVERY):
                return

    thread = threading.Thread(target=look, name="watch-runner", daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _read(path: Path) -> Beat | None:
    try:
        return msgspec.json.decode(read_regular(path), type=Beat)
    except (OSError, msgspec.MsgspecError):
        return None

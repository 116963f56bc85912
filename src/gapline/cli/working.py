"""A line that says what a command is doing, from the third second on: on the error stream, and only on a terminal."""

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import rich_click as click

from gapline.model.doing import Doing, told
from gapline.terminal import clipped_line, on_output, redraw

# What ends within that time needs no sign of life.
AFTER = 2.0
EVERY = 0.2


class Working:
    """Draws the line again and again until something is printed."""

    def __init__(self, draw: Callable[[str], None] = redraw) -> None:
        self._draw = draw
        self._began = time.monotonic()
        self._now = Doing("working")
        self._drawn = False
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, daemon=True)

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def tell(self, now: Doing) -> None:
        """Take note of what is done now."""
        self._now = now

    def stop(self) -> None:
        """Take the line away, and draw no other."""
        with self._lock:
            self._over.set()
            if self._drawn:
                self._draw("")
                self._drawn = False

    def _watch(self) -> None:
        wait = AFTER
        while not self._over.wait(wait):
            wait = EVERY
            with self._lock:
                # It may have ended while we waited for the lock.
                if not self._over.is_set():
                    self._draw(clipped_line(f"{self._now} … {time.monotonic() - self._began:.0f} s"))
                    self._drawn = True


@contextmanager
def working() -> Iterator[None]:
    """Show what is done until the first line of the answer; nothing where nobody watches."""
    if not sys.stderr.isatty():
        yield
        return
    line = Working()
    line.start()
    try:
        with told(line.tell), on_output(line.stop):
            yield
    finally:
        line.stop()


def show_work() -> None:
    """Show what the command at hand is doing until it answers or ends."""
    context = click.get_current_context()
    assert context is not None
    context.with_resource(working())

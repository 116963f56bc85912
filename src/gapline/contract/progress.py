"""What is being done at the moment, told to whoever listens: a command that shows it; in a library call nobody."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Doing(NamedTuple):
    """What is done, and how much of it where that is known."""

    what: str
    done: int = 0
    whole: int = 0

    def __str__(self) -> str:
        return f"{self.what} {self.done:,} of {self.whole:,}" if self.whole else self.what


Listener = Callable[[Doing], None]
# One for the process and not for a thread: the work of a command is told from whichever thread does it.
_listeners: list[Listener] = []


def doing(what: str, done: int = 0, whole: int = 0) -> None:
    """Say what begins now, and how much of it is done.

    >>> with told(print):
    ...     doing("drawing figures", 2, 31)
    drawing figures 2 of 31
    """
    for listener in _listeners:
        listener(Doing(what, done, whole))


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Tell a listener of everything until the end."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)

"""Progress reports: what is being done at the moment, for listeners such as a command; library calls have none."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import NamedTuple


class Doing(NamedTuple):
    """The current activity, and how much of it is done if that is known."""

    what: str
    done: int = 0
    whole: int = 0

    def __str__(self) -> str:
        return f"{self.what} {self.done:,} of {self.whole:,}" if self.whole else self.what


Listener = Callable[[Doing], None]
# Per process, not per thread: any thread of a command may report.
_listeners: list[Listener] = []


def doing(what: str, done: int = 0, whole: int = 0) -> None:
    """Report the current activity and its progress.

    >>> with told(print):
    ...     doing("drawing figures", 2, 31)
    drawing figures 2 of 31
    """
    for listener in _listeners:
        listener(Doing(what, done, whole))


@contextmanager
def told(listener: Listener) -> Iterator[None]:
    """Report every activity to a listener until the block ends."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)

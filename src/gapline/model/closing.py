"""Large files without a name are closed by a thread of their own: to free their pages takes the system milliseconds.

Whoever lets go of such a file goes on. It may be the collector of garbage, at any moment and in any thread: what is
done there takes no lock.
"""

import os
import threading
from contextlib import suppress
from queue import SimpleQueue

_Entry = int | threading.Event


class _Closer:
    """The thread, and the files that it is still to close; an event among them says when those before it are closed."""

    def __init__(self) -> None:
        self.entries: SimpleQueue[_Entry] = SimpleQueue()
        threading.Thread(target=self._work, name="closing", daemon=True).start()

    def _work(self) -> None:
        while True:
            entry = self.entries.get()
            if isinstance(entry, int):
                close_here(entry)
            else:
                entry.set()


_closers: list[_Closer] = []


def prepare_closing() -> None:
    """Start the thread; whoever opens a file that is closed elsewhere asks for it before."""
    if not _closers:
        _closers.append(_Closer())


def close_here(file: int) -> None:
    """Close a file."""
    with suppress(OSError):
        os.close(file)


def close_elsewhere(file: int) -> None:
    """Let the thread close a file; where there is none, as in a forked child, close it here."""
    if _closers:
        _closers[0].entries.put(file)
    else:
        close_here(file)


def wait_until_closed() -> None:
    """Wait for the files that are to be closed: what lies in them is gone from the disk then."""
    if _closers:
        done = threading.Event()
        _closers[0].entries.put(done)
        done.wait()


if hasattr(os, "register_at_fork"):
    # A forked child has none of the threads of its parent.
    os.register_at_fork(after_in_child=_closers.clear)

"""Control of a runner over its supervisors: stop launching new ones, or end them all."""

import contextlib
import threading

from gapline.process.nursery import SupervisorProcess


class Control:
    """Shared by the threads of a runner and its signal handlers; data is kept in both cases."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._supervisors: set[SupervisorProcess] = set()
        self.stopping = False
        self.killing = False
        self.reason: str | None = None

    def stop(self, reason: str) -> None:
        """Start no more runs."""
        self.stopping = True
        self.reason = self.reason or reason

    def kill(self, reason: str) -> None:
        """Start no more runs and end those under way."""
        self.stop(reason)
        with self._lock:
            self.killing = True
            for supervisor in self._supervisors:
                _ask_to_end(supervisor)

    def add(self, supervisor: SupervisorProcess) -> None:
        """Take control of a supervisor; it ends at once if `kill` was called before."""
        with self._lock:
            self._supervisors.add(supervisor)
            if self.killing:
                _ask_to_end(supervisor)

    def remove(self, supervisor: SupervisorProcess) -> None:
        """Release a supervisor that has ended."""
        with self._lock:
            self._supervisors.discard(supervisor)


def _ask_to_end(supervisor: SupervisorProcess) -> None:
    with contextlib.suppress(OSError, ValueError):
        supervisor.stdin.write(b"!")
        supervisor.stdin.flush()

"""The runner's hold on its supervisors: stop launching, or stop them all."""

import contextlib
import threading

from gapline.process.nursery import SupervisorProcess


class Control:
    """Shared by the threads of a runner and its signal handlers; data is kept whether it stops or kills."""

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
        """Start no more runs and end those that run."""
        self.stop(reason)
        with self._lock:
            self.killing = True
            for supervisor in self._supervisors:
                _ask_to_end(supervisor)

    def add(self, supervisor: SupervisorProcess) -> None:
        """Take a supervisor under control; one that was started while we were killing ends at once."""
        with self._lock:
            self._supervisors.add(supervisor)
            if self.killing:
                _ask_to_end(supervisor)

    def remove(self, supervisor: SupervisorProcess) -> None:
        """Let go of a supervisor that has ended."""
        with self._lock:
            self._supervisors.discard(supervisor)


def _ask_to_end(supervisor: SupervisorProcess) -> None:
    with contextlib.suppress(OSError, ValueError):
        supervisor.stdin.write(b"!")
        supervisor.stdin.flush()

"""Start supervisors fast: a small process has loaded all modules they need and forks one supervisor per run.

The nursery has one thread, so that its forks behave like new processes: a run of /bin/true took 96 ms instead of 342.
Each supervisor talks to the runner through two pipes, and ends when the runner's end closes. The nursery lives until
the last of them has ended. It continues supervisors that are stopped; if one is killed, its remaining processes, of any
session and environment, become children of the nursery, which ends them before it releases the claim and the cores. The
fork server of `multiprocessing` took 129 ms; it imports the caller's main module in every child, so that a script that
calls `run_study` without `if __name__ == "__main__"` would start itself again, and it keeps its first environment.
"""

import atexit
import contextlib
import os
import resource
import select
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

from gapline.process import cgroup, tree

_LENGTH = struct.Struct("!I")
_MOST_FILES = 250


# How often the nursery checks for stopped supervisors, and after how many such checks it kills one.
LOOK_EVERY = 0.5
MOST_STOPS = 3


class Request(msgspec.Struct):
    """A request for one supervisor: its attempt, and the current environment of the runner."""

    attempt: str
    environment: dict[str, str]


class Loss(msgspec.Struct):
    """The nursery's report on a supervisor that died without an ending: the cause, and the number of its processes."""

    lost: str
    found: int
    leftover: int


@dataclass(frozen=True, slots=True)
class SupervisorProcess:
    """A running supervisor: a byte on `stdin` asks it to end, its `stdout` returns its ending."""

    stdin: IO[bytes]
    stdout: IO[bytes]
    tend: Callable[[], None] = lambda: None

    def wait(self) -> bytes:
        """Return the line with its ending, or with its loss from the nursery; empty if both are dead."""
        answer = b""
        file = self.stdout.fileno()
        while not answer.endswith(b"\n"):
            if not select.select([file], [], [], LOOK_EVERY)[0]:
                # A stopped nursery cannot help a stopped supervisor.
                self.tend()
            elif part := os.read(file, 65_536):
                answer += part
            else:
                break
        return answer

    def close(self) -> None:
        """Close both pipes; a supervisor that still runs then ends."""
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()


class Nursery:
    """The runner's side of the nursery: one per process, started on first use."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None
        self._stops = 0

    def start_supervisor(self, attempt: Path, held: Sequence[int]) -> SupervisorProcess:
        """Start the supervisor of an attempt; it keeps the `held` files open as long as it lives."""
        request = msgspec.json.encode(Request(str(attempt), dict(os.environ)))
        control, stdin = os.pipe()
        stdout, answer = os.pipe()
        try:
            with self._lock:
                try:
                    self._send(request, [control, answer, *held])
                except OSError:
                    # The nursery was killed. Nothing is lost: it has no state.
                    self._close()
                    self._send(request, [control, answer, *held])
        except BaseException:
            os.close(stdin)
            os.close(stdout)
            raise
        finally:
            os.close(control)
            os.close(answer)
        return SupervisorProcess(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb", buffering=0), self.tend)

    def tend(self) -> None:
        """Continue a stopped nursery; kill one that is stopped again and again, with all its descendants."""
        with self._lock:
            if self._process is None:
                return
            pid = self._process.pid
            self._stops = self._stops + 1 if tree.process_state(pid) in ("T", "t") else 0
            tree.signal_all([pid], signal.SIGCONT)
            if self._stops > MOST_STOPS:
                tree.signal_all([*tree.descendants(pid), pid], signal.SIGKILL)

    def close(self) -> None:
        """End the nursery; waits for running supervisors."""
        with self._lock:
            self._close()

    def _send(self, request: bytes, files: list[int]) -> None:
        if self._line is None:
            self._open()
        assert self._line is not None
        socket.send_fds(self._line, [_LENGTH.pack(len(request))], files)
        self._line.sendall(request)

    def _open(self) -> None:
        ours, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                # -P: a runner started in the study directory must not load the study's `msgspec.py`.
                [sys.executable, "-P", "-m", "gapline.process.nursery", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                # Ctrl-C in a terminal must reach only the runner.
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        self._line = ours

    def _close(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            while True:
                tree.signal_all([self._process.pid], signal.SIGCONT)
                with contextlib.suppress(subprocess.TimeoutExpired):
                    self._process.wait(LOOK_EVERY)
                    break
        self._line = self._process = None


_nursery = Nursery()
start_supervisor = _nursery.start_supervisor
atexit.register(_nursery.close)


def _receive(line: socket.socket) -> tuple[Request, list[int]] | None:
    head, files, _, _ = socket.recv_fds(line, _LENGTH.size, _MOST_FILES)
    if not head:
        return None
    head += _exactly(line, _LENGTH.size - len(head))
    return msgspec.json.decode(_exactly(line, _LENGTH.unpack(head)[0]), type=Request), list(files)


def _exactly(line: socket.socket, count: int) -> bytes:
    data = bytearray()
    while len(data) < count:
        part = line.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return bytes(data)


def _be_supervisor(request: Request, control: int, answer: int) -> None:
    """Turn the forked child into a supervisor, as `python -m gapline.process.supervise` would."""
    from gapline.process.supervise import main

    # A session of its own: Ctrl-C in the terminal goes to the runner, which decides.
    os.setsid()
    os.dup2(control, 0)
    os.dup2(answer, 1)
    os.close(control)
    os.close(answer)
    # The nursery's own environment dates from its start.
    os.environ.clear()
    os.environ.update(request.environment)
    main(Path(request.attempt))


@dataclass(slots=True)
class _NurseryProcess:
    """A supervisor of this nursery; `files` are the files it was given, open until all its processes have ended."""

    answer: int
    files: list[int]
    handle: int
    attempt: str
    stops: int = 0

    def close(self) -> None:
        for file in (*self.files, self.handle):
            os.close(file)


def serve(line: socket.socket) -> None:
    """Fork a supervisor per request and look after them, until the runner is gone and the last has ended."""
    import gapline.process.supervise  # noqa: F401  what every child needs is loaded once

    # Finds the base here, once for all supervisors.
    cgroup.sweep_groups()
    # Orphans of a dead supervisor become our children.
    tree.become_subreaper()
    limits = resource.getrlimit(resource.RLIMIT_NOFILE)
    # Each supervisor needs some files, and there may be one per core.
    resource.setrlimit(resource.RLIMIT_NOFILE, (limits[1], limits[1]))
    nursed: dict[int, _NurseryProcess] = {}
    poll = select.poll()
    poll.register(line, select.POLLIN)
    is_open = True
    while is_open or nursed:
        ready = [file for file, _ in poll.poll(LOOK_EVERY * 1000 if nursed else None)]
        if is_open and line.fileno() in ready:
            received = None
            with contextlib.suppress(EOFError, ConnectionError):
                received = _receive(line)
            if received is None:
                is_open = False
                poll.unregister(line)
                line.close()
            else:
                pid = _fork(line, *received, nursed, limits)
                nursed[pid].handle = os.pidfd_open(pid)
                poll.register(nursed[pid].handle, select.POLLIN)
        dead = tree.reap()
        while dead:
            pid, status = dead.popitem()
            if pid in nursed:
                supervisor = nursed.pop(pid)
                poll.unregister(supervisor.handle)
                dead |= _bury(supervisor, status, nursed)
        _wake(nursed)


def _fork(
    line: socket.socket, request: Request, files: list[int], nursed: dict[int, _NurseryProcess], limits: tuple[int, int]
) -> int:
    pid = os.fork()
    if pid:
        os.close(files[0])
        nursed[pid] = _NurseryProcess(files[1], files[1:], -1, request.attempt)
        return pid
    try:
        line.close()
        resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        # The child must not hold claims and cores of other runs.
        for other in nursed.values():
            other.close()
        _be_supervisor(request, files[0], files[1])
    finally:
        # Never back into the loop: a child that returned here would serve requests as a second nursery.
        os._exit(1)


def _bury(supervisor: _NurseryProcess, status: int, nursed: Collection[int]) -> dict[int, int]:
    """End the processes of a dead supervisor and report its loss to the runner; return the status of dead children."""
    code = os.waitstatus_to_exitcode(status)
    dead: dict[int, int] = {}
    if code != 0:
        # All our descendants that are not below a living supervisor belonged to a dead one.
        found = len(tree.descendants(os.getpid(), without=nursed))
        leftover, dead = tree.clear_tree(without=nursed)
        found += cgroup.end_group(supervisor.attempt)
        how = f"exit code {code}" if code > 0 else signal.Signals(-code).name
        if supervisor.stops >= MOST_STOPS:
            how = f"stopped {supervisor.stops} times, by its solver or somebody else"
        # The runner may be gone, and its end of the pipe with it.
        with contextlib.suppress(OSError):
            os.write(supervisor.answer, msgspec.json.encode(Loss(how, found, leftover)) + b"\n")
    supervisor.close()
    return dead


def _wake(nursed: dict[int, _NurseryProcess]) -> None:
    """Continue stopped supervisors; kill one that is stopped again and again."""
    for pid, supervisor in nursed.items():
        if tree.process_state(pid) not in ("T", "t"):
            continue
        supervisor.stops += 1
        tree.signal_all([pid], signal.SIGKILL if supervisor.stops >= MOST_STOPS else signal.SIGCONT)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

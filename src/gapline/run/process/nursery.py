"""Start supervisors fast: a small process has loaded all they need and forks one per run.

The nursery has one thread and no state, so that a fork of it is as good as a new process: a run of /bin/true took 96 ms
instead of 342. Its supervisors talk to the runner through two pipes each, and end when the runner's end closes. The
fork server of `multiprocessing` took 129 ms; it imports the caller's main module in every child, so that a script that
calls `run_study` without `if __name__ == "__main__"` would start itself again, and keeps its first environment.
"""

import atexit
import contextlib
import os
import signal
import socket
import struct
import subprocess
import sys
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO

import msgspec

_LENGTH = struct.Struct("!I")
_MOST_FILES = 250


class Request(msgspec.Struct):
    """One supervisor to start: its attempt, and the environment of the runner at this moment."""

    attempt: str
    environment: dict[str, str]


@dataclass(frozen=True, slots=True)
class Supervising:
    """A supervisor that was started: a byte on `stdin` asks it to end, its `stdout` gives its ending."""

    stdin: IO[bytes]
    stdout: IO[bytes]

    def close(self) -> None:
        """Let go of both pipes; a supervisor that still runs then ends."""
        for stream in (self.stdin, self.stdout):
            with contextlib.suppress(OSError):
                stream.close()


class Nursery:
    """The runner's end: one per process, started when it is first needed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._line: socket.socket | None = None

    def start_supervisor(self, attempt: Path, held: Sequence[int]) -> Supervising:
        """Start the supervisor of an attempt; it keeps the `held` files open as long as it lives."""
        request = msgspec.json.encode(Request(str(attempt), dict(os.environ)))
        control, stdin = os.pipe()
        stdout, answer = os.pipe()
        try:
            with self._lock:
                try:
                    self._send(request, [control, answer, *held])
                except OSError:
                    # Somebody has killed it. Nothing is lost: it has no state.
                    self._close()
                    self._send(request, [control, answer, *held])
        except BaseException:
            os.close(stdin)
            os.close(stdout)
            raise
        finally:
            os.close(control)
            os.close(answer)
        return Supervising(os.fdopen(stdin, "wb"), os.fdopen(stdout, "rb"))

    def close(self) -> None:
        """End the nursery; supervisors that run stay."""
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
                # -P: a runner that was started in the study directory must not load the study's `msgspec.py`.
                [sys.executable, "-P", "-m", "gapline.run.process.nursery", str(theirs.fileno())],
                stdin=subprocess.DEVNULL,
                # A terminal's Ctrl-C must reach the runner alone.
                start_new_session=True,
                pass_fds=(theirs.fileno(),),
            )
        self._line = ours

    def _close(self) -> None:
        if self._line is not None:
            self._line.close()
        if self._process is not None:
            self._process.wait()
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
    """In the child: become what `python -m gapline.run.process.supervise` would be."""
    from gapline.run.process.supervise import main

    # A session of its own: a Ctrl-C in the terminal goes to the runner, which decides.
    os.setsid()
    # Undo what `serve` set: a supervisor waits for its solver.
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    os.dup2(control, 0)
    os.dup2(answer, 1)
    os.close(control)
    os.close(answer)
    # The nursery's own environment is that of the moment when it was started.
    os.environ.clear()
    os.environ.update(request.environment)
    main(Path(request.attempt))


def serve(line: socket.socket) -> None:
    """Fork a supervisor per request, until the runner is gone."""
    import gapline.run.process.supervise  # noqa: F401  what every child needs is loaded once

    # Children are not waited for: the runner hears from them through their pipes.
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    with contextlib.suppress(EOFError, ConnectionError):
        while (received := _receive(line)) is not None:
            request, files = received
            if os.fork() == 0:
                try:
                    line.close()
                    _be_supervisor(request, files[0], files[1])
                finally:
                    # Never back into the loop: a child that returned here would serve requests as a second nursery.
                    os._exit(1)
            for file in files:
                os.close(file)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))

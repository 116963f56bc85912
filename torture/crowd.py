"""A server of its own process, and many clients of its stream in one thread: some read, some never do."""

import contextlib
import http.client
import os
import select
import selectors
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec

# A client that never reads holds no more than this in its own kernel buffer.
SMALL_BUFFER = 4096


def apply(document: dict[str, Any], change: dict[str, Any]) -> dict[str, Any]:
    """Turn a state into the next one, in place: what a client does with a `change` (docs/watch.md)."""

    def parent(path: list[str]) -> Any:
        found: Any = document
        for name in path[:-1]:
            found = found[name]
        return found

    for path in change["gone"]:
        del parent(path)[path[-1]]
    for path, value in change["set"]:
        parent(path)[path[-1]] = value
    for path, length in change["cut"]:
        del parent(path)[path[-1]][length:]
    for path, values in change["append"]:
        parent(path)[path[-1]].extend(values)
    return document


class Server:
    """`gapline serve` as a process: what it answers, and what it takes."""

    def __init__(self, study: Path, before: str = "") -> None:
        code = f"{before}\nfrom gapline.cli import main; main()"
        command = [sys.executable, "-c", code, "serve", str(study), "--no-open", "--port", "0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        assert self.process.stdout is not None
        self.port = int(self.process.stdout.readline().strip().rstrip("/").rpartition(":")[2])

    def ask(self, path: str) -> dict[str, Any]:
        """Return an answer."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=120)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            body = answer.read()
            assert answer.status == 200, body
            found: dict[str, Any] = msgspec.json.decode(body)
            return found
        finally:
            connection.close()

    def memory(self) -> int:
        """Return the bytes that it has in memory."""
        return int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    def processor_time(self) -> float:
        """Return the seconds of a core that it took so far."""
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(") ")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextlib.contextmanager
def served(study: Path, before: str = "") -> Iterator[Server]:
    """Start a server, and end it; `before` is Python that its process runs first."""
    server = Server(study, before)
    try:
        yield server
    finally:
        server.process.terminate()
        server.process.communicate()


def connect(port: int, last: int | None = None, *, small: bool = False) -> socket.socket:
    """Ask for the stream, from an event on where one is named."""
    found = socket.socket()
    if small:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL_BUFFER)
    found.settimeout(60)
    found.connect(("127.0.0.1", port))
    # HTTP/1.0: the body comes as it is, without the sizes of its chunks in between.
    ask = f"GET /api/events HTTP/1.0\r\nHost: 127.0.0.1:{port}\r\n"
    ask += "" if last is None else f"Last-Event-ID: {last}\r\n"
    found.sendall(f"{ask}\r\n".encode())
    return found


class Reader:
    """A client that keeps the state of a study; `lost` counts events that it never got, `ended` that it was cut off."""

    def __init__(self, port: int) -> None:
        self._port = port
        self.number: int | None = None
        self.document: dict[str, Any] = {}
        self.lost = self.states = self.ended = 0
        self._said: Callable[[dict[str, Any]], None] = lambda _change: None
        self._expected: tuple[int, bytes] = (-1, b"")
        # Whether its state was the expected one, None as long as it did not come so far.
        self.agrees: bool | None = None
        self._rest = b""
        self.socket = self._connect()

    def _connect(self) -> socket.socket:
        found = connect(self._port, self.number)
        found.setblocking(False)
        self._rest, self._begun = b"", False
        return found

    def come_back(self) -> None:
        """End the connection, and go on from the last event with another one."""
        self.socket.close()
        self.socket = self._connect()

    def on_change(self, said: Callable[[dict[str, Any]], None]) -> None:
        """Call something with every change."""
        self._said = said

    def read(self) -> bool:
        """Take what is there; return whether the connection goes on."""
        try:
            data = self.socket.recv(1 << 20)
        except BlockingIOError:
            return True
        except OSError:
            data = b""
        if not data:
            self.ended += 1
            return False
        *whole, self._rest = (self._rest + data).split(b"\n\n")
        for event in whole:
            # The first one stands behind the headers of the answer.
            self._take(event if self._begun else event.rpartition(b"\r\n\r\n")[2])
            self._begun = True
        return True

    def _take(self, event: bytes) -> None:
        lines = dict(line.split(b": ", 1) for line in event.split(b"\n") if not line.startswith(b":") and b": " in line)
        if b"data" not in lines:
            return
        number, data = int(lines[b"id"]), msgspec.json.decode(lines[b"data"])
        if lines[b"event"] == b"state":
            self.document, self.number = data, number
            self.states += 1
        elif lines[b"event"] == b"change":
            assert self.number is not None
            self.lost += number != self.number + 1
            self.number = number
            apply(self.document, data)
            self._said(data)
        self._agree()

    def expect(self, number: int, facts: bytes) -> None:
        """Compare its state with what it has to be after an event."""
        self._expected, self.agrees = (number, facts), None
        self._agree()

    def _agree(self) -> None:
        if self.number == self._expected[0]:
            self.agrees = facts_of(self.document) == self._expected[1]


def facts_of(document: dict[str, Any]) -> bytes:
    """Return a state for comparison, without its number and time."""
    return msgspec.json.encode({k: v for k, v in document.items() if k not in ("id", "at", "looked")}, order="sorted")


class Crowd:
    """Readers, and deaf ones that ask for the stream and never read; of these, `dropped` counts who was cut off.

    `deafened` are readers that do not read until they are cut off, and then come back.
    """

    def __init__(self, port: int, readers: int, deaf: int) -> None:
        self._port = port
        self._selector = selectors.DefaultSelector()
        self.readers: list[Reader] = []
        for _ in range(readers):
            self.add()
        self._watch = select.poll()
        self._deaf: dict[int, tuple[int, socket.socket]] = {}
        self.dropped = [0] * deaf
        self.deafened: dict[int, Reader] = {}
        for place in range(deaf):
            self._join_deaf(place)

    def add(self) -> Reader:
        """Let somebody more read."""
        reader = Reader(self._port)
        self.readers.append(reader)
        self._selector.register(reader.socket, selectors.EVENT_READ, reader)
        return reader

    def _join_deaf(self, place: int) -> None:
        found = connect(self._port, small=True)
        # Nothing is asked for: that a connection was cut off is told to everybody.
        self._watch.register(found, 0)
        self._deaf[found.fileno()] = (place, found)

    def come_back(self, reader: Reader) -> None:
        """Let a reader go on with another connection."""
        self._selector.unregister(reader.socket)
        reader.come_back()
        self._selector.register(reader.socket, selectors.EVENT_READ, reader)

    def deafen(self, reader: Reader) -> None:
        """Let a reader not read any more."""
        self._selector.unregister(reader.socket)
        self._watch.register(reader.socket, 0)
        self.deafened[reader.socket.fileno()] = reader

    def attend(self, until: float, done: Callable[[], bool] = lambda: False) -> bool:
        """Read whatever comes until a moment, or until something is so; return whether it is."""
        while not (happened := done()) and (left := until - time.monotonic()) > 0:
            for key, _ in self._selector.select(min(left, 0.25)):
                if not key.data.read():
                    self.come_back(key.data)
            for number, _ in self._watch.poll(0):
                self._watch.unregister(number)
                if number in self.deafened:
                    reader = self.deafened.pop(number)
                    reader.come_back()
                    self._selector.register(reader.socket, selectors.EVENT_READ, reader)
                    continue
                place, found = self._deaf.pop(number)
                found.close()
                self.dropped[place] += 1
                self._join_deaf(place)
        return happened

    def close(self) -> None:
        """End all connections."""
        for reader in self.readers:
            reader.socket.close()
        for _, found in self._deaf.values():
            found.close()
        self._selector.close()

"""A real server in a process of its own, and clients over real sockets."""

import contextlib
import http.client
import json
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

# Not in the thread that needs it: pytest rewrites what it imports, and two threads cannot do that at once.
from torture.crowd import apply

from patience import PATIENCE

# Tests wait for looks: these are taken more often than for people.
OFTEN = "from gapline.live import hub; hub.LOOK_EVERY, hub.UNWATCHED_EVERY = 0.2, 0.5"


class Served:
    """A running `gapline serve`."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.address = process.stdout.readline().strip()
        assert self.address.startswith("http://"), process.communicate()
        parts = urlsplit(self.address)
        self.host, self.port, self.query = parts.hostname, parts.port, parts.query

    @property
    def token(self) -> str:
        return self.query.removeprefix("token=")

    def get(self, path: str, *, method: str = "GET", body: bytes | None = None, **headers: str) -> Any:
        """Ask once; returns the answer with its body read."""
        connection = http.client.HTTPConnection(self.host, self.port, timeout=PATIENCE)
        try:
            connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            answer.text = answer.read().decode("utf-8", "replace")
            return answer
        finally:
            connection.close()

    def state(self, path: str = "/api/state", **headers: str) -> Any:
        answer = self.get(path, **headers)
        assert answer.status == 200, answer.text
        return json.loads(answer.text)

    def raw(self, data: bytes = b"", *, timeout: float = PATIENCE) -> socket.socket:
        found = socket.create_connection((self.host, self.port), timeout=timeout)
        found.sendall(data)
        return found

    def memory(self) -> int:
        """Return the bytes of memory that the server has in use."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * 4096

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.communicate()


class Listener:
    """Somebody who reads the stream of events in a thread of their own, and keeps the state up to date."""

    def __init__(self, served: Served, *, last: int | None = None, path: str = "/api/events") -> None:
        self.connection = http.client.HTTPConnection(served.host, served.port, timeout=PATIENCE)
        headers = {} if last is None else {"Last-Event-ID": str(last)}
        self.connection.request("GET", path, headers=headers)
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        self.document: dict[str, Any] = {}
        self.kinds: list[str] = []
        self.changes: list[dict[str, Any]] = []
        self.number = last
        self.at: list[float] = []
        self._new = threading.Condition()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        event: dict[str, str] = {}
        with contextlib.suppress(OSError, ValueError, http.client.HTTPException, AttributeError):
            while line := self.answer.readline():
                text = line.decode().rstrip("\r\n")
                name, colon, value = text.partition(": ")
                if colon and name in ("id", "event", "data"):
                    event[name] = value
                elif not text and "data" in event:
                    with self._new:
                        data = json.loads(event["data"])
                        self.kinds.append(event["event"])
                        self.number = int(event["id"])
                        if event["event"] == "state":
                            self.document = data
                            self.first = event["data"]
                        elif event["event"] == "change":
                            # A copy: what is put into the document is changed there by those that follow.
                            self.changes.append(json.loads(event["data"]))
                            if self.document:
                                apply(self.document, data)
                        self.at.append(time.monotonic())
                        self._new.notify_all()
                    event = {}
        with self._new:
            self.kinds.append("end")
            self._new.notify_all()

    def until(self, happened: Any, *, patience: float = PATIENCE) -> dict[str, Any]:
        """Wait until the state is as asked for."""
        with self._new:
            assert self._new.wait_for(lambda: happened(self), patience), f"it never happened: {self.kinds[-5:]}"
            return json.loads(json.dumps(self.document))

    def close(self) -> None:
        with contextlib.suppress(OSError):
            self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.connection.close()
        self._thread.join(10)


@contextlib.contextmanager
def serving(source: Path, *options: str, before: str = OFTEN) -> Iterator[Served]:
    """Start `gapline serve` on a source, and end it; `before` is Python that its process runs first."""
    code = f"{before}\nfrom gapline.cli import main; main()"
    command = [sys.executable, "-P", "-c", code, "serve", str(source), "--no-open", "--port", "0", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield Served(process)
    finally:
        if process.poll() is None:
            process.terminate()
        out, err = process.communicate(timeout=PATIENCE)
        assert out == ""
        assert err == ""

"""The stream of one study: its newest state, the changes that are kept for those who come back, and its clients.

An event is encoded once, whoever reads it. A client has a queue of bounded length: one that does not read is dropped,
and catches up from its last event when it comes back.
"""

import asyncio
import json
from collections import deque
from typing import Any, NamedTuple

import msgspec

from gapline.serve.difference import difference
from gapline.serve.moment import now_stamp

# Changes that are kept for clients that come back, by number and by size.
MOST_CHANGES, MOST_BYTES = 600, 8 << 20
# What may wait for one client.
MOST_WAITING, MOST_WAITING_BYTES = 60, 1 << 20


class Event(NamedTuple):
    """A change as it goes out, with its number."""

    number: int
    data: bytes


class Client:
    """Somebody who listens: `dropped` is set once too much waits for them."""

    def __init__(self) -> None:
        self._waiting: deque[bytes] = deque()
        self._bytes = 0
        self._ready = asyncio.Event()
        self.dropped = asyncio.Event()

    def put(self, data: bytes) -> None:
        """Let something wait for the client, or drop them."""
        if self.dropped.is_set():
            return
        if len(self._waiting) >= MOST_WAITING or (self._waiting and self._bytes + len(data) > MOST_WAITING_BYTES):
            self.drop()
            return
        self._waiting.append(data)
        self._bytes += len(data)
        self._ready.set()

    def drop(self) -> None:
        """Let nothing wait any more."""
        self._waiting.clear()
        self._bytes = 0
        self.dropped.set()
        self._ready.set()

    async def take(self) -> bytes | None:
        """Wait for what is next, None once the client is dropped."""
        while not self._waiting:
            if self.dropped.is_set():
                return None
            self._ready.clear()
            await self._ready.wait()
        data = self._waiting.popleft()
        self._bytes -= len(data)
        return data


class Channel:
    """One study as its clients see it; `number` is that of the newest event."""

    def __init__(self, *, start: int = 0) -> None:
        self.number = start
        self.state: dict[str, Any] = {}
        self.looked = now_stamp()
        self._encoded: bytes | None = None
        self._first: Event | None = None
        self._kept: deque[Event] = deque()
        self._bytes = 0
        self.clients: set[Client] = set()

    def publish(self, state: dict[str, Any], *, looked: str | None = None) -> bool:
        """Let a new state be known, of a look that began at a moment; return whether anything changed."""
        found = difference(self.state, state)
        if not found:
            return False
        self.number += 1
        self.state, self.looked, self._encoded = state, looked or now_stamp(), None
        change = {"id": self.number, "at": now_stamp(), "looked": self.looked} | found.document()
        event = Event(self.number, encode_event("change", encode(change), self.number))
        self._kept.append(event)
        self._bytes += len(event.data)
        while len(self._kept) > MOST_CHANGES or (len(self._kept) > 1 and self._bytes > MOST_BYTES):
            self._bytes -= len(self._kept.popleft().data)
        for client in tuple(self.clients):
            client.put(event.data)
        return True

    def document(self) -> bytes:
        """Return the newest state as JSON."""
        if self._encoded is None:
            self._encoded = encode({"id": self.number, "at": now_stamp(), "looked": self.looked} | self.state)
        return self._encoded

    def join(self, last: int | None) -> Client:
        """Let a client listen, from its last event on where that is still kept, else from the whole state."""
        client = Client()
        missed = None if last is None else self._since(last)
        if missed is None:
            client.put(self._state_event())
        elif missed:
            # As one: those who come back are not slow because they missed much.
            client.put(b"".join(event.data for event in missed))
        self.clients.add(client)
        return client

    def _state_event(self) -> bytes:
        """Return the whole state as an event, one for all who come at this moment."""
        if self._first is None or self._first.number != self.number:
            self._first = Event(self.number, encode_event("state", self.document(), self.number))
        return self._first.data

    def leave(self, client: Client) -> None:
        """Forget a client."""
        self.clients.discard(client)

    def beat(self) -> None:
        """Let the clients know that the server is there."""
        for client in tuple(self.clients):
            client.put(b": here\n\n")

    def close(self, reason: str) -> None:
        """Let the clients know that nothing more comes."""
        data = encode_event("bye", encode({"reason": reason}), self.number)
        for client in tuple(self.clients):
            client.put(data)

    def _since(self, last: int) -> list[Event] | None:
        """Return the changes after an event, None where not all of them are kept."""
        if last > self.number:
            # Of another server that was here before, or of nobody.
            return None
        first = self._kept[0].number if self._kept else self.number + 1
        if last + 1 < first:
            return None
        return [event for event in self._kept if event.number > last]


def encode(document: Any) -> bytes:
    """Return JSON on one line; an infinity, which JSON has not, is null."""
    try:
        return msgspec.json.encode(document)
    except (msgspec.MsgspecError, TypeError, ValueError, UnicodeEncodeError):
        # A name that is no text, as a file system may hold it.
        return json.dumps(document, separators=(",", ":"), default=str).encode("ascii", "backslashreplace")


def encode_event(kind: str, data: bytes, number: int) -> bytes:
    r"""Return a server-sent event.

    >>> encode_event("change", b'{"id":3}', 3)
    b'id: 3\nevent: change\ndata: {"id":3}\n\n'
    """
    # JSON on one line has no line end that could end the event.
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, kind.encode(), data)

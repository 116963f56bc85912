"""The event stream of a study: its state, the changes between states, and its clients."""

import asyncio
import datetime
import json
from collections import deque
from collections.abc import Callable
from typing import Any

import msgspec

Path = list[str]
# The difference between two states: `gone`, `set`, `cut` and `append` (docs/watch.md).
Change = dict[str, list[Any]]
_ABSENT = object()


def now_stamp() -> str:
    """Return the current time as ISO 8601, in UTC with milliseconds."""
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="milliseconds")


def difference(before: dict[str, Any], after: dict[str, Any]) -> Change:
    """Return the changes from one document to the next.

    >>> difference({"a": 1, "b": {"c": [1]}}, {"b": {"c": [1, 2]}})
    {'gone': [['a']], 'set': [], 'cut': [], 'append': [(['b', 'c'], [2])]}
    """
    found: Change = {"gone": [], "set": [], "cut": [], "append": []}
    _compare(before, after, [], found)
    return found


def _compare(before: dict[str, Any], after: dict[str, Any], path: Path, found: Change) -> None:
    found["gone"] += [[*path, name] for name in before if name not in after]
    for name, new in after.items():
        old = before.get(name, _ABSENT)
        if old is new:
            continue
        # 1, 1.0 and True are equal in Python, but not the same in JSON.
        same, place = type(old) is type(new), [*path, name]
        if same and isinstance(new, dict):
            _compare(old, new, place, found)
        elif same and isinstance(new, list) and 2 * (kept := _common(old, new)) >= max(1, len(old)):
            if kept < len(old):
                found["cut"].append((place, kept))
            if kept < len(new):
                found["append"].append((place, new[kept:]))
        elif not same or old != new or (new and isinstance(new, list)):
            # A list that has little in common with the previous one is shorter to send as a whole.
            found["set"].append((place, new))


def _common(old: list[Any], new: list[Any]) -> int:
    """Return the length of the common prefix of two lists."""
    most = min(len(old), len(new))
    # A list that grew, or whose last value changed, is compared as a whole.
    for length in (most, most - 1):
        if length > 0 and _is_same(old[:length], new[:length]):
            return length
    return next((place for place in range(most) if not _is_same(old[place : place + 1], new[place : place + 1])), most)


def _is_same(old: list[Any], new: list[Any]) -> bool:
    return old == new and list(map(type, old)) == list(map(type, new))


# Limits on the changes that are kept for clients that reconnect, by number and by size.
MOST_CHANGES, MOST_BYTES = 600, 8 << 20
# Limits on the data that waits for one client.
MOST_WAITING, MOST_WAITING_BYTES = 60, 1 << 20


class Client:
    """A reader of the stream; if too much data waits for it, it is `dropped`, and `drop` is called."""

    def __init__(self, drop: Callable[[], None] = lambda: None) -> None:
        self.dropped = False
        self._drop = drop
        self._waiting: asyncio.Queue[bytes | None] = asyncio.Queue()
        self._bytes = 0

    def put(self, data: bytes | None) -> None:
        """Queue data for the client, or drop it; None is the end of the stream."""
        size = len(data or b"")
        if self.dropped:
            return
        if self._waiting.qsize() >= MOST_WAITING or (self._bytes and self._bytes + size > MOST_WAITING_BYTES):
            self.dropped = True
            while not self._waiting.empty():
                self._waiting.get_nowait()
            self._drop()
            data, size = None, 0
        self._waiting.put_nowait(data)
        self._bytes += size

    async def take(self) -> bytes | None:
        """Wait for the next data; None is the end."""
        data = await self._waiting.get()
        self._bytes -= len(data or b"")
        return data


class Channel:
    """The event stream of one study; `number` is that of the newest event."""

    def __init__(self, *, start: int = 0) -> None:
        self.number = start
        self.state: dict[str, Any] = {}
        self.looked = now_stamp()
        self.clients: set[Client] = set()
        self._document = self._state_event = b""
        # The newest changes as they were sent, with consecutive numbers.
        self._kept: deque[bytes] = deque()
        self._bytes = 0

    def publish(self, state: dict[str, Any], *, looked: str | None = None) -> bool:
        """Publish a new state, given when its look began; return whether anything changed."""
        found = difference(self.state, state)
        if not any(found.values()):
            return False
        self.number += 1
        self.state, self.looked = state, looked or now_stamp()
        self._document = self._state_event = b""
        change = {"id": self.number, "at": now_stamp(), "looked": self.looked} | found
        data = encode_event("change", encode(change), self.number)
        self._kept.append(data)
        self._bytes += len(data)
        while len(self._kept) > MOST_CHANGES or (len(self._kept) > 1 and self._bytes > MOST_BYTES):
            self._bytes -= len(self._kept.popleft())
        self._send(data)
        return True

    def document(self) -> bytes:
        """Return the newest state as JSON."""
        if not self._document:
            self._document = encode({"id": self.number, "at": now_stamp(), "looked": self.looked} | self.state)
        return self._document

    def join(self, last: int | None, drop: Callable[[], None] = lambda: None) -> Client:
        """Add a client; it continues from its last event if that is still kept, otherwise from the whole state."""
        client = Client(drop)
        missed = -1 if last is None else self.number - last
        # A larger number is that of an earlier server, or invented.
        if not 0 <= missed <= len(self._kept):
            # Encoded once for all clients that join now.
            self._state_event = self._state_event or encode_event("state", self.document(), self.number)
            client.put(self._state_event)
        elif missed:
            # Sent as one item: a client that missed much must not count as slow.
            client.put(b"".join(list(self._kept)[-missed:]))
        self.clients.add(client)
        return client

    def leave(self, client: Client) -> None:
        """Forget a client."""
        self.clients.discard(client)

    def beat(self) -> None:
        """Tell the clients that the server is alive."""
        self._send(b": here\n\n")

    def close(self, reason: str) -> None:
        """Tell the clients that the stream ends."""
        self._send(encode_event("bye", encode({"reason": reason}), self.number))
        self._send(None)

    def _send(self, data: bytes | None) -> None:
        for client in tuple(self.clients):
            client.put(data)


def encode(document: Any) -> bytes:
    """Return JSON on one line; infinities, which JSON does not have, become null."""
    try:
        return msgspec.json.encode(document)
    except (msgspec.MsgspecError, TypeError, ValueError, UnicodeEncodeError):
        # A name that is not valid text, which file systems allow.
        return json.dumps(document, separators=(",", ":"), default=str).encode("ascii", "backslashreplace")


def encode_event(kind: str, data: bytes, number: int) -> bytes:
    r"""Return a server-sent event.

    >>> encode_event("change", b'{"id":3}', 3)
    b'id: 3\nevent: change\ndata: {"id":3}\n\n'
    """
    # JSON on one line contains no newline that could end the event.
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (number, kind.encode(), data)
